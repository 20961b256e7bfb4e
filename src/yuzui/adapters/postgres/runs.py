"""`RunStore` over PostgreSQL: births go through the batcher, attempts through the writer, the rest is here."""

import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import structlog

from yuzui.adapters.postgres import queries
from yuzui.adapters.postgres.attempt import AttemptPen, Position
from yuzui.adapters.postgres.births import BIRTH_POSITION, Births, Earlier
from yuzui.adapters.postgres.database import PooledDatabase
from yuzui.adapters.postgres.hub import Hub
from yuzui.adapters.postgres.payloads import payload
from yuzui.adapters.postgres.rows import to_run
from yuzui.adapters.postgres.writer import Writer
from yuzui.errors import FencedOutError, NotFoundError
from yuzui.owner import Owner
from yuzui.runs.events import RunCancelled, RunFailed, StoredEvent
from yuzui.runs.run import ENDED, Accepted, Claim, NewRun, RunRecord

_SQL = queries.load(Path(__file__).parent / "sql" / "runs.sql")
_GET, _LOCK_HEAD, _CLAIM = _SQL["get_run"], _SQL["lock_head"], _SQL["claim_run"]
_HAND_OVER, _REQUEST_CANCEL, _SETTLE = _SQL["hand_over"], _SQL["request_cancel"], _SQL["settle_run"]
_FAILED, _CANCELS_WANTED = _SQL["failed_runs"], _SQL["cancels_wanted"]

_SESSIONS = queries.load(Path(__file__).parent / "sql" / "writer.sql")
_LOCK_SESSIONS, _HAND_ON = _SESSIONS["lock_sessions"], _SESSIONS["hand_sessions_on"]
_log = structlog.get_logger(__name__)


