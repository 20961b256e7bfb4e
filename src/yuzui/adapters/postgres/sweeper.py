"""What went missing is found again: runs of dead workers, lost jobs, unheard wishes to cancel, expired actions (R-RUN-02)."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import structlog

from yuzui.adapters.postgres import queries
from yuzui.adapters.postgres.background import end
from yuzui.adapters.postgres.database import PooledDatabase
from yuzui.adapters.postgres.runs import PostgresRuns
from yuzui.adapters.postgres.workers import Workers
from yuzui.errors import YuzuiError

_SQL = queries.load(Path(__file__).parent / "sql" / "workers.sql")
_ORPHANS, _REQUEUE, _QUEUED = _SQL["orphans"], _SQL["requeue"], _SQL["queued"]
_STUCK, _EXPIRE = _SQL["stuck_sessions"], _SQL["expire_actions"]
_LOCK_HEAD = queries.load(Path(__file__).parent / "sql" / "runs.sql")["lock_head"]

_PAGE: Final = 200
_OWN_GRACE_S: Final = 5.0
_FORGET_EVERY: Final = 3_600
_log = structlog.get_logger(__name__)


class Sweeper:
    """Looks every `every_s` seconds, first at the start. Each step is safe in many processes at once.

    `on_queued` is told of each run that could be claimed, again and again until somebody has done it.
    """

    def __init__(
        self, db: PooledDatabase, runs: PostgresRuns, workers: Workers, *, every_s: float = 1.0, max_attempts: int = 3
    ) -> None:
        self.on_queued: Callable[[str], None] | None = None
        self._db = db
        self._runs = runs
        self._workers = workers
        self._every_s = every_s
        self._max_attempts = max_attempts
        self._rounds = 0
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Look now, and go on in the background."""
        self._task = asyncio.create_task(self._run(), name="yuzui-sweeper")

    async def close(self) -> None:
        """Stop."""
        await end(self._task)

    async def sweep(self) -> None:
        """One round. Raises `DatabaseUnavailableError`."""
        await self._workers.bury_dead()
        await self._orphans()
        stuck = await self._db.rows(_STUCK, limit=_PAGE)
        if stuck:
            await self._runs.hand_on([row["session_id"] for row in stuck])
        for row in await self._db.rows(_QUEUED, limit=_PAGE):
            await self._queued(row)
        for run_id, by, reason in await self._runs.cancels_wanted():
            if self._runs.on_cancel is not None:
                self._runs.on_cancel(run_id, by, reason)
        await self._db.execute(_EXPIRE)
        if self._rounds % _FORGET_EVERY == 0:
            await self._workers.forget_old()
        self._rounds += 1

    async def _orphans(self) -> None:
        held = self._runs.held
        rows = await self._db.rows(_ORPHANS, id=self._workers.id, held=held, grace_s=_OWN_GRACE_S)
        for row in rows:
            if row["id"] in self._runs.held:
                continue
            async with self._db.transaction() as db:
                await db.row(_LOCK_HEAD, run_id=row["id"])
                taken = await db.row(_REQUEUE, run_id=row["id"], token=row["token"])
            if taken is not None:
                _log.warning("run_taken_from_lost_worker", run_id=row["id"], attempt=taken["attempt"])

    async def _queued(self, row: dict[str, Any]) -> None:
        if row["cancel_requested_by"] is not None:
            await self._runs.settle_cancelled(row["id"], row["cancel_requested_by"], row["cancel_reason"] or "")
        elif row["attempt"] >= self._max_attempts:
            await self._runs.settle_failed(
                row["id"], "attempts_exhausted", f"The run was given up after {row['attempt']} attempts."
            )
        elif self.on_queued is not None:
            self.on_queued(row["id"])

    async def _run(self) -> None:
        while True:
            try:
                await self.sweep()
            except YuzuiError as error:
                _log.warning("sweep_failed", error=error.code)
            except Exception:  # noqa: BLE001  the sweeper is the last one who finds what was lost: it never ends
                _log.exception("sweep_crashed")
            await asyncio.sleep(self._every_s)
