"""Readers of the log: live, resumable, and independent of each other (R-EVT-01, R-EVT-05).

A reader first makes itself known, then reads what is stored, then waits. What this process writes reaches its own readers
straight from the commit; what others write is announced by NOTIFY; a slow poll finds what neither announced. Every reader
keeps its own position and takes only the event that follows it, so no order of announcements can skip or double one.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Final

import structlog

from yuzui.adapters.postgres import queries
from yuzui.adapters.postgres.background import end
from yuzui.adapters.postgres.errors import translated
from yuzui.adapters.postgres.pool import Pool
from yuzui.errors import DatabaseUnavailableError
from yuzui.runs.events import StoredEvent

_SQL = queries.load(Path(__file__).parent / "sql" / "events.sql")
_READ, _LAST_SEQS = _SQL["read_events"].encode(), _SQL["last_seqs"].encode()

_log = structlog.get_logger(__name__)
_PAGE: Final = 1_000
_BUFFERED: Final = 512  # events a slow reader may leave lying before it falls back to reading the log
_TAILS: Final = 512  # runs whose first events are kept in memory for readers that come at once
_TAIL_EVENTS: Final = 32  # a short run as a whole; a longer one has its readers by then, or they read the log
_RETRY_S: Final = 0.5


class _Reader:
    """One follower of one run."""

    def __init__(self, after: int) -> None:
        self.position = after
        self.stale = True
        self._buffer: deque[StoredEvent] = deque()
        self._wake = asyncio.Event()

    def offer(self, events: Sequence[StoredEvent]) -> None:
        """Committed events of the run."""
        if len(self._buffer) + len(events) > _BUFFERED:
            self._buffer.clear()
            self.stale = True
        else:
            self._buffer.extend(events)
        self._wake.set()

    def announce(self) -> None:
        """Something was stored elsewhere."""
        self.stale = True
        self._wake.set()

    def take(self) -> list[StoredEvent]:
        """What directly follows the position; a gap makes the reader stale."""
        batch: list[StoredEvent] = []
        position = self.position
        for event in self._buffer:
            if event.seq == position + 1:
                batch.append(event)
                position = event.seq
            elif event.seq > position:
                self.stale = True
                break
        self._buffer.clear()
        return batch

    async def wait(self) -> None:
        """Until something is offered or announced."""
        await self._wake.wait()
        self._wake.clear()


class Hub:
    """`EventReader` over PostgreSQL. A connection is held only while a page is read. `poll_s` is the slow poll (seconds)."""

    def __init__(self, pool: Pool, *, poll_s: float = 2.0) -> None:
        self.reads = 0
        self._pool = pool
        self._poll_s = poll_s
        self._readers: dict[str, set[_Reader]] = {}
        self._tails: OrderedDict[str, list[StoredEvent]] = OrderedDict()
        self._poller: asyncio.Task[None] | None = None

    @property
    def followers(self) -> int:
        """How many readers follow a run now."""
        return sum(len(readers) for readers in self._readers.values())

    def start(self) -> None:
        """Begin the slow poll."""
        self._poller = asyncio.create_task(self._poll(), name="yuzui-hub")

    async def close(self) -> None:
        """Stop the slow poll."""
        await end(self._poller)

    def publish(self, events: Sequence[StoredEvent]) -> None:
        """Events of one run that this process committed, in order."""
        run_id = events[0].run_id
        self._remember(run_id, events)
        for reader in self._readers.get(run_id, ()):
            reader.offer(events)

    def announce(self, run_ids: Sequence[str]) -> None:
        """Another process stored events of these runs."""
        for run_id in run_ids:
            self._tails.pop(run_id, None)
            for reader in self._readers.get(run_id, ()):
                reader.announce()

    def announce_all(self) -> None:
        """Notices may have been lost: everybody reads again."""
        self._tails.clear()
        for readers in self._readers.values():
            for reader in readers:
                reader.announce()

    async def read(self, run_id: str, after: int, limit: int = _PAGE) -> Sequence[StoredEvent]:
        """See `EventReader.read`."""
        self.reads += 1
        params = {"run_id": run_id, "after": after, "limit": limit}
        with translated():
            async with self._pool.connection() as connection:
                rows = await (await connection.execute(_READ, params)).fetchall()
        return [
            StoredEvent(run_id=row[0], seq=row[1], type=row[2], at=row[3], attempt=row[4], data=row[5].encode())
            for row in rows
        ]

    async def follow(self, run_id: str, after: int) -> AsyncIterator[Sequence[StoredEvent]]:
        """See `EventReader.follow`. While the database is away the stream waits."""
        reader = _Reader(after)
        self._readers.setdefault(run_id, set()).add(reader)
        try:
            self._recall(run_id, reader)
            while True:
                batch: Sequence[StoredEvent] = reader.take()
                if not batch and reader.stale:
                    batch = await self._catch_up(run_id, reader)
                if batch:
                    reader.position = batch[-1].seq
                    yield batch
                    if batch[-1].terminal:
                        return
                elif not reader.stale:
                    await reader.wait()
        finally:
            readers = self._readers[run_id]
            readers.discard(reader)
            if not readers:
                del self._readers[run_id]

    async def _catch_up(self, run_id: str, reader: _Reader) -> Sequence[StoredEvent]:
        reader.stale = False
        try:
            batch = await self.read(run_id, reader.position, _PAGE)
        except DatabaseUnavailableError:
            reader.stale = True
            await asyncio.sleep(_RETRY_S)
            return ()
        except BaseException:
            reader.stale = True
            raise
        reader.stale = reader.stale or len(batch) == _PAGE
        return batch

    def _remember(self, run_id: str, events: Sequence[StoredEvent]) -> None:
        tail = self._tails.get(run_id)
        if tail is None:
            if events[0].seq != 1:
                return
            tail = self._tails[run_id] = []
            if len(self._tails) > _TAILS:
                self._tails.popitem(last=False)
        if len(tail) < _TAIL_EVENTS and (not tail or events[0].seq == tail[-1].seq + 1):
            tail.extend(events)

    def _recall(self, run_id: str, reader: _Reader) -> None:
        """A reader that comes right after the birth needs no query: the first events are at hand, and the rest follows."""
        tail = self._tails.get(run_id)
        if tail is not None and reader.position <= tail[-1].seq:
            reader.offer(tail[reader.position :])
            reader.stale = len(tail) >= _TAIL_EVENTS and not tail[-1].terminal

    async def _poll(self) -> None:
        while True:
            await asyncio.sleep(self._poll_s)
            if not self._readers:
                continue
            try:
                await self._look()
            except DatabaseUnavailableError as error:
                _log.debug("poll_failed", error=error.code)
            except Exception:  # noqa: BLE001  every reader relies on the poll: it never ends
                _log.exception("poll_crashed")

    async def _look(self) -> None:
        with translated():
            async with self._pool.connection() as connection:
                rows = await (await connection.execute(_LAST_SEQS, {"run_ids": list(self._readers)})).fetchall()
        for run_id, last_seq in rows:
            for reader in self._readers.get(run_id, ()):
                if reader.position < last_seq:
                    reader.announce()
