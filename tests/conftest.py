"""Real PostgreSQL for every test that wants one: one server for the session, a fresh database for each test."""

import os
import secrets
import shutil
import signal
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from yuzui.adapters.embedded import postmaster
from yuzui.adapters.embedded.errors import DataDirInUseError
from yuzui.adapters.embedded.lock import LOCK_NAME, DataDirLock
from yuzui.adapters.embedded_postgres import EmbeddedPostgres
from yuzui.adapters.postgres.migrate import CORE, migrate

_PREFIX = "yuzui-test-"


@pytest.fixture(scope="session")
def scratch_root() -> Path:
    """Where tests put clusters: in memory where that is possible, because a disk takes 30 times as long to clone one."""
    memory = Path("/dev/shm")  # noqa: S108 - folders in it are made by mkdtemp
    if memory.is_dir() and os.access(memory, os.W_OK):
        room = os.statvfs(memory)
        if not room.f_flag & os.ST_NOEXEC and room.f_bavail * room.f_frsize > 2**30:
            return memory
    return Path(tempfile.gettempdir())


@pytest.fixture(scope="session")
def postgres_dsn(scratch_root: Path) -> Iterator[str]:
    """A server where databases can be created: YUZUI_TEST_DATABASE_URL, or an embedded one for this session."""
    if given := os.environ.get("YUZUI_TEST_DATABASE_URL"):
        yield given
        return
    _sweep(scratch_root)
    with (
        tempfile.TemporaryDirectory(prefix=f"{_PREFIX}session-", dir=scratch_root) as folder,
        EmbeddedPostgres(Path(folder)) as server,
    ):
        yield server.dsn


@pytest.fixture
def database_url(postgres_dsn: str) -> Iterator[str]:
    """An empty database for one test."""
    name = _create(postgres_dsn)
    yield _address(postgres_dsn, name)
    _drop(postgres_dsn, name)


@pytest.fixture(scope="session")
async def template_database(postgres_dsn: str) -> AsyncIterator[str]:
    """The name of a database with the core's schema, to clone; nobody may stay connected to it."""
    name = _create(postgres_dsn)
    async with await psycopg.AsyncConnection.connect(_address(postgres_dsn, name), autocommit=True) as connection:
        await migrate(connection, [CORE])
    yield name
    _drop(postgres_dsn, name)


@pytest.fixture
def migrated_dsn(postgres_dsn: str, template_database: str) -> Iterator[str]:
    """A database for one test with the core's schema applied, cloned from a template (about 10 ms in memory)."""
    name = _create(postgres_dsn, template=template_database)
    yield _address(postgres_dsn, name)
    _drop(postgres_dsn, name)


def _address(server: str, database: str) -> str:
    parts = conninfo_to_dict(server)
    user, password = (quote(str(parts.get(part, "")), safe="") for part in ("user", "password"))
    return f"postgresql://{user}:{password}@{parts['host']}:{parts.get('port', 5432)}/{database}"


def _create(server: str, template: str = "template1") -> str:
    name = f"test_{secrets.token_hex(6)}"
    with psycopg.connect(server, autocommit=True) as connection:
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
        connection.execute(statement.format(sql.Identifier(name), sql.Identifier(template)))
    return name


def _drop(server: str, name: str) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def _sweep(root: Path) -> None:
    """Remove the servers of test sessions that were killed: their lock is free, although they are not brand new."""
    for folder in root.glob(f"{_PREFIX}session-*"):
        made = folder / LOCK_NAME
        if not made.exists() or time.time() - made.stat().st_mtime < 60:
            continue
        lock = DataDirLock(folder)
        try:
            lock.acquire()
        except DataDirInUseError:
            continue
        if running := postmaster.find(folder / "postgres"):
            running.signal(signal.SIGQUIT)
            running.wait(10)
        lock.release()
        shutil.rmtree(folder, ignore_errors=True)
