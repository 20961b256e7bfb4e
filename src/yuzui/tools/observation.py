"""What a call gave: for the model, for the public log, for the answer."""

from dataclasses import dataclass
from typing import Any

from yuzui.provenance import ProvenanceNote
from yuzui.runs.events import ToolOutcome
from yuzui.tools.tool import Card


@dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """The result of one call through the gateway. A call always gets one, whatever happened (decision 6).

    `value` is the JSON-ready result (None unless `ok` or reused); `text` is what model and public log read, cut to the
    tool's `max_output`; `counted` says whether a tool call of the budget was spent; `action_id` is set when a draft
    created a pending action: the engine stops there. `explained` when the text is the tool's own word for a person.
    """

    call_id: str
    tool: str
    outcome: ToolOutcome
    text: str
    value: Any = None
    duration_ms: int = 0
    reused: bool = False
    counted: bool = True
    transient: bool = False
    explained: bool = False
    action_id: str | None = None
    cards: tuple[Card, ...] = ()
    provenance: tuple[ProvenanceNote, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolResult:
    """What a tool function may return instead of a plain value: the value with cards and provenance notes for the answer."""

    value: Any
    cards: tuple[Card, ...] = ()
    provenance: tuple[ProvenanceNote, ...] = ()
