"""The durable heart of one process: every store, the writer, the listener, the lease, the sweeps, in the order they depend."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from yuzui.adapters.postgres.actions import PostgresActions
from yuzui.adapters.postgres.audit import PostgresAudit
from yuzui.adapters.postgres.births import Births, Limits
from yuzui.adapters.postgres.claims import PostgresClaims
from yuzui.adapters.postgres.database import PooledDatabase
from yuzui.adapters.postgres.hub import Hub
from yuzui.adapters.postgres.jobs import JobQueue
from yuzui.adapters.postgres.link import Link
from yuzui.adapters.postgres.listener import Listener
from yuzui.adapters.postgres.pool import Pool
from yuzui.adapters.postgres.runs import PostgresRuns
from yuzui.adapters.postgres.sessions import PostgresSessions
from yuzui.adapters.postgres.sweeper import Sweeper
from yuzui.adapters.postgres.workers import LeaseOptions, Workers
from yuzui.adapters.postgres.writer import Writer
from yuzui.runs.dispatcher import DispatchOptions, RunDispatcher
from yuzui.runs.ids import new_id
from yuzui.runs.log import AttemptLog
from yuzui.runs.run import Accepted, Claim, NewRun
from yuzui.runs.viewing import Viewing, ViewingOptions

Execute = Callable[[Claim, AttemptLog], Awaitable[None]]


@dataclass(frozen=True, kw_only=True, slots=True)
class HeartOptions:
    """Times in seconds. `dispatch.concurrency` 0 makes a process that accepts and reads, and takes no queued run."""

    tick_s: float = 0.01
    poll_s: float = 2.0
    sweep_s: float = 1.0
    shutdown_grace_s: float = 10.0
    transaction_pooler: bool = False
    limits: Limits = field(default_factory=Limits)
    lease: LeaseOptions = field(default_factory=LeaseOptions)
    dispatch: DispatchOptions = field(default_factory=DispatchOptions)
    viewing: ViewingOptions = field(default_factory=ViewingOptions)


class Heart:
    """What `beating` opened. The stores are ports of `runs/`; `writer`, `hub` and `listener` show counters and health."""

    def __init__(self, pool: Pool, dsn: str, execute: Execute, options: HeartOptions) -> None:
        db = PooledDatabase(pool)
        self.options = options
        self.worker_id = new_id("wrk")
        self.hub = Hub(pool, poll_s=options.poll_s)
        pooler = options.transaction_pooler
        writing = Link(dsn, transaction_pooler=pooler, name="yuzui-writer")
        self.writer = Writer(writing, self.hub, tick_s=options.tick_s)
        self.births = Births(
            Link(dsn, transaction_pooler=pooler, name="yuzui-births"), self.worker_id, self, options.limits
        )
        self.runs = PostgresRuns(db, worker_id=self.worker_id, births=self.births, writer=self.writer, hub=self.hub)
        self.sessions = PostgresSessions(db, self._cancel)
        self.actions = PostgresActions(db)
        self.ledger = PostgresClaims(db)
        self.audit = PostgresAudit(db)
        self.listener = Listener(dsn, pool, self.hub, writing)
        self.workers = Workers(db, self.worker_id, options.lease)
        self.sweeper = Sweeper(
            db, self.runs, self.workers, every_s=options.sweep_s, max_attempts=options.dispatch.max_attempts
        )
        self.jobs = JobQueue(dsn, self._run_queued, concurrency=max(1, options.dispatch.concurrency))
        self.dispatcher = RunDispatcher(
            execute=execute,
            attempts=self.runs,
            jobs=self.jobs,
            viewing=Viewing(signals=self.listener, cancel=self.runs.cancel, options=options.viewing),
            options=options.dispatch,
        )
        self._messages: set[asyncio.Future[None]] = set()
        self._connect()

    async def submit(self, new: NewRun) -> Accepted:
        """Accept a run that is decided already (a confirmed action), and work on it here at once when its session is free."""
        accepted = await self.runs.accept(new, claim=True)
        if accepted.claim is not None:
            self.dispatcher.start(accepted.claim)
        return accepted

    def born(self, accepted: Accepted, events: list[Any]) -> None:
        """See `Nursery.born`."""
        self.runs.born(accepted, events)

    def abandoned(self, claim: Claim) -> None:
        """See `Nursery.abandoned`."""
        self.dispatcher.start(claim)

    async def start(self) -> None:
        """Begin. Raises `DatabaseUnavailableError`."""
        await self.workers.enter()
        await self.jobs.open()
        self.hub.start()
        self.writer.start()
        self.births.start()
        await self.listener.start()
        self.sweeper.start()
        if self.options.dispatch.concurrency > 0:
            self.jobs.work()

    async def stop(self) -> None:
        """End: take nothing new, let runs end or hand them over, write what waits, and give the lease back."""
        self.births.closing = True
        await self.sweeper.close()
        await self.jobs.stop_work()
        await self.dispatcher.stop(grace_s=self.options.shutdown_grace_s)
        await self.births.close()
        await self.writer.close()
        await self.workers.leave()
        await self.listener.close()
        await self.hub.close()
        await self.jobs.close()
        for task in self._messages:
            task.cancel()
        if self._messages:
            await asyncio.wait(self._messages)

    def _connect(self) -> None:
        self.writer.on_next = self.dispatcher.offer
        self.runs.on_queued = self.dispatcher.offer
        self.runs.on_cancel = self._stop_run
        self.sweeper.on_queued = self.dispatcher.offer
        self.workers.on_lapse = self.dispatcher.let_go
        self.listener.on_control = self._heard

    async def _run_queued(self, run_id: str) -> None:
        await self.dispatcher.run_queued(run_id)

    async def _cancel(self, run_id: str, by: str, reason: str) -> None:
        await self.runs.cancel(run_id, by=by, reason=reason)

    def _stop_run(self, run_id: str, by: str, reason: str) -> None:
        """Stop it here, or ask the process that works on it; the sweep there makes up for a lost message."""
        if not self.dispatcher.cancel(run_id, by, reason):
            self._spawn(self.listener.send({"type": "cancel", "run_id": run_id, "by": by, "reason": reason}))

    def _heard(self, message: dict[str, Any]) -> None:
        if message.get("type") == "cancel":
            self.dispatcher.cancel(str(message["run_id"]), str(message["by"]), str(message["reason"]))
        elif (answer := self.dispatcher.heard(message)) is not None:
            self._spawn(answer)

    def _spawn(self, sending: Awaitable[None]) -> None:
        task = asyncio.ensure_future(sending)
        self._messages.add(task)
        task.add_done_callback(self._messages.discard)


@asynccontextmanager
async def beating(pool: Pool, dsn: str, execute: Execute, options: HeartOptions | None = None) -> AsyncGenerator[Heart]:
    """A heart that beats inside the block, over a migrated database (`CORE` migrations and `migrate_jobs`).

    Raises `DatabaseUnavailableError` when it cannot begin.
    """
    heart = Heart(pool, dsn, execute, options or HeartOptions())
    try:
        await heart.start()
        yield heart
    finally:
        await heart.stop()
