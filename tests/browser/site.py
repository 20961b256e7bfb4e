"""Where the browser tests run: a base URL, a token, and messages that make that server do a known thing."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Phrases:
    """Messages by what the server answers to them; `shown` is a piece of the answer to `direct`."""

    direct: str
    shown: str
    confirm: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Site:
    """A server under test. `app` is chosen before the first message."""

    base_url: str
    token: str
    app: str
    phrases: Phrases


FAKE_PHRASES = Phrases(direct="算下 BMI", shown="BMI", confirm="记录饮食：午餐 200 克米饭")
REAL_PHRASES = Phrases(direct="冰箱里有什么", shown="In the fridge", confirm="把两盒牛奶放进冰箱")
