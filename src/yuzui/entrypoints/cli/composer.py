"""What the commands ask of the composition root. The commands know neither settings nor adapters."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from yuzui.app import App
from yuzui.owner import Locale

PartState: TypeAlias = Literal["ok", "missing", "unreachable", "invalid"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Given:
    """What stands on the command line; None where nothing does."""

    apps: tuple[str, ...] | None = None
    host: str | None = None
    port: int | None = None
    data_dir: Path | None = None
    concurrency: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Serving:
    """A server that is ready. `dev_tokens` says whether the public dev tokens are accepted; `demo` that no model is set; `model` names it."""

    url: str
    apps: tuple[App[Any], ...]
    dev_tokens: bool
    demo: bool
    embedded: bool
    worker: bool
    model: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """One part of the configuration, as the doctor finds it: what it is, what still works without it, what to do."""

    name: str
    state: PartState
    detail: str
    works: str = ""
    remedy: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class LayerVerdict:
    """What one routing layer said of a text. `intent` is None when it abstained."""

    layer: str
    intent: str | None
    detail: str


class Composer(Protocol):
    """The composition root, seen from the command line. Every method raises `YuzuiError` with a message for people."""

    def serve(self, given: Given, *, worker: bool, ready: Callable[[Serving], None]) -> None:
        """Serve until a signal; `ready` is called once, when requests are answered."""
        ...

    def work(self, given: Given, ready: Callable[[str], None]) -> None:
        """Carry out runs until a signal."""
        ...

    def migrate(self, given: Given) -> Sequence[str]:
        """Bring the schema up to date; the labels of what was applied."""
        ...

    def diagnose(self, given: Given) -> Sequence[Part]:
        """Look at every configured part."""
        ...

    def app(self, name: str) -> App[Any]:
        """A declared app by its name or `module:attribute`."""
        ...

    def explain(self, app: App[Any], text: str, locale: Locale) -> Sequence[LayerVerdict]:
        """What each routing layer says of a text, in order; the last one decides."""
        ...
