"""Every durable port in memory, with the behaviour of the PostgreSQL stores (the same contract suite proves it).

`MemoryStores()` is one database; its members are the ports. Nothing survives the process.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal

import orjson

from yuzui.errors import FencedOutError, IdempotencyMismatchError, NotFoundError
from yuzui.model.calls import ModelCallRecord
from yuzui.owner import Caller, Owner
from yuzui.runs.audit import AuditRecord, ConfirmationRecord, ToolCallRecord
from yuzui.runs.events import (
    ContentDelta,
    Event,
    PolicyCompiled,
    RouteDecided,
    RunCancelled,
    RunCreated,
    RunRestarted,
    RunStarted,
    StoredEvent,
)
from yuzui.runs.ids import new_id
from yuzui.runs.run import ENDED, Accepted, Claim, Ending, NewRun, RunRecord, Session, StoredMessage
from yuzui.runs.trail import trail
from yuzui.testing.decisions import MemoryActions, MemoryClaims


@dataclass(kw_only=True)
class Head:
    """The hot row of a run: its log, and the token of the attempt that may write."""

    new: NewRun
    run: RunRecord
    token: str | None = None
    restart_reason: str = "retry"
    events: list[StoredEvent] = field(default_factory=list[StoredEvent])
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def append(self, event: Event) -> None:
        """Store an event with the next sequence number."""
        stored = StoredEvent(
            run_id=self.run.id,
            seq=len(self.events) + 1,
            type=event.type,
            at=datetime.now(UTC).isoformat(timespec="microseconds")[:-6] + "Z",
            attempt=max(1, self.run.attempt),
            data=orjson.dumps(event),
        )
        self.events.append(stored)
        self.changed.set()
        self.changed = asyncio.Event()


@dataclass(kw_only=True)
class State:
    """The tables."""

    sessions: dict[str, Session] = field(default_factory=dict[str, Session])
    messages: list[StoredMessage] = field(default_factory=list[StoredMessage])
    heads: dict[str, Head] = field(default_factory=dict[str, Head])
    active: dict[str, str] = field(default_factory=dict[str, str])
    keys: dict[tuple[str, str], tuple[str, str | None]] = field(
        default_factory=dict[tuple[str, str], tuple[str, str | None]]
    )
    audit: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list[tuple[str, str, dict[str, Any]]])

    def head(self, owner: Owner, run_id: str) -> Head:
        """An owner's run; `NotFoundError` for anybody else's."""
        head = self.heads.get(run_id)
        if head is None or head.run.owner != owner:
            raise NotFoundError
        return head

    def session(self, owner: Owner, session_id: str) -> Session:
        """An owner's session; `NotFoundError` for anybody else's."""
        session = self.sessions.get(session_id)
        if session is None or session.owner != owner:
            raise NotFoundError
        return session

    def end(self, head: Head, *, status: Literal["succeeded", "failed", "cancelled"], **changes: Any) -> None:
        """The result, the assistant's message and the hand-on of the session."""
        head.token = None
        head.run = replace(head.run, status=status, finished_at=datetime.now(UTC), **changes)
        answer = head.run.message or {"text": "", "html": ""}
        self.messages.append(
            StoredMessage(
                id=head.run.message_id,
                session_id=head.run.session_id,
                run_id=head.run.id,
                role="assistant",
                text=answer["text"],
                html=answer["html"],
                status="ok" if status == "succeeded" else status,
                created_at=datetime.now(UTC),
            )
        )
        self.hand_on(head.run.session_id)

    def hand_on(self, session_id: str) -> None:
        """The oldest unfinished run of the session is its turn."""
        waiting = [
            run_id
            for run_id, head in self.heads.items()
            if head.run.session_id == session_id and head.run.status not in ENDED
        ]
        if waiting:
            self.active[session_id] = waiting[0]
        else:
            self.active.pop(session_id, None)


