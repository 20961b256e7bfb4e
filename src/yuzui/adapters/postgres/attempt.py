"""The pen of one attempt: queues what happened, and hands it to the process's writer in order."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from yuzui.adapters.postgres.payloads import payload, stamp
from yuzui.errors import DatabaseUnavailableError, FencedOutError, YuzuiError
from yuzui.runs.audit import AuditRecord
from yuzui.runs.events import ContentDelta, Event, PolicyCompiled, RouteDecided, StoredEvent
from yuzui.runs.run import Claim, Ending

MAX_PENDING: Final = 20_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Position:
    """Where a head stood when its attempt began."""

    last_seq: int
    revision: int


class Committer(Protocol):
    """What the pen needs of the writer."""

    def wake(self, attempt: "AttemptPen", *, awaited: bool = False, eager: bool = False) -> None:
        """Something waits to be written: within a tick, at once when somebody awaits it, and at once after a quiet tick when
        it is `eager`.
        """
        ...


@dataclass(kw_only=True, slots=True)
class Chunk:
    """What one attempt adds in one batch, with its sequence numbers; written once or not at all."""

    attempt: "AttemptPen"
    revision: int
    events: list[StoredEvent]
    records: list[dict[str, Any]]
    ending: Ending | None
    waiters: list[asyncio.Future[None]]


@dataclass(slots=True)
class _Text:
    """Neighbouring deltas of one message, joined when they are taken."""

    message_id: str
    at: str
    parts: list[str]


@dataclass(frozen=True, slots=True)
class _Record:
    kind: str
    at: str
    data: bytes


class AttemptPen:
    """`AttemptLog` over the group commit. Not for use from other threads."""

    def __init__(self, claim: Claim, position: Position, writer: Committer) -> None:
        self.claim = claim
        self.route: Any = None
        self.policy: Any = None
        self.lost: YuzuiError | None = None
        self.ended = False
        self._writer = writer
        self._seq = position.last_seq
        self._revision = position.revision
        self._events: list[tuple[str, str, bytes] | _Text] = []
        self._records: list[_Record] = []
        self._ending: Ending | None = None
        self._waiters: list[asyncio.Future[None]] = []
        self._tell: Callable[[YuzuiError], None] | None = None

    @property
    def run_id(self) -> str:
        """See `AttemptLog.run_id`."""
        return self.claim.run.id

    def on_lost(self, tell: Callable[[YuzuiError], None]) -> None:
        """Call `tell` once when this attempt may not write any more: its task must stop."""
        self._tell = tell
        if self.lost is not None:
            tell(self.lost)

    def emit(self, event: Event) -> None:
        """See `AttemptLog.emit`."""
        if self.lost is not None or self.ended or self._ending is not None:
            return
        self._queue(event)
        self._writer.wake(self, eager=isinstance(event, ContentDelta))

    def record(self, entry: AuditRecord) -> None:
        """See `AttemptLog.record`."""
        if self.lost is None and not self.ended:
            self._records.append(_Record(entry.kind, stamp(), payload(entry)))
            self._writer.wake(self)

    async def flush(self) -> None:
        """See `AttemptLog.flush`."""
        if self.lost is not None:
            raise self.lost
        await self._committed()

    async def finish(self, ending: Ending) -> None:
        """See `AttemptLog.finish`."""
        if self.lost is not None:
            raise self.lost
        if self.ended or self._ending is not None:
            raise FencedOutError("the run has ended")
        for event in ending.events:
            self._queue(event)
        if ending.message is not None:
            self._queue(ending.message)
        self._queue(ending.event)
        self._ending = ending
        await self._committed()

    @property
    def last_seq(self) -> int:
        """The sequence number given last."""
        return self._seq

    @property
    def awaited(self) -> bool:
        """Whether somebody waits for the commit."""
        return bool(self._waiters)

    @property
    def waiting(self) -> bool:
        """Whether there is something to write."""
        return bool(self._events or self._records or self._waiters)

    def take(self) -> Chunk:
        """Everything that waits, with sequence numbers. The writer writes it to the end, or loses the attempt."""
        events: list[StoredEvent] = []
        for item in self._events:
            self._seq += 1
            if isinstance(item, _Text):
                data = payload(ContentDelta(message_id=item.message_id, text="".join(item.parts)))
                kind, at = ContentDelta.type, item.at
            else:
                kind, at, data = item
            events.append(
                StoredEvent(run_id=self.run_id, seq=self._seq, type=kind, at=at, attempt=self.claim.attempt, data=data)
            )
        owner = self.claim.run.owner
        records = [
            {
                "run_id": self.run_id,
                "at": record.at,
                "tenant": owner.tenant,
                "user_id": owner.user,
                "kind": record.kind,
                "data": record.data,
            }
            for record in self._records
        ]
        chunk = Chunk(
            attempt=self,
            revision=self._revision,
            events=events,
            records=records,
            ending=self._ending,
            waiters=self._waiters,
        )
        self._revision += bool(events or records)
        self._events, self._records, self._waiters = [], [], []
        return chunk

    def lose(self, error: YuzuiError) -> None:
        """Nothing more may be written; everybody who waits is told, and so is the task."""
        if self.lost is not None or self.ended:
            return
        self.lost = error
        self._events, self._records = [], []
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_exception(error)
        self._waiters = []
        if self._tell is not None:
            self._tell(error)

    def _queue(self, event: Event) -> None:
        if isinstance(event, ContentDelta):
            last = self._events[-1] if self._events else None
            if isinstance(last, _Text) and last.message_id == event.message_id:
                last.parts.append(event.text)
                return
            self._events.append(_Text(event.message_id, stamp(), [event.text]))
        else:
            at, data = stamp(), payload(event)
            self._events.append((event.type, at, data))
            if isinstance(event, RouteDecided):
                self.route = data
                self._records.append(_Record("route", at, data))
            elif isinstance(event, PolicyCompiled):
                self.policy = data
                self._records.append(_Record("policy", at, data))
        if len(self._events) > MAX_PENDING:
            self.lose(DatabaseUnavailableError("too much waits to be written while the database is away"))

    async def _committed(self) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        self._writer.wake(self, awaited=True)
        await waiter
