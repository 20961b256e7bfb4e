"""The job queue: procrastinate in the namespace `procrastinate` of the same database. Jobs wake workers; the truth is the run.

A job says "this run could be claimed". It may be lost, late or doubled without harm: claiming is one statement, and the
sweeper offers what nobody claimed.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import structlog
from psycopg import AsyncConnection
from psycopg.rows import TupleRow

from yuzui.adapters.postgres import queries
from yuzui.adapters.postgres.background import end
from yuzui.errors import DatabaseUnavailableError

if TYPE_CHECKING:
    import procrastinate

_SQL = queries.load(Path(__file__).parent / "sql" / "jobs.sql")
_LOCK, _VERSION = _SQL["jobs_lock"].encode(), _SQL["jobs_version"].encode()
_CREATE, _SEARCH_PATH = _SQL["jobs_create_schema"].encode(), _SQL["jobs_search_path"].encode()

TASK: Final = "yuzui.start_run"
QUEUE: Final = "runs"
_FILE = re.compile(r"(\d+)\.(\d+)\.(\d+)_\d+_(?:pre|post)_\w+\.sql")
_STALLED_AFTER_S: Final = 30.0
_BACK_OFF_S: Final = (0.2, 0.5, 1.0, 2.0, 5.0)
_log = structlog.get_logger(__name__)


async def migrate_jobs(connection: AsyncConnection[TupleRow]) -> bool:
    """Set the queue's tables up, or bring them to the installed version; True when something was done.

    The connection is in autocommit mode. Safe in many processes at once.
    """
    from procrastinate import __version__
    from procrastinate.schema import SchemaManager

    async with connection.transaction():
        await connection.execute(_LOCK)
        row = await (await connection.execute(_VERSION)).fetchone()
        if row is not None and row[0] == __version__:
            return False
        await connection.execute(_CREATE)
        await connection.execute(_SEARCH_PATH)
        if row is None:
            await connection.execute(SchemaManager.get_schema().encode(), prepare=False)
        else:
            for file in _missing(Path(SchemaManager.get_migrations_path()), since=_parts(row[0])):
                await connection.execute(file.read_text("utf-8").encode(), prepare=False)
        comment = f"COMMENT ON SCHEMA procrastinate IS '{'.'.join(map(str, _parts(__version__)))}'"
        await connection.execute(comment.encode())
    return True


def _missing(folder: Path, *, since: tuple[int, ...]) -> list[Path]:
    numbered = [(match, file) for file in folder.iterdir() if (match := _FILE.fullmatch(file.name))]
    newer = [file for match, file in numbered if tuple(int(part) for part in match.groups()) > since]
    return sorted(newer, key=lambda file: file.name)


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


class JobQueue:
    """`Jobs` of the dispatcher, and the worker that carries jobs out by calling `run_queued(run_id)`."""

    def __init__(self, dsn: str, run_queued: Callable[[str], Awaitable[None]], *, concurrency: int = 4) -> None:
        self._dsn = dsn
        self._run_queued = run_queued
        self._concurrency = concurrency
        self._app: procrastinate.App | None = None
        self._worker: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Connect. Raises `DatabaseUnavailableError`."""
        import procrastinate
        from procrastinate.exceptions import ConnectorException

        connector = procrastinate.PsycopgConnector(
            conninfo=self._dsn,
            min_size=1,
            max_size=4,
            kwargs={"options": "-c search_path=procrastinate,public", "application_name": "yuzui-jobs"},
        )
        app = procrastinate.App(connector=connector)

        async def start_run(run_id: str) -> None:
            await self._run_queued(run_id)

        app.task(name=TASK, queue=QUEUE)(start_run)
        try:
            await app.open_async()
        except ConnectorException as error:
            raise DatabaseUnavailableError from error
        self._app = app

    def work(self) -> None:
        """Carry jobs out, in the background."""
        self._worker = asyncio.create_task(self._work(), name="yuzui-jobs")

    async def stop_work(self) -> None:
        """Take no more jobs."""
        await end(self._worker)

    async def close(self) -> None:
        """Stop and disconnect."""
        await self.stop_work()
        if self._app is not None:
            await self._app.close_async()

    async def defer(self, run_id: str, *, delay_s: float = 0.0) -> None:
        """See `Jobs.defer`. Raises `DatabaseUnavailableError`."""
        from procrastinate.exceptions import AlreadyEnqueued, ConnectorException

        options: dict[str, Any] = {"schedule_in": {"milliseconds": round(delay_s * 1000)}} if delay_s > 0 else {}
        try:
            await (
                self._opened()
                .configure_task(TASK, queueing_lock=run_id, queue=QUEUE, **options)
                .defer_async(run_id=run_id)
            )
        except AlreadyEnqueued:
            return
        except ConnectorException as error:
            raise DatabaseUnavailableError from error

    async def retry_stalled(self) -> int:
        """Put jobs whose worker died back into the queue; how many."""
        from procrastinate.exceptions import ConnectorException

        manager = self._opened().job_manager
        try:
            stalled = list(await manager.get_stalled_jobs(seconds_since_heartbeat=_STALLED_AFTER_S))
            for job in stalled:
                await manager.retry_job(job)
        except ConnectorException as error:
            raise DatabaseUnavailableError from error
        return len(stalled)

    def _opened(self) -> "procrastinate.App":
        if self._app is None:
            raise RuntimeError("the job queue is not open")
        return self._app

    async def _work(self) -> None:
        """The library's worker ends when its connection does; here it begins again."""
        from procrastinate.exceptions import ConnectorException

        failures = 0
        while True:
            try:
                await self.retry_stalled()
                failures = 0
                await self._opened().run_worker_async(
                    queues=[QUEUE],
                    concurrency=self._concurrency,
                    fetch_job_polling_interval=1.0,  # its own LISTEN may begin after its first look
                    wait=True,
                    install_signal_handlers=False,
                    delete_jobs="always",
                    shutdown_graceful_timeout=2.0,
                    update_heartbeat_interval=10.0,
                )
            except (ConnectorException, DatabaseUnavailableError) as error:
                _log.warning("job_worker_lost", error=type(error).__name__)
            await asyncio.sleep(_BACK_OFF_S[min(failures, len(_BACK_OFF_S) - 1)])
            failures += 1
