"""The route: what a message was taken for, by whom, and how surely. Public fields only (R-ROUTE-08)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

RouteSource: TypeAlias = Literal["rule", "semantic", "classifier", "fallback", "blocked"]
PlanKind: TypeAlias = Literal["DIRECT", "SEQUENTIAL", "PARALLEL"]
Flag: TypeAlias = Literal["suspected_injection", "secrets_masked"]


class Blocking(Protocol):
    """The content rule that screening found. Above: the router. Below: `guard.Block`, or a test's own."""

    @property
    def reason(self) -> str:
        """The public reason code."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class RouterInput:
    """A screened message. `matching` is the copy for patterns, `original` the author's text with secrets masked."""

    matching: str
    original: str
    flags: tuple[Flag, ...] = ()
    blocked: Blocking | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Option:
    """One way to answer a clarification: a label to show, the message to send."""

    label: str
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Route:
    """The router's verdict. `intent` is None only when blocked. `targets` are validated ids by kind; `slots` are a rule's
    captured groups (not public). `question` and `choices` are set when `needs_clarification`.
    """

    intent: str | None
    confidence: float
    source: RouteSource
    rule_id: str | None = None
    targets: Mapping[str, str] = field(default_factory=dict[str, str])
    slots: Mapping[str, str] = field(default_factory=dict[str, str])
    plan: PlanKind = "DIRECT"
    needs_clarification: bool = False
    question: str = ""
    choices: tuple[Option, ...] = ()
    blocked_reason: str | None = None
    flags: tuple[Flag, ...] = ()