class MemoryAttemptLog:
    """`AttemptLog` in memory: what waits is stored by `flush` and `finish`, and by the next turn of the loop."""

    def __init__(self, state: State, claim: Claim, actions: MemoryActions) -> None:
        self.ended = False
        self._state = state
        self._claim = claim
        self._actions = actions
        self._waiting: list[Event | AuditRecord] = []

    @property
    def run_id(self) -> str:
        """See `AttemptLog.run_id`."""
        return self._claim.run.id

    def emit(self, event: Event) -> None:
        """See `AttemptLog.emit`."""
        last = self._waiting[-1] if self._waiting else None
        if isinstance(event, ContentDelta) and isinstance(last, ContentDelta) and last.message_id == event.message_id:
            self._waiting[-1] = ContentDelta(message_id=event.message_id, text=last.text + event.text)
        else:
            self._waiting.append(event)

    def record(self, entry: AuditRecord) -> None:
        """See `AttemptLog.record`."""
        self._waiting.append(entry)

    async def flush(self) -> None:
        """See `AttemptLog.flush`."""
        self._store(self._held())

    async def finish(self, ending: Ending) -> None:
        """See `AttemptLog.finish`."""
        head = self._held()
        for event in (*ending.events, *([ending.message] if ending.message else []), ending.event):
            self._waiting.append(event)
        self._store(head)
        self.ended = True
        if ending.status != "succeeded":
            self._actions.drop(self.run_id)
        self._state.end(
            head,
            status=ending.status,
            outcome=ending.outcome,
            message=None if ending.message is None else orjson.loads(orjson.dumps(ending.message)),
            usage=ending.usage,
            error=ending.error,
            pending_action_id=ending.pending_action_id,
        )

    def _held(self) -> Head:
        head = self._state.heads.get(self.run_id)
        if head is None or head.token != self._claim.token:
            raise FencedOutError
        return head

    def _store(self, head: Head) -> None:
        waiting, self._waiting = self._waiting, []
        for item in waiting:
            data = orjson.loads(orjson.dumps(item))
            if isinstance(item, ModelCallRecord | ToolCallRecord | ConfirmationRecord):
                self._state.audit.append((self.run_id, item.kind, data))
                continue
            head.append(item)
            if isinstance(item, RouteDecided):
                head.run = replace(head.run, route=data)
                self._state.audit.append((self.run_id, "route", data))
            elif isinstance(item, PolicyCompiled):
                head.run = replace(head.run, policy=data)
                self._state.audit.append((self.run_id, "policy", data))


class MemoryRuns:
    """`RunStore` in memory."""

    def __init__(self, state: State, actions: MemoryActions) -> None:
        self._state = state
        self._actions = actions

    async def accept(self, new: NewRun, *, claim: bool) -> Accepted:
        """See `RunStore.accept`."""
        state = self._state
        session = state.session(new.caller.owner, new.session_id)
        if new.key is not None:
            earlier = state.keys.get((session.id, new.key))
            if earlier is not None:
                run_id, body_hash = earlier
                if body_hash != new.body_hash:
                    raise IdempotencyMismatchError
                return Accepted(run=state.heads[run_id].run, created=False, claim=None)
            state.keys[session.id, new.key] = (new.id, new.body_hash)
        claimed = claim and session.id not in state.active
        head = Head(new=new, run=_born(new, claimed=claimed))
        state.heads[new.id] = head
        state.active.setdefault(session.id, new.id)
        if not session.title:
            state.sessions[session.id] = replace(session, title=new.text[:60])
        state.messages.append(
            StoredMessage(
                id=new.user_message_id,
                session_id=session.id,
                run_id=new.id,
                role="user",
                text=new.text,
                html="",
                status="ok",
                created_at=head.run.created_at,
            )
        )
        head.append(RunCreated(status=head.run.status))
        if not claimed:
            return Accepted(run=head.run, created=True, claim=None)
        head.token = secrets.token_hex(12)
        head.append(RunStarted(attempt=1))
        return Accepted(run=head.run, created=True, claim=Claim(run=head.run, attempt=1, token=head.token))

    async def get(self, owner: Owner, run_id: str) -> RunRecord:
        """See `RunStore.get`."""
        return self._state.head(owner, run_id).run

    async def claim(self, run_id: str) -> Claim | None:
        """See `RunStore.claim`."""
        head = self._state.heads.get(run_id)
        if head is None or head.run.status != "queued" or self._state.active.get(head.run.session_id) != run_id:
            return None
        head.token = secrets.token_hex(12)
        attempt = head.run.attempt + 1
        head.run = replace(head.run, status="running", attempt=attempt)
        started = RunStarted(attempt=1) if attempt == 1 else RunRestarted(attempt=attempt, reason=head.restart_reason)
        head.append(started)
        return Claim(run=head.run, attempt=attempt, token=head.token)

    def attempt_log(self, claim: Claim) -> MemoryAttemptLog:
        """See `RunStore.attempt_log`."""
        head = self._state.heads.get(claim.run.id)
        if head is None or head.token != claim.token:
            raise FencedOutError
        return MemoryAttemptLog(self._state, claim, self._actions)

    async def hand_over(self, claim: Claim, reason: str) -> None:
        """See `RunStore.hand_over`."""
        head = self._state.heads.get(claim.run.id)
        if head is None or head.token != claim.token:
            raise FencedOutError
        head.token = None
        head.restart_reason = reason
        head.run = replace(head.run, status="queued")

    async def request_cancel(self, owner: Owner, run_id: str, *, by: str, reason: str) -> RunRecord:
        """See `RunStore.request_cancel`. Nobody is told: a test that works on the run looks at `cancel_requested_by`."""
        head = self._state.head(owner, run_id)
        if head.run.status not in ENDED:
            head.run = replace(head.run, cancel_requested_by=head.run.cancel_requested_by or by)
            if head.run.status == "queued":
                head.append(RunCancelled(by=by, reason=reason))
                self._actions.drop(run_id)
                self._state.end(head, status="cancelled")
        return head.run


