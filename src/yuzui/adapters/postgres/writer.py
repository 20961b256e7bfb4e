"""Group commit: one writer per process stores what all its runs say within a tick in one statement (EVENT, decision 4).

A batch is written completely or not at all, and never twice: each run's head counts the batches of its attempt, so after a
lost connection the writer asks the heads whether the batch had been committed before it writes it again.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Protocol

import orjson
import psycopg
import structlog

from yuzui.adapters.postgres import queries
from yuzui.adapters.postgres.attempt import AttemptPen, Chunk, Position
from yuzui.adapters.postgres.background import end
from yuzui.adapters.postgres.link import LOST, ROLLED_BACK, Link
from yuzui.adapters.postgres.payloads import clean_text, payload
from yuzui.errors import FencedOutError, YuzuiError
from yuzui.runs.events import StoredEvent
from yuzui.runs.run import Claim, Ending

_SQL = queries.load(Path(__file__).parent / "sql" / "writer.sql")
_APPEND, _APPEND_AND_END = _SQL["append"].encode(), _SQL["append_and_end"].encode()
_POSITIONS = _SQL["positions"].encode()
_LOCK_SESSIONS, _HAND_ON = _SQL["lock_sessions"].encode(), _SQL["hand_sessions_on"].encode()

_NOTICE_BYTES: Final = 7_000
_BACK_OFF: Final = (0.05, 0.1, 0.25, 0.5, 1.0)
log = structlog.get_logger("yuzui.writer")


class Audience(Protocol):
    """Who is told of stored events in this process."""

    def publish(self, events: Sequence[StoredEvent]) -> None:
        """Events of one run, committed, in order. Never blocks."""
        ...


class Writer:
    """`events_written` counts events, `flushes` counts statements that stored some. `tick_s` is the time a batch gathers."""

    def __init__(self, link: Link, audience: Audience, *, tick_s: float = 0.01) -> None:
        self.events_written = 0
        self.flushes = 0
        self.on_next: Callable[[str], None] | None = None
        self._link = link
        self._audience = audience
        self._tick_s = tick_s
        self._attempts: dict[str, AttemptPen] = {}  # by token
        self._waiting: dict[str, AttemptPen] = {}
        self._wake = asyncio.Event()
        self._now = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._last = 0.0
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to write."""
        self._task = asyncio.create_task(self._run(), name="yuzui-writer")

    async def close(self, *, within_s: float = 5.0) -> None:
        """Write what waits, for at most `within_s` seconds, then stop."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._idle.wait()
        await end(self._task)
        await self._link.close()

    def open(self, claim: Claim, position: Position) -> AttemptPen:
        """The pen of a claim; the same one for the same token."""
        pen = self._attempts.get(claim.token)
        if pen is None:
            pen = self._attempts[claim.token] = AttemptPen(claim, position, self)
        return pen

    def pen(self, token: str) -> AttemptPen | None:
        """The pen of a token that this process holds."""
        return self._attempts.get(token)

    def close_pen(self, token: str) -> None:
        """Forget an attempt that was handed over."""
        self._attempts.pop(token, None)
        self._waiting.pop(token, None)

    @property
    def runs(self) -> list[str]:
        """The runs this process has a pen for."""
        return [pen.run_id for pen in self._attempts.values()]

    def wake(self, attempt: AttemptPen, *, awaited: bool = False, eager: bool = False) -> None:
        """See `Committer.wake`."""
        self._waiting[attempt.claim.token] = attempt
        self._idle.clear()
        self._wake.set()
        if awaited or (eager and asyncio.get_running_loop().time() - self._last >= self._tick_s):
            self._now.set()

    async def _run(self) -> None:
        clock = asyncio.get_running_loop().time
        while True:
            if not self._waiting:
                self._idle.set()
            await self._wake.wait()
            if not self._now.is_set():
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._tick_s):
                        await self._now.wait()
            self._wake.clear()
            self._now.clear()
            chunks, self._waiting = _take(self._waiting)
            self._last = clock()
            if self._waiting:
                self._wake.set()
            if chunks:
                await self._write(chunks)

    async def _write(self, chunks: list[Chunk]) -> None:
        try:
            await self._commit(chunks)
        except Exception:
            log.exception("batch_failed", runs=[chunk.attempt.run_id for chunk in chunks])
            for chunk in chunks:
                self._fence(chunk, YuzuiError("the run's events could not be stored"))

    async def _commit(self, chunks: list[Chunk]) -> None:
        """Write until it is certain that each chunk is stored, or that its attempt is fenced out."""
        unsure = False
        tries = 0
        while True:
            try:
                rows = await self._store(chunks)
                missing = self._missing(chunks, {row[0] for row in rows})
                if missing and unsure:
                    missing = await self._not_stored(missing)
                break
            except ROLLED_BACK:
                continue
            except LOST as error:
                unsure = True
                if tries == 0:
                    log.warning("database_lost", waiting=len(chunks), error=str(error).strip())
                await asyncio.sleep(_BACK_OFF[min(tries, len(_BACK_OFF) - 1)])
                tries += 1
            except psycopg.Error as error:
                await self._one_by_one(chunks, error)
                return
        gone = {id(chunk) for chunk in missing}
        for chunk in missing:
            self._fence(chunk, FencedOutError())
        self._confirm([chunk for chunk in chunks if id(chunk) not in gone])
        await self._hand_on([row[1] for row in rows if row[1] is not None])

    async def _store(self, chunks: list[Chunk]) -> list[Any]:
        written = [chunk for chunk in chunks if chunk.events or chunk.records]
        if not written:
            return []
        params, ends = _documents(written)
        rows = await self._link.rows(_APPEND_AND_END if ends else _APPEND, params)
        self.flushes += 1
        return rows

    def _missing(self, chunks: list[Chunk], written: set[str]) -> list[Chunk]:
        return [chunk for chunk in chunks if (chunk.events or chunk.records) and chunk.attempt.run_id not in written]

    async def _not_stored(self, chunks: list[Chunk]) -> list[Chunk]:
        rows = await self._link.rows(_POSITIONS, {"run_ids": [chunk.attempt.run_id for chunk in chunks]})
        heads = {row[0]: (row[1], row[2]) for row in rows}
        lost: list[Chunk] = []
        for chunk in chunks:
            expected = None if chunk.ending is not None else chunk.attempt.claim.token
            if heads.get(chunk.attempt.run_id) != (expected, chunk.revision + 1):
                lost.append(chunk)
        return lost

    async def _one_by_one(self, chunks: list[Chunk], error: psycopg.Error) -> None:
        """A value PostgreSQL refuses must not take the other runs of the batch along."""
        if len(chunks) > 1:
            for chunk in chunks:
                await self._commit([chunk])
            return
        log.error("batch_refused", run_id=chunks[0].attempt.run_id, error=type(error).__name__)
        self._fence(chunks[0], YuzuiError("the run's events could not be stored"))

    def _fence(self, chunk: Chunk, error: YuzuiError) -> None:
        chunk.attempt.lose(error)
        self._attempts.pop(chunk.attempt.claim.token, None)
        for waiter in chunk.waiters:
            if not waiter.done():
                waiter.set_exception(error)

    def _confirm(self, chunks: list[Chunk]) -> None:
        for chunk in chunks:
            if chunk.events:
                self.events_written += len(chunk.events)
                self._audience.publish(chunk.events)
            if chunk.ending is not None:
                chunk.attempt.ended = True
                self._attempts.pop(chunk.attempt.claim.token, None)
            for waiter in chunk.waiters:
                if not waiter.done():
                    waiter.set_result(None)

    async def _hand_on(self, sessions: list[str]) -> None:
        if not sessions:
            return
        params = {"session_ids": sessions}
        try:
            rows = await self._link.transaction((_LOCK_SESSIONS, params), (_HAND_ON, params))
        except psycopg.Error as error:  # the sweeper hands such sessions on as well
            log.warning("session_not_handed_on", error=type(error).__name__)
            return
        for row in rows:
            if row[0] is not None and self.on_next is not None:
                self.on_next(row[0])


def _take(waiting: dict[str, AttemptPen]) -> tuple[list[Chunk], dict[str, AttemptPen]]:
    """One chunk per run, in the order of run ids (the order of locks); a second attempt of a run waits for the next batch."""
    chunks: dict[str, Chunk] = {}
    later: dict[str, AttemptPen] = {}
    for token, pen in waiting.items():
        if pen.run_id in chunks:
            later[token] = pen
        elif pen.waiting:
            chunks[pen.run_id] = pen.take()
    return [chunks[run_id] for run_id in sorted(chunks)], later


def _documents(chunks: list[Chunk]) -> tuple[dict[str, Any], bool]:
    heads: list[dict[str, Any]] = []
    events: list[dict[str, Any]] = []
    audit: list[dict[str, Any]] = []
    endings: list[dict[str, Any]] = []
    for chunk in chunks:
        pen = chunk.attempt
        heads.append(
            {
                "run_id": pen.run_id,
                "token": pen.claim.token,
                "revision": chunk.revision,
                "last_seq": pen.last_seq if not chunk.events else chunk.events[-1].seq,
                "ends": chunk.ending is not None,
            }
        )
        events += [
            {
                "run_id": event.run_id,
                "seq": event.seq,
                "type": event.type,
                "at": event.at,
                "attempt": event.attempt,
                "data": orjson.Fragment(event.data),
            }
            for event in chunk.events
        ]
        for record in chunk.records:
            audit.append({**record, "n": len(audit), "data": orjson.Fragment(record["data"])})
        if chunk.ending is not None:
            endings.append(_ending(pen, chunk.ending))
    params: dict[str, Any] = {
        "heads": _text(heads),
        "events": _text(events),
        "audit": _text(audit),
        "notice": notice([head["run_id"] for head in heads]),
    }
    if endings:
        params["endings"] = _text(endings)
    return params, bool(endings)


def _ending(pen: AttemptPen, ending: Ending) -> dict[str, Any]:
    run, answer = pen.claim.run, ending.message
    failed = "cancelled" if ending.status == "cancelled" else "failed"
    return {
        "run_id": run.id,
        "session_id": run.session_id,
        "message_id": run.message_id,
        "status": ending.status,
        "outcome": ending.outcome,
        "route": None if pen.route is None else orjson.Fragment(pen.route),
        "policy": None if pen.policy is None else orjson.Fragment(pen.policy),
        "message": None if answer is None else orjson.Fragment(payload(answer)),
        "usage": orjson.Fragment(payload(ending.usage)),
        "error": None if ending.error is None else orjson.Fragment(payload(ending.error)),
        "pending_action_id": ending.pending_action_id,
        "text": "" if answer is None else clean_text(answer.text),
        "html": "" if answer is None else clean_text(answer.html),
        "message_status": "ok" if ending.status == "succeeded" else failed,
    }


def notice(run_ids: list[str]) -> str:
    """The payload of `yuzui_events`: the runs, or `*` when there are too many for one notice."""
    text = ",".join(run_ids)
    return text if len(text) <= _NOTICE_BYTES else "*"


def _text(rows: list[dict[str, Any]]) -> str:
    return orjson.dumps(rows).decode()
