"""Ports to the durable log: what one attempt writes, what anybody may read."""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from yuzui.owner import Caller, Owner
from yuzui.runs.audit import AuditRecord
from yuzui.runs.events import Event, StoredEvent
from yuzui.runs.run import Accepted, Claim, Ending, NewRun, RunRecord, Session, StoredMessage


class AttemptLog(Protocol):
    """The pen of one attempt. Above: conversation, engines, gateway. Below: the process's group-committing writer.

    Every write is fenced by (run, attempt token): after another worker took over, `flush` and `finish` raise
    `FencedOutError` and nothing is written (decision 4). Events of one attempt keep their order.
    """

    @property
    def run_id(self) -> str:
        """The run written to."""
        ...

    def emit(self, event: Event) -> None:
        """Queue an event; it is durable within about 10 ms. Never blocks, never raises."""
        ...

    def record(self, entry: AuditRecord) -> None:
        """Queue an audit record, in order with the events and committed with them. Never blocks, never raises."""
        ...

    async def flush(self) -> None:
        """Wait until everything emitted so far is committed."""
        ...

    async def finish(self, ending: Ending) -> None:
        """Commit the remaining events, the answer, the run's result and the terminal event in one transaction."""
        ...


class RunStore(Protocol):
    """Runs. Above: HTTP, worker. Below: PostgreSQL, or memory in tests. Another owner's run is `NotFoundError`."""

    async def accept(self, new: NewRun, *, claim: bool) -> Accepted:
        """Store the user message and the run, before any work (R-RUN-01), claimed at birth when `claim` and its session is free.

        The same key and body returns the earlier run (`created=False`); another body raises `IdempotencyMismatchError`.
        Raises `NotFoundError` for a session that is not the caller's.
        """
        ...

    async def get(self, owner: Owner, run_id: str) -> RunRecord:
        """One run."""
        ...

    async def claim(self, run_id: str) -> Claim | None:
        """Claim a queued run whose session is free for this process; None when there is nothing to claim."""
        ...

    def attempt_log(self, claim: Claim) -> AttemptLog:
        """The pen for a claim."""
        ...

    async def hand_over(self, claim: Claim, reason: str) -> None:
        """Give an unfinished attempt back to the queue (shutdown, retryable fault); fenced by the claim's token."""
        ...

    async def request_cancel(self, owner: Owner, run_id: str, *, by: str, reason: str) -> RunRecord:
        """Ask for cancellation; a run without a live worker is settled at once, an ended run is returned as it is."""
        ...


class EventReader(Protocol):
    """Reads the log. Above: SSE and every other projection. Below: PostgreSQL with LISTEN, or memory in tests."""

    async def read(self, run_id: str, after: int, limit: int = 1000) -> Sequence[StoredEvent]:
        """Events with seq > after, in order. The caller has checked the owner."""
        ...

    def follow(self, run_id: str, after: int) -> AsyncIterator[Sequence[StoredEvent]]:
        """Batches of events from `after` on, live, until the terminal event. Holds no database connection while idle."""
        ...


class SessionStore(Protocol):
    """Sessions and their messages. Another owner's session is `NotFoundError`."""

    async def create(self, caller: Caller, app: str) -> Session:
        """A new session."""
        ...

    async def get(self, owner: Owner, session_id: str) -> Session:
        """One session."""
        ...

    async def list(self, owner: Owner, *, limit: int, after: str | None) -> tuple[Sequence[Session], str | None]:
        """A page of sessions, newest first, and the next cursor."""
        ...

    async def delete(self, owner: Owner, session_id: str) -> None:
        """Remove a session with its messages, runs and events; audit stays."""
        ...

    async def messages(
        self, owner: Owner, session_id: str, *, limit: int, after: str | None
    ) -> tuple[Sequence[StoredMessage], str | None]:
        """A page of messages in order of time, and the next cursor."""
        ...

    async def recent(self, owner: Owner, session_id: str, *, turns: int, before_run: str) -> Sequence[StoredMessage]:
        """The messages of the last `turns` turns before a run, oldest first; only those rows are read."""
        ...
