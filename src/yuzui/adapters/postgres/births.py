"""Births of runs, batched: what many requests of one moment store is one statement (R-RUN-01)."""

import asyncio
import secrets
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Protocol

import orjson
import psycopg
import structlog

from yuzui.adapters.postgres import queries
from yuzui.adapters.postgres.attempt import Position
from yuzui.adapters.postgres.background import end
from yuzui.adapters.postgres.errors import translate
from yuzui.adapters.postgres.link import LOST, ROLLED_BACK, Link
from yuzui.adapters.postgres.payloads import clean_text, stamp
from yuzui.adapters.postgres.rows import born_run, caller_json
from yuzui.errors import (
    DatabaseUnavailableError,
    IdempotencyMismatchError,
    NotFoundError,
    ShuttingDownError,
    TooManyRunsError,
    YuzuiError,
)
from yuzui.runs.events import StoredEvent
from yuzui.runs.run import Accepted, Claim, NewRun

_SQL = queries.load(Path(__file__).parent / "sql" / "births.sql")
_BIRTHS, _UNBORN = _SQL["births"].encode(), _SQL["unborn"].encode()

_log = structlog.get_logger(__name__)
_BATCH: Final = 64
_RETRY_AFTER_S: Final = 2.0
BIRTH_POSITION: Final = Position(last_seq=2, revision=0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """R-RUN-07: unfinished runs one caller may have, and runs that may wait in all. Runs decided by rules do not count.

    `wait_s` is how long a birth is tried while the database is away (seconds).
    """

    per_caller: int = 8
    queue: int = 1_000
    wait_s: float = 5.0


class Nursery(Protocol):
    """Who takes a run that was born."""

    def born(self, accepted: Accepted, events: list[StoredEvent]) -> None:
        """A run was stored, with its first events; its claim is open from now on."""
        ...

    def abandoned(self, claim: Claim) -> None:
        """A run was born claimed, and its request was cancelled meanwhile: somebody has to work on it."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Earlier:
    """The run that an earlier use of the same key made."""

    run_id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class _Birth:
    new: NewRun
    claim: bool
    token: str
    deadline: float
    done: asyncio.Future[Accepted | Earlier]


class Births:
    """Stores new runs for one worker process."""

    def __init__(self, link: Link, worker_id: str, nursery: Nursery, limits: Limits) -> None:
        self._link = link
        self._worker_id = worker_id
        self._nursery = nursery
        self._limits = limits
        self._queue: deque[_Birth] = deque()
        self._batch: list[_Birth] = []
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.closing = False

    def start(self) -> None:
        """Begin to accept."""
        self._task = asyncio.create_task(self._run(), name="yuzui-births")

    async def close(self) -> None:
        """Refuse what still waits, and stop."""
        self.closing = True
        await end(self._task)
        while self._queue:
            _fail(self._queue.popleft(), ShuttingDownError())
        await self._link.close()

    @property
    def runs(self) -> list[str]:
        """Runs that are being born."""
        return [birth.new.id for birth in (*self._queue, *self._batch)]

    async def add(self, new: NewRun, *, claim: bool) -> Accepted | Earlier:
        """Store a run; see `RunStore.accept` for what it raises."""
        if self.closing:
            raise ShuttingDownError(retry_after=_RETRY_AFTER_S)
        loop = asyncio.get_running_loop()
        birth = _Birth(
            new=new,
            claim=claim,
            token=secrets.token_hex(12),
            deadline=loop.time() + self._limits.wait_s,
            done=loop.create_future(),
        )
        self._queue.append(birth)
        self._wake.set()
        try:
            return await asyncio.shield(birth.done)
        except asyncio.CancelledError:  # the client has gone, the run is born all the same
            birth.done.add_done_callback(self._abandoned)
            raise

    def _abandoned(self, done: asyncio.Future[Accepted | Earlier]) -> None:
        if done.cancelled() or done.exception() is not None:
            return
        accepted = done.result()
        if isinstance(accepted, Accepted) and accepted.claim is not None:
            self._nursery.abandoned(accepted.claim)

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            batch = self._batch = self._take()
            try:
                await self._store(batch)
            except YuzuiError as error:
                for birth in batch:
                    _fail(birth, error)
            except Exception:  # noqa: BLE001  births serve every request: a fault costs this batch only
                _log.exception("births_failed", runs=[birth.new.id for birth in batch])
                for birth in batch:
                    _fail(birth, YuzuiError("the run could not be stored"))
            except asyncio.CancelledError:
                for birth in batch:
                    _fail(birth, ShuttingDownError())
                raise

    def _take(self) -> list[_Birth]:
        """At most one birth per session, in order of sessions (the order of locks)."""
        batch: dict[str, _Birth] = {}
        later: list[_Birth] = []
        while self._queue and len(batch) < _BATCH:
            birth = self._queue.popleft()
            if birth.new.session_id in batch:
                later.append(birth)
            else:
                batch[birth.new.session_id] = birth
        self._queue.extendleft(reversed(later))
        if not self._queue:
            self._wake.clear()
        return [batch[session] for session in sorted(batch)]

    async def _store(self, batch: list[_Birth]) -> None:
        params = {
            "births": orjson.dumps([_row(birth) for birth in batch]).decode(),
            "worker_id": self._worker_id,
            "per_caller": self._limits.per_caller,
            "queue": self._limits.queue,
        }
        deadline = max(birth.deadline for birth in batch)
        unsure = False
        while True:
            try:
                rows = {row[0]: (row[1], row[2]) for row in await self._link.rows(_BIRTHS, params)}
                unborn = [birth for birth in batch if birth.new.id not in rows]
                reasons = await self._reasons(unborn) if unborn else {}
                break
            except ROLLED_BACK:
                continue
            except LOST as error:
                unsure = True
                if asyncio.get_running_loop().time() + 0.2 > deadline:
                    raise DatabaseUnavailableError(retry_after=_RETRY_AFTER_S) from error
                await asyncio.sleep(0.2)
            except psycopg.Error as error:
                if len(batch) == 1:
                    raise translate(error) or YuzuiError("the run could not be stored") from error
                for birth in batch:
                    try:
                        await self._store([birth])
                    except YuzuiError as refused:
                        _fail(birth, refused)
                return
        for birth in batch:
            if birth.new.id in rows:
                self._born(birth, *rows[birth.new.id])
            else:
                self._unborn(birth, reasons[birth.new.id], unsure=unsure)

    async def _reasons(self, unborn: list[_Birth]) -> dict[str, Any]:
        rows = await self._link.rows(_UNBORN, {"births": orjson.dumps([_row(birth) for birth in unborn]).decode()})
        return {row[0]: row for row in rows}

    def _born(self, birth: _Birth, claimed: bool, at: datetime) -> None:
        new = birth.new
        run = born_run(new, claimed=claimed, created_at=at)
        claim = Claim(run=run, attempt=1, token=birth.token) if claimed else None
        accepted = Accepted(run=run, created=True, claim=claim)
        status = b'{"status":"running"}' if claimed else b'{"status":"queued"}'
        first = [("run.created", status), ("run.started", b'{"attempt":1}')][: 1 + claimed]
        events = [
            StoredEvent(run_id=new.id, seq=seq, type=kind, at=stamp(at), attempt=1, data=data)
            for seq, (kind, data) in enumerate(first, start=1)
        ]
        self._nursery.born(accepted, events)
        if not birth.done.done():
            birth.done.set_result(accepted)

    def _unborn(self, birth: _Birth, reason: Any, *, unsure: bool) -> None:
        _, found, earlier, body_hash, exists = reason
        if (
            exists and unsure
        ):  # the commit that was not confirmed had happened; the run is read, and claimed as queued runs are
            if not birth.done.done():
                birth.done.set_result(Earlier(run_id=birth.new.id))
        elif not found:
            _fail(birth, NotFoundError())
        elif earlier is not None and body_hash != (birth.new.body_hash or ""):
            _fail(birth, IdempotencyMismatchError())
        elif earlier is not None:
            if not birth.done.done():
                birth.done.set_result(Earlier(run_id=earlier))
        else:
            _fail(birth, TooManyRunsError(retry_after=_RETRY_AFTER_S))


def _fail(birth: _Birth, error: YuzuiError) -> None:
    if not birth.done.done():
        birth.done.set_exception(error)
        with suppress(YuzuiError):
            birth.done.exception()


def _row(birth: _Birth) -> dict[str, Any]:
    new = birth.new
    return {
        "id": new.id,
        "session_id": new.session_id,
        "tenant": new.caller.owner.tenant,
        "user_id": new.caller.owner.user,
        "app": new.app,
        "kind": new.kind,
        "action_id": new.action_id,
        "caller": caller_json(new.caller),
        "text": clean_text(new.text),
        "masked": new.masked,
        "message_id": new.message_id,
        "user_message_id": new.user_message_id,
        "key": new.key,
        "body_hash": new.body_hash or "",
        "claim": birth.claim,
        "counted": not (new.inline or new.kind == "effect"),
        "token": birth.token,
    }
