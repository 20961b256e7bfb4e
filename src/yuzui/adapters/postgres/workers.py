"""The lease of this process, and the watchdog that stops its runs before the lease can lapse."""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import structlog

from yuzui.adapters.postgres import processes, queries
from yuzui.adapters.postgres.background import end
from yuzui.adapters.postgres.database import PooledDatabase
from yuzui.errors import DatabaseUnavailableError, YuzuiError

_SQL = queries.load(Path(__file__).parent / "sql" / "workers.sql")
_ENTER, _BEAT, _LEAVE = _SQL["enter_worker"], _SQL["beat"], _SQL["leave_worker"]
_LOCAL, _BURY, _FORGET = _SQL["local_workers"], _SQL["bury"], _SQL["forget_workers"]
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class LeaseOptions:
    """Seconds. After `lease_s` without a heartbeat others take the runs; at `stop_at` of it this process lets go itself."""

    heartbeat_s: float = 5.0
    lease_s: float = 30.0
    stop_at: float = 0.8


class Workers:
    """This process's row among the workers. `on_lapse` is called when the lease can no longer be trusted."""

    def __init__(self, db: PooledDatabase, worker_id: str, options: LeaseOptions) -> None:
        self.id = worker_id
        self.on_lapse: Callable[[str], None] | None = None
        self.lapsed = False
        self._db = db
        self._options = options
        self._renewed_at = 0.0
        self._tasks: list[asyncio.Task[None]] = []

    async def enter(self) -> None:
        """Take a lease, and keep it in the background. Raises `DatabaseUnavailableError`."""
        await self._enter()
        self._tasks = [
            asyncio.create_task(self._beat(), name="yuzui-heartbeat"),
            asyncio.create_task(self._watch(), name="yuzui-watchdog"),
        ]

    async def leave(self) -> None:
        """Give the lease back: what this process still holds is free at once."""
        await end(*self._tasks)
        with suppress(DatabaseUnavailableError):
            await self._db.execute(_LEAVE, id=self.id)

    async def bury_dead(self) -> list[str]:
        """Mark workers of this machine whose process is gone; their ids."""
        rows = await self._db.rows(_LOCAL, host_id=processes.host_id(), id=self.id)
        dead = [row["id"] for row in rows if processes.start_time(row["pid"]) != row["pid_start"]]
        if dead:
            await self._db.execute(_BURY, ids=dead)
            _log.info("workers_lost", workers=dead)
        return dead

    async def forget_old(self) -> None:
        """Remove rows of workers that ended more than a day ago."""
        await self._db.execute(_FORGET)

    async def _enter(self) -> None:
        pid = os.getpid()
        started = asyncio.get_running_loop().time()
        await self._db.execute(
            _ENTER,
            id=self.id,
            host_id=processes.host_id(),
            pid=pid,
            pid_start=processes.start_time(pid),
            lease_s=self._options.lease_s,
        )
        self._renewed_at = started

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self._options.heartbeat_s)
            started = asyncio.get_running_loop().time()
            try:
                row = await self._db.row(_BEAT, id=self.id, lease_s=self._options.lease_s)
            except YuzuiError as error:
                _log.warning("heartbeat_failed", error=error.code)
                continue
            if row is None:
                self._lapse("removed")
                return
            self._renewed_at = started
            self.lapsed = False

    async def _watch(self) -> None:
        limit = self._options.lease_s * self._options.stop_at
        clock = asyncio.get_running_loop().time
        while True:
            await asyncio.sleep(max(0.05, min(1.0, self._renewed_at + limit - clock())))
            if clock() - self._renewed_at >= limit and not self.lapsed:
                self._lapse("not renewed")

    def _lapse(self, reason: str) -> None:
        self.lapsed = True
        _log.error("lease_lapsed", reason=reason)
        if self.on_lapse is not None:
            self.on_lapse(reason)
