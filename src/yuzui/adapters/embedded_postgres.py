"""The embedded PostgreSQL: with no database URL, the server brings its own and looks after it.

It survives what happens to servers: this process killed (the next one takes the running PostgreSQL over), PostgreSQL
killed (it is restarted on the same port), a pid given to another program, an interrupted first start. Health is a
connection, never a pid.
"""

import asyncio
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, Self

import psycopg
import structlog
from psycopg import sql
from psycopg.rows import TupleRow

from yuzui.adapters.embedded import postmaster
from yuzui.adapters.embedded.account import spawn_options
from yuzui.adapters.embedded.cluster import DATABASE, ENVIRONMENT, Cluster, dsn_for, prepare, reachable
from yuzui.adapters.embedded.errors import DataDirUnusableError, EmbeddedStartError
from yuzui.adapters.embedded.lock import DataDirLock
from yuzui.adapters.embedded.postmaster import Postmaster
from yuzui.adapters.embedded.tuning import arguments

_log = structlog.get_logger(__name__)

START_TIMEOUT_S: Final = 180.0  # crash recovery may have a gigabyte of WAL to replay
_ORPHAN_GRACE_S: Final = 3.0
_LOG_LIMIT: Final = 16 * 2**20
_ATTEMPTS: Final = 8


class EmbeddedPostgres:
    """One PostgreSQL under `<data_dir>/postgres`, owned by one server at a time.

    `with` and `async with` start and stop it and give the DSN. `start` and `stop` block (0.2 s warm, 0.6 s the first time);
    on an event loop use `async with`. Errors: `DataDirInUseError`, `DataDirUnusableError`, `EmbeddedStartError`.
    """

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir.absolute()
        self.log_path = self.data_dir / "postgres.log"
        self._lock = DataDirLock(self.data_dir)
        self._busy = threading.Lock()
        self._cluster: Cluster | None = None
        self._port: int | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._stopped = False
        self.restarts = 0

    def start(self) -> str:
        """Start PostgreSQL, or take over the one that a killed server left running; the DSN of its database."""
        with self._busy:
            self._stopped = False
            try:
                self.data_dir.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise DataDirUnusableError(f"{self.data_dir} cannot be made: {error.strerror}.") from error
            self._lock.acquire()
            try:
                self._cluster = prepare(self.data_dir)
                self._port = self._ensure_running(self._cluster, None)
                return self._cluster.dsn(self._port)
            except OSError as error:
                self._lock.release()
                raise DataDirUnusableError(f"{self.data_dir} cannot be used: {error}") from error
            except BaseException:
                self._lock.release()
                raise

    def stop(self) -> None:
        """Stop PostgreSQL in order (fast shutdown), and free the data directory. Harmless when it is not running."""
        with self._busy:
            self._stopped = True
            if self._cluster is not None and (running := postmaster.find(self._cluster.path)):
                running.signal(signal.SIGINT)
                if not self._wait_for(running, 60):
                    running.signal(signal.SIGQUIT)  # crash-safe: the next start recovers from the WAL
                    self._wait_for(running, 10)
            self._reap()
            self._cluster = None
            self._lock.release()

    async def watch(self, *, interval_s: float = 5.0) -> None:
        """Keep PostgreSQL alive until cancelled: notice its death at once, start it again on the same port.

        One idle connection is the alarm (it breaks when PostgreSQL dies); every `interval_s` seconds it is also asked to
        answer. A PostgreSQL that lives but does not answer (recovering, overloaded) is left alone.
        """
        if self._cluster is None or self._port is None:
            raise RuntimeError("start the embedded PostgreSQL before watching it")
        dsn = self._cluster.dsn(self._port)
        while True:
            try:
                await _until_lost(dsn, interval_s)
            except (psycopg.Error, TimeoutError) as error:
                _log.warning("embedded_postgres.lost", reason=str(error).strip())
            try:
                await asyncio.to_thread(self.revive)
            except EmbeddedStartError as error:
                _log.exception("embedded_postgres.restart_failed", reason=error.detail)
            await asyncio.sleep(min(1.0, interval_s))

    def revive(self) -> bool:
        """Start PostgreSQL again on its port if it is dead; True when that was needed. Blocks until it answers."""
        with self._busy:
            if self._stopped or self._cluster is None or self._port is None:
                return False
            self._reap()
            if postmaster.find(self._cluster.path) is not None:
                return False
            self._ensure_running(self._cluster, self._port)
            self.restarts += 1
            _log.warning("embedded_postgres.restarted", port=self._port, restarts=self.restarts)
            return True

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self.start)
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.stop)

    @property
    def dsn(self) -> str:
        """The address of the running server's database."""
        if self._cluster is None or self._port is None:
            raise RuntimeError("the embedded PostgreSQL is not started")
        return self._cluster.dsn(self._port)

    def _ensure_running(self, cluster: Cluster, port: int | None) -> int:
        """Attach to a live postmaster or start one (on `port`, else on a free one); the port on which it answers."""
        deadline = time.monotonic() + START_TIMEOUT_S
        for _ in range(_ATTEMPTS):
            running = postmaster.find(cluster.path)
            if running is None:
                answering = self._launch(cluster, port if port is not None else free_port(), deadline)
            else:
                answering = _attach(cluster, running, deadline)
            if answering is not None:
                return answering
            if time.monotonic() > deadline:
                break
        raise EmbeddedStartError(f"PostgreSQL did not start; the end of {self.log_path}:\n{self._log_tail()}")

    def _launch(self, cluster: Cluster, port: int, deadline: float) -> int | None:
        postmaster.end_orphans(cluster.path, grace_s=_ORPHAN_GRACE_S)
        postmaster.clear_reused(cluster.path)
        self._child = self._spawn(cluster, port)
        child = self._child
        return port if _answers(cluster, port, lambda: child.poll() is None, deadline) else None

    def _spawn(self, cluster: Cluster, port: int) -> subprocess.Popen[bytes]:
        if self.log_path.exists() and self.log_path.stat().st_size > _LOG_LIMIT:
            os.replace(self.log_path, self.log_path.with_suffix(".log.1"))
        log = os.open(self.log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            with reachable(cluster.path, cluster.account) as (name, descriptors):
                return subprocess.Popen(  # noqa: S603 - our own program, no word of it from a user
                    [str(cluster.bin_dir / "postgres"), "-D", name, *arguments(port)],
                    cwd="/",
                    env=ENVIRONMENT,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    pass_fds=descriptors,
                    start_new_session=True,  # the terminal's Ctrl-C is for us; PostgreSQL stops after we have
                    **spawn_options(cluster.account),
                )
        finally:
            os.close(log)

    def _wait_for(self, running: Postmaster, seconds: float) -> bool:
        if self._child is not None and self._child.pid == running.pid:
            try:
                self._child.wait(seconds)
            except subprocess.TimeoutExpired:
                return False
            return True
        return running.wait(seconds)

    def _reap(self) -> None:
        if self._child is not None and self._child.poll() is not None:
            self._child = None

    def _log_tail(self) -> str:
        if not self.log_path.exists():
            return "(no log)"
        return "\n".join(self.log_path.read_text("utf-8", "replace").splitlines()[-12:])


def running_dsn(data_dir: Path) -> str | None:
    """The address of the PostgreSQL that another process of this user runs under `data_dir`, or None.

    For commands beside a running server: takes no lock, starts and changes nothing.
    """
    password = data_dir / "postgres.password"
    try:
        running = postmaster.find(data_dir / "postgres")
        if running is None or running.port is None:
            return None
        return dsn_for(password.read_text("utf-8").strip(), running.port)
    except OSError:
        return None


def _attach(cluster: Cluster, running: Postmaster, deadline: float) -> int | None:
    if running.port is None:  # it has not written its port yet, or is on its way out
        running.wait(0.2)
        return None
    return running.port if _answers(cluster, running.port, running.is_alive, deadline) else None


def _answers(cluster: Cluster, port: int, alive: Callable[[], bool], deadline: float) -> bool:
    """Wait until the server answers with our password and has our database; False when it ended or time is up.

    SCRAM proves both sides: a stranger on the port cannot pass for the cluster.
    """
    pause = 0.005
    while alive() and time.monotonic() < deadline:
        try:
            with psycopg.connect(
                cluster.dsn(port, "postgres"), autocommit=True, connect_timeout=2, require_auth="scram-sha-256"
            ) as connection:
                _ensure_database(connection)
                return True
        except psycopg.OperationalError as error:
            if "authentication" in str(error):
                raise EmbeddedStartError(
                    f"The PostgreSQL on port {port} does not accept the password in {cluster.path}.password."
                ) from error
            time.sleep(pause)
            pause = min(0.1, pause * 1.5)
    return False


def _ensure_database(connection: psycopg.Connection[TupleRow]) -> None:
    found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone()
    if found is None:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))


async def _until_lost(dsn: str, interval_s: float) -> None:
    """Hold one connection and return by an exception as soon as it breaks or does not answer for 10 seconds."""
    async with await psycopg.AsyncConnection.connect(
        dsn, autocommit=True, connect_timeout=5, application_name="yuzui-watch"
    ) as connection:
        while True:
            async for _ in connection.notifies(timeout=interval_s):
                continue
            await asyncio.wait_for(connection.execute("SELECT 1"), timeout=10)


def free_port() -> int:
    """A port of the loopback interface that is free at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
