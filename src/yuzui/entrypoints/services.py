"""What the ways in stand on: ports that the composition root fills, and the limits of one request."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from yuzui.app import App
from yuzui.entrypoints.auth import Authenticator
from yuzui.entrypoints.sse import Streams, Viewers
from yuzui.owner import Caller
from yuzui.runs.actions import ActionStore, PendingAction
from yuzui.runs.audit import AuditReader
from yuzui.runs.feedback import FeedbackStore
from yuzui.runs.log import EventReader, RunStore, SessionStore
from yuzui.runs.run import Claim
from yuzui.tools.gateway import ContextFactory


class Dispatcher(Viewers, Protocol):
    """Carries claimed runs out in this process. Above: HTTP, CLI. Below: the worker, or a fake in tests."""

    def free(self) -> bool:
        """Whether a worker slot of this process is free now."""
        ...

    def start(self, claim: Claim) -> None:
        """Work on a claimed run in the background."""
        ...


class Reception(Protocol):
    """What is known of a message before it is stored. Below: `conversation.Conversation`."""

    def decided_by_rules(self, app: str, text: str, caller: Caller) -> bool:
        """Whether rules alone decide it, so that it needs no worker slot. Raises `EmptyMessageError`, `MessageTooLongError`."""
        ...


class Confirmations(Protocol):
    """A person's word about a pending action (R-CONF-02). Another person's action is `NotFoundError`."""

    async def confirm(self, caller: Caller, action_id: str) -> PendingAction:
        """Confirm, wait for the effect within the configured time, and return the action as it then is."""
        ...

    async def reject(self, caller: Caller, action_id: str) -> PendingAction:
        """Reject; a second reject returns the same."""
        ...

    async def amend(self, caller: Caller, action_id: str, arguments: Mapping[str, Any]) -> PendingAction:
        """A new draft in place of the old one, which becomes `superseded`."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """One part of readiness; `problem` is empty when it is ready."""

    part: str
    problem: str = ""


class Health(Protocol):
    """Whether this process can serve."""

    async def checks(self) -> Sequence[Check]:
        """Every part that readiness depends on, asked now, within about a second."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Limits of one request: seconds, bytes, characters, items."""

    max_body_bytes: int = 1_048_576
    max_json_depth: int = 32
    max_message_chars: int = 8_000
    max_wait_s: float = 120.0
    sse_heartbeat_s: float = 15.0
    page: int = 50
    max_page: int = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Stores:
    """The durable side."""

    runs: RunStore
    events: EventReader
    sessions: SessionStore
    actions: ActionStore
    audit: AuditReader
    feedback: FeedbackStore


@dataclass(frozen=True, kw_only=True, slots=True)
class Services:
    """Everything the HTTP interface uses. `contexts` makes an app's `Ctx` for its business endpoints."""

    apps: Mapping[str, App[Any]]
    contexts: Mapping[str, ContextFactory]
    stores: Stores
    reception: Reception
    confirmations: Confirmations
    dispatcher: Dispatcher
    authenticator: Authenticator
    health: Health
    streams: Streams
    limits: Limits
    version: str
    new_id: Callable[[str], str]
    metrics: Callable[[], bytes]