class MemoryEvents:
    """`EventReader` in memory."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def read(self, run_id: str, after: int, limit: int = 1000) -> Sequence[StoredEvent]:
        """See `EventReader.read`."""
        head = self._state.heads.get(run_id)
        return [] if head is None else head.events[max(0, after) : max(0, after) + limit]

    async def follow(self, run_id: str, after: int) -> AsyncIterator[Sequence[StoredEvent]]:
        """See `EventReader.follow`."""
        head = self._state.heads[run_id]
        while True:
            changed = head.changed
            batch = head.events[after:]
            if batch:
                after = batch[-1].seq
                yield batch
                if batch[-1].terminal:
                    return
            else:
                await changed.wait()


class MemorySessions:
    """`SessionStore` in memory."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def create(self, caller: Caller, app: str) -> Session:
        """See `SessionStore.create`."""
        session = Session(
            id=new_id("ses"), app=app, owner=caller.owner, title="", memory_status="ok", created_at=datetime.now(UTC)
        )
        self._state.sessions[session.id] = session
        return session

    async def get(self, owner: Owner, session_id: str) -> Session:
        """See `SessionStore.get`."""
        return self._state.session(owner, session_id)

    async def list(self, owner: Owner, *, limit: int, after: str | None) -> tuple[Sequence[Session], str | None]:
        """See `SessionStore.list`."""
        mine = sorted(
            (item for item in self._state.sessions.values() if item.owner == owner and (not after or item.id < after)),
            key=lambda item: item.id,
            reverse=True,
        )
        return mine[:limit], mine[limit - 1].id if len(mine) > limit else None

    async def delete(self, owner: Owner, session_id: str) -> None:
        """See `SessionStore.delete`."""
        state = self._state
        state.session(owner, session_id)
        del state.sessions[session_id]
        state.messages = [item for item in state.messages if item.session_id != session_id]
        state.heads = {key: head for key, head in state.heads.items() if head.run.session_id != session_id}
        state.active.pop(session_id, None)

    async def messages(
        self, owner: Owner, session_id: str, *, limit: int, after: str | None
    ) -> tuple[Sequence[StoredMessage], str | None]:
        """See `SessionStore.messages`."""
        self._state.session(owner, session_id)
        found = self._of(session_id)
        if after is not None:
            ids = [item.id for item in found]
            found = found[ids.index(after) + 1 :] if after in ids else found[:0]
        return found[:limit], found[limit - 1].id if len(found) > limit else None

    async def recent(self, owner: Owner, session_id: str, *, turns: int, before_run: str) -> Sequence[StoredMessage]:
        """See `SessionStore.recent`."""
        if session_id not in self._state.sessions or self._state.sessions[session_id].owner != owner:
            return []
        earlier = [item for item in self._of(session_id) if item.run_id < before_run]
        runs = sorted({item.run_id for item in earlier})[-turns:] if turns else []
        return [item for item in earlier if item.run_id in runs]

    def _of(self, session_id: str) -> Sequence[StoredMessage]:
        mine = [item for item in self._state.messages if item.session_id == session_id]
        return sorted(mine, key=lambda item: (item.run_id, item.role == "assistant"))


class MemoryAudit:
    """`AuditReader` in memory."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def read(self, owner: Owner, run_id: str) -> dict[str, Any]:
        """See `AuditReader.read`."""
        self._state.head(owner, run_id)
        entries = [(kind, data) for run, kind, data in self._state.audit if run == run_id]
        return trail(run_id, entries, (None, None))


class MemoryStores:
    """One database in memory and all its ports."""

    def __init__(self) -> None:
        self._state = State()
        self.actions = MemoryActions(held=self._held, decided=self._decided)
        self.runs = MemoryRuns(self._state, self.actions)
        self.events = MemoryEvents(self._state)
        self.sessions = MemorySessions(self._state)
        self.ledger = MemoryClaims(held=self._held)
        self.audit = MemoryAudit(self._state)

    def _held(self, run_id: str, token: str | None) -> bool:
        """Whether the token holds the run; without one, whether any attempt does."""
        head = self._state.heads.get(run_id)
        return head is not None and head.token is not None and token in {None, head.token}

    def _decided(self, run_id: str, entry: Any) -> None:
        self._state.audit.append((run_id, "confirmation", asdict(entry)))


def _born(new: NewRun, *, claimed: bool) -> RunRecord:
    return RunRecord(
        id=new.id,
        session_id=new.session_id,
        app=new.app,
        owner=new.caller.owner,
        status="running" if claimed else "queued",
        outcome=None,
        attempt=int(claimed),
        text=new.text,
        message_id=new.message_id,
        caller=new.caller,
        route=None,
        policy=None,
        message=None,
        usage=None,
        pending_action_id=None,
        error=None,
        cancel_requested_by=None,
        kind=new.kind,
        action_id=new.action_id,
        created_at=datetime.now(UTC),
        finished_at=None,
    )