class PostgresRuns:
    """`RunStore`, and what the dispatcher and the sweeper need of it. `worker_id` is this process."""

    def __init__(self, db: PooledDatabase, *, worker_id: str, births: Births, writer: Writer, hub: Hub) -> None:
        self.worker_id = worker_id
        self.on_queued: Callable[[str], None] | None = None
        self.on_cancel: Callable[[str, str, str], None] | None = None
        self.on_abandoned: Callable[[Claim], None] | None = None
        self._db = db
        self._births = births
        self._writer = writer
        self._hub = hub
        self._claiming: set[str] = set()

    async def accept(self, new: NewRun, *, claim: bool) -> Accepted:
        """See `RunStore.accept`; raises `TooManyRunsError` when the caller or the queue has too many (R-RUN-07)."""
        accepted = await self._births.add(new, claim=claim)
        if isinstance(accepted, Earlier):
            run = await self.get(new.caller.owner, accepted.run_id)
            return Accepted(run=run, created=False, claim=None)
        if accepted.claim is None and self.on_queued is not None:
            self.on_queued(accepted.run.id)
        return accepted

    async def get(self, owner: Owner, run_id: str) -> RunRecord:
        """See `RunStore.get`."""
        row = await self._db.row(_GET, run_id=run_id, tenant=owner.tenant, user=owner.user)
        if row is None:
            raise NotFoundError
        return to_run(row)

    async def claim(self, run_id: str) -> Claim | None:
        """See `RunStore.claim`."""
        token = secrets.token_hex(12)
        self._claiming.add(run_id)
        try:
            async with self._db.transaction() as db:
                await db.row(_LOCK_HEAD, run_id=run_id)
                row = await db.row(_CLAIM, run_id=run_id, worker_id=self.worker_id, token=token)
            if row is None:
                return None
            claim = Claim(run=to_run(row), attempt=row["attempt"], token=token)
            self._writer.open(claim, Position(last_seq=row["last_seq"], revision=row["revision"]))
        finally:
            self._claiming.discard(run_id)
        self._hub.announce([run_id])
        return claim

    @property
    def held(self) -> list[str]:
        """The runs that this process works on, or is about to."""
        return [*self._writer.runs, *self._births.runs, *self._claiming]

    def attempt_log(self, claim: Claim) -> AttemptPen:
        """See `RunStore.attempt_log`. Raises `FencedOutError` for a claim of another process, or one that has ended."""
        pen = self._writer.pen(claim.token)
        if pen is None:
            raise FencedOutError
        return pen

    async def hand_over(self, claim: Claim, reason: str, *, delay_s: float = 0.0) -> None:
        """See `RunStore.hand_over`; the run may not be claimed again before `delay_s` seconds have passed."""
        pen = self.attempt_log(claim)
        await pen.flush()
        async with self._db.transaction() as db:
            await db.row(_LOCK_HEAD, run_id=claim.run.id)
            row = await db.row(_HAND_OVER, run_id=claim.run.id, token=claim.token, reason=reason, delay_s=delay_s)
        pen.lose(FencedOutError("the attempt was handed over"))
        self._writer.close_pen(claim.token)
        if row is None:
            raise FencedOutError
        if row["cancel_requested_by"] is not None:
            await self.settle_cancelled(claim.run.id, row["cancel_requested_by"], row["cancel_reason"] or "")

    def release(self, claim: Claim) -> None:
        """Forget a claim without a word to the database: the run is found by its lease, or by the next sweep."""
        pen = self._writer.pen(claim.token)
        if pen is not None:
            pen.lose(FencedOutError("the claim was released"))
            self._writer.close_pen(claim.token)

    def abandoned(self, claim: Claim) -> None:
        """See `Nursery.abandoned`."""
        if self.on_abandoned is not None:
            self.on_abandoned(claim)

    async def request_cancel(self, owner: Owner, run_id: str, *, by: str, reason: str) -> RunRecord:
        """See `RunStore.request_cancel`."""
        run = await self.get(owner, run_id)
        if run.status in ENDED:
            return run
        await self.cancel(run_id, by=by, reason=reason)
        return await self.get(owner, run_id)

    async def cancel(self, run_id: str, *, by: str, reason: str, apps: Sequence[str] | None = None) -> None:
        """Cancel whoever's run it is, when it belongs to one of `apps`: at once without a living worker, else through it."""
        row = await self._db.row(
            _REQUEST_CANCEL, run_id=run_id, by=by, reason=reason, apps=None if apps is None else list(apps)
        )
        if row is None:
            return
        if row["alive"] and self.on_cancel is not None:
            self.on_cancel(run_id, row["cancel_requested_by"], row["cancel_reason"])
        elif not row["alive"]:
            await self.settle_cancelled(run_id, row["cancel_requested_by"], row["cancel_reason"])

    async def settle_cancelled(self, run_id: str, by: str, reason: str, *, gone: Sequence[str] = ()) -> bool:
        """End a run without a living worker as cancelled (R-RUN-06); False when there was nothing to end."""
        return await self._settle(run_id, RunCancelled(by=by, reason=reason), None, gone)

    async def settle_failed(self, run_id: str, code: str, detail: str, *, gone: Sequence[str] = ()) -> bool:
        """End a run without a living worker as failed; it is then in the dead-letter list (R-RUN-04)."""
        error = {"code": code, "detail": detail, "retryable": False}
        return await self._settle(run_id, RunFailed(code=code, detail=detail, retryable=False), error, gone)

    async def hand_on(self, session_ids: Sequence[str]) -> None:
        """Give sessions whose active run has ended to their next run, and start it (R-RUN-05)."""
        async with self._db.transaction() as db:
            await db.rows(_LOCK_SESSIONS, session_ids=list(session_ids))
            rows = await db.rows(_HAND_ON, session_ids=list(session_ids))
        for row in rows:
            if row["active_run_id"] is not None and self.on_queued is not None:
                self.on_queued(row["active_run_id"])

    async def cancels_wanted(self) -> list[tuple[str, str, str]]:
        """Runs of this process that somebody wants cancelled, with who and why, in case the message was lost."""
        rows = await self._db.rows(_CANCELS_WANTED, worker_id=self.worker_id)
        return [(row["id"], row["cancel_requested_by"], row["cancel_reason"] or "") for row in rows]

    async def failed(self, owner: Owner, *, limit: int = 50) -> list[dict[str, Any]]:
        """The owner's failed runs, newest first (dead letters)."""
        return await self._db.rows(_FAILED, tenant=owner.tenant, user=owner.user, limit=limit)

    def born(self, accepted: Accepted, events: list[StoredEvent]) -> None:
        """See `Nursery.born`."""
        if accepted.claim is not None:
            self._writer.open(accepted.claim, BIRTH_POSITION)
        self._hub.publish(events)

    async def _settle(
        self, run_id: str, event: RunCancelled | RunFailed, error: dict[str, Any] | None, gone: Sequence[str]
    ) -> bool:
        async with self._db.transaction() as db:
            await db.row(_LOCK_HEAD, run_id=run_id)
            row = await db.row(
                _SETTLE,
                run_id=run_id,
                type=event.type,
                data=payload(event).decode(),
                status="cancelled" if isinstance(event, RunCancelled) else "failed",
                error=None if error is None else payload(error).decode(),
                gone=list(gone),
            )
        if row is None:
            return False
        self._hub.announce([run_id])
        await self.hand_on([row["session_id"]])
        return True
