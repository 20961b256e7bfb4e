"""Sessions, messages and runs: the records, and what a new run or an ending consists of."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias

from yuzui.owner import Caller, Owner
from yuzui.runs.events import Event, MessageCompleted, TerminalEvent

RunStatus: TypeAlias = Literal["queued", "running", "succeeded", "failed", "cancelled"]
ENDED: frozenset[str] = frozenset({"succeeded", "failed", "cancelled"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """A conversation of one owner with one app."""

    id: str
    app: str
    owner: Owner
    title: str
    memory_status: Literal["ok", "degraded"]
    created_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredMessage:
    """A message as its author wrote it (secrets masked). `status` is `ok`, or why the turn has no answer."""

    id: str
    session_id: str
    run_id: str
    role: Literal["user", "assistant"]
    text: str
    html: str
    status: Literal["ok", "cancelled", "failed"]
    created_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class RunRecord:
    """A run as stored. JSON columns are dictionaries in the shapes of the events."""

    id: str
    session_id: str
    app: str
    owner: Owner
    status: RunStatus
    outcome: str | None
    attempt: int
    text: str
    message_id: str
    caller: Caller
    route: dict[str, Any] | None
    policy: dict[str, Any] | None
    message: dict[str, Any] | None
    usage: dict[str, Any] | None
    pending_action_id: str | None
    error: dict[str, Any] | None
    cancel_requested_by: str | None
    kind: Literal["message", "effect"]
    action_id: str | None
    created_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class NewRun:
    """A request to run one message. `text` has secrets masked; `masked` counts them. `key` is the client's Idempotency-Key.

    `inline` asks for a claim at birth whatever the worker slots (direct reads and confirmations decided by rules);
    `kind` is `message`, or `effect` for the run that carries out a confirmed action `action_id`.
    """

    id: str
    session_id: str
    app: str
    caller: Caller
    text: str
    message_id: str
    user_message_id: str
    masked: int = 0
    key: str | None = None
    body_hash: str | None = None
    kind: Literal["message", "effect"] = "message"
    action_id: str | None = None
    inline: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """The right to work on a run: one attempt with its fencing token, held by one process."""

    run: RunRecord
    attempt: int
    token: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Accepted:
    """What became of a NewRun: the stored run, whether it is new (else the same key's earlier run), and the claim if born claimed."""

    run: RunRecord
    created: bool
    claim: Claim | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Ending:
    """How an attempt ends the run: all of it is stored in one transaction with the final event (R-RUN-03)."""

    event: TerminalEvent
    status: Literal["succeeded", "failed", "cancelled"]
    events: tuple[Event, ...] = ()
    message: MessageCompleted | None = None
    outcome: str | None = None
    usage: dict[str, Any] = field(default_factory=dict[str, Any])
    pending_action_id: str | None = None
    error: dict[str, Any] | None = None
