"""The engine port: a bounded ReAct loop over one turn (R-REACT-03)."""

from dataclasses import dataclass
from typing import Literal, Protocol

from yuzui.budget import BudgetName, Meter
from yuzui.model.messages import Message
from yuzui.model.metered import MeteredModel
from yuzui.owner import Locale
from yuzui.runs.log import AttemptLog
from yuzui.tools.catalog import Catalog
from yuzui.tools.gateway import Gateway
from yuzui.tools.observation import Observation


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """Everything an engine may know (R-CTX-01). `system` is the prepared system prompt, `history` earlier whole turns,
    `user` the new message. `may_call_in_parallel` follows the plan. The engine reads nothing else.
    """

    system: str
    history: tuple[Message, ...]
    user: str
    catalog: Catalog
    gateway: Gateway
    model: MeteredModel
    meter: Meter
    log: AttemptLog
    message_id: str
    locale: Locale
    on_repeat: Literal["abort", "finalize"]
    may_call_in_parallel: bool = False
    max_output_tokens: int = 2_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """How the loop ended. `truncated` names the budget that ended it (R-FENCE-05); `action_id` is a draft's pending action.

    `source` is `fallback` when the model could not answer and the text was composed from observations by code.
    """

    text: str
    observations: tuple[Observation, ...]
    truncated: BudgetName | None = None
    action_id: str | None = None
    source: Literal["model", "fallback"] = "model"
    parse_degraded: bool = False


class Engine(Protocol):
    """A ReAct loop. Above: conversation. Below: the gateway for every tool, the metered model for every call.

    It streams answer text as `content.delta`, voids it with `content.reset`, offers no tools in the last permitted step,
    and returns an `Answer` for whatever the model says. Raises only `DeadlineExceededError` without any observation or
    text, `ModelError` kinds when no answer can be made, and `FencedOutError`.
    """

    async def run(self, turn: Turn) -> Answer:
        """Answer one turn."""
        ...
