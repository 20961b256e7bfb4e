"""The closed union of public events (EVENT). `type` is the discriminator; payloads hold public data only.

An event here has no sequence number: the log assigns `seq` under the run's head row when the batch commits (decision 4).
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from yuzui.provenance import ProvenanceNote

ToolOutcome: TypeAlias = Literal["ok", "error", "timeout", "denied", "invalid", "repeat", "uncertain"]
AnswerSource: TypeAlias = Literal["model", "direct", "demo", "fallback"]
Explanation: TypeAlias = Literal["ok", "degraded", "none"]
Outcome: TypeAlias = Literal["answered", "clarification", "confirmation_required", "refused"]


@dataclass(frozen=True, kw_only=True, slots=True)
class RunCreated:
    """The run and its user message are stored."""

    type: ClassVar[str] = "run.created"
    status: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RunStarted:
    """The first attempt began."""

    type: ClassVar[str] = "run.started"
    attempt: int


@dataclass(frozen=True, kw_only=True, slots=True)
class RunRestarted:
    """A later attempt began; `reason` is `worker_lost`, `shutdown` or `retry`. Content streamed before is void."""

    type: ClassVar[str] = "run.restarted"
    attempt: int
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RouteDecided:
    """The router's verdict: public fields only (R-ROUTE-08)."""

    type: ClassVar[str] = "route.decided"
    intent: str | None
    confidence: float
    source: str
    rule_id: str | None
    targets: dict[str, str]
    plan: str
    needs_clarification: bool
    blocked_reason: str | None
    flags: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class PolicyCompiled:
    """The compiled policy with its hash and the catalog's version."""

    type: ClassVar[str] = "policy.compiled"
    mode: str
    tools: tuple[str, ...]
    required_tools: tuple[str, ...]
    budget: dict[str, float]
    postconditions: tuple[str, ...]
    policy_hash: str
    catalog_version: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """One answer to a clarification: a label to show and the message to send."""

    label: str
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ClarificationRequired:
    """A question with choices instead of a guess (R-ROUTE-06)."""

    type: ClassVar[str] = "clarification.required"
    question: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolStarted:
    """A call passed the gateway's checks and begins. Arguments are redacted."""

    type: ClassVar[str] = "tool.started"
    call_id: str
    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolFinished:
    """A call ended, or was turned away. `observation` is the public text."""

    type: ClassVar[str] = "tool.finished"
    call_id: str
    tool: str
    outcome: ToolOutcome
    observation: str
    duration_ms: int
    reused: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class CitationAdded:
    """One citation of the answer."""

    type: ClassVar[str] = "citation.added"
    n: int
    chunk_id: str
    document: str
    title: str
    locator: str
    snippet: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ContentDelta:
    """A piece of the answer's text. Neighbouring pieces of one run are joined before they are stored."""

    type: ClassVar[str] = "content.delta"
    message_id: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ContentReset:
    """What was streamed before is void."""

    type: ClassVar[str] = "content.reset"
    message_id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class MessageCompleted:
    """The answer, whole: `html` is sanitised, `cards` validated, `truncated` names the budget that ended it, if one did."""

    type: ClassVar[str] = "message.completed"
    message_id: str
    text: str
    html: str
    cards: tuple[dict[str, Any], ...]
    citations: tuple[dict[str, Any], ...]
    source: AnswerSource
    explanation: Explanation
    grounded: bool
    truncated: str | None
    provenance: tuple[ProvenanceNote, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ConfirmationRequired:
    """A pending action waits for a person; nothing was changed."""

    type: ClassVar[str] = "confirmation.required"
    action_id: str
    tool: str
    summary: str
    arguments: dict[str, Any]
    expires_at: str
    approval: Literal["self", "approver"]


@dataclass(frozen=True, kw_only=True, slots=True)
class RunCompleted:
    """The run succeeded."""

    type: ClassVar[str] = "run.completed"
    outcome: Outcome
    usage: dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class RunFailed:
    """The run failed; `detail` is for the caller and comes from an error code, never from a model."""

    type: ClassVar[str] = "run.failed"
    code: str
    detail: str
    retryable: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class RunCancelled:
    """The run was cancelled by a person, a lost client or an operator."""

    type: ClassVar[str] = "run.cancelled"
    by: str
    reason: str


TerminalEvent: TypeAlias = RunCompleted | RunFailed | RunCancelled
Event: TypeAlias = (
    RunCreated
    | RunStarted
    | RunRestarted
    | RouteDecided
    | PolicyCompiled
    | ClarificationRequired
    | ToolStarted
    | ToolFinished
    | CitationAdded
    | ContentDelta
    | ContentReset
    | MessageCompleted
    | ConfirmationRequired
    | TerminalEvent
)
TERMINAL_TYPES = frozenset({"run.completed", "run.failed", "run.cancelled"})


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredEvent:
    """An event as the log holds it: `data` is the payload's JSON text (UTF-8), `at` is RFC 3339 UTC, `seq` starts at 1 without gaps."""

    run_id: str
    seq: int
    type: str
    at: str
    attempt: int
    data: bytes

    @property
    def terminal(self) -> bool:
        """True for the last event of the run."""
        return self.type in TERMINAL_TYPES
