"""Forward-only migrations: numbered SQL files, one namespace for the core and one for each app.

A file is `NNNN_pre_name.sql` (compatible with the running code: apply before the deployment) or `NNNN_post_name.sql`
(removes what only the old code needed: apply afterwards). Each file is one transaction, so it cannot hold a statement
that refuses one (`CREATE INDEX CONCURRENTLY`). An applied file never changes; the next file changes what it did.
"""

import re
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal, TypeAlias

import psycopg
from psycopg_pool import AsyncConnectionPool

from yuzui.adapters.postgres import queries
from yuzui.adapters.postgres.errors import translated
from yuzui.adapters.postgres.pool import Connection, Pool
from yuzui.errors import YuzuiError

Phase: TypeAlias = Literal["pre", "post"]
Source: TypeAlias = tuple[str, Path]

CORE: Source = ("core", Path(__file__).parent / "migrations")

_SQL = queries.load(Path(__file__).parent / "sql" / "migrate.sql")
_LOCK, _TABLE_EXISTS = _SQL["lock"].encode(), _SQL["table_exists"].encode()
_CREATE_SCHEMA, _CREATE_TABLE = _SQL["create_schema"].encode(), _SQL["create_table"].encode()
_APPLIED, _RECORD = _SQL["applied"].encode(), _SQL["record"].encode()

_FILE = re.compile(r"(\d{4})_(pre|post)_[a-z0-9_]+\.sql")


class MigrationError(YuzuiError):
    """The database schema cannot be brought up to date."""

    code = "migration_failed"


class MigrationChangedError(MigrationError):
    """A migration that was already applied has been edited since."""

    code = "migration_changed"


class DatabaseNewerError(MigrationError):
    """The database was migrated by a newer version of the program."""

    code = "database_newer"


@dataclass(frozen=True, kw_only=True, slots=True)
class Migration:
    """One file. `checksum` is the SHA-256 of its text with LF line ends, whatever the checkout made of them."""

    namespace: str
    number: int
    phase: Phase
    name: str
    sql: str
    checksum: str

    @property
    def label(self) -> str:
        """How messages name it: `core/0001_pre_runs`."""
        return f"{self.namespace}/{self.name}"


async def migrate(
    database: Connection | Pool, sources: Sequence[Source], *, phase: Phase | None = None
) -> list[Migration]:
    """Apply what is missing, in the order of the sources and of the numbers; `phase` limits it to pre or post files.

    Returns what this call applied: nothing when another process was faster. Safe to run in many processes at once. The
    connection must be in autocommit mode, outside a transaction. Raises `MigrationChangedError`, `DatabaseNewerError`,
    `MigrationError` (a file's name or SQL is bad; earlier files stay applied), `DatabaseUnavailableError`.
    """
    found = discover(sources)
    namespaces = {namespace for namespace, _ in sources}
    with translated():
        async with _connection(database) as connection:
            missing = _missing(found, namespaces, await _applied(connection), phase)
            if missing:
                await _prepare(connection)
            return [migration for migration in missing if await _apply(connection, migration)]


async def pending(
    database: Connection | Pool, sources: Sequence[Source], *, phase: Phase | None = None
) -> list[Migration]:
    """What `migrate` would apply. Raises `MigrationChangedError` and `DatabaseNewerError` like it; changes nothing."""
    found = discover(sources)
    namespaces = {namespace for namespace, _ in sources}
    with translated():
        async with _connection(database) as connection:
            return _missing(found, namespaces, await _applied(connection), phase)


def discover(sources: Sequence[Source]) -> list[Migration]:
    """Every migration of the sources in the order of application. Raises `MigrationError` for a bad name or number."""
    found: list[Migration] = []
    for namespace, folder in sources:
        if not folder.is_dir():
            raise MigrationError(f"{namespace}: there is no folder {folder}")
        files = sorted(file for file in folder.iterdir() if file.suffix == ".sql")
        numbers: dict[int, str] = {}
        for file in files:
            migration = _read(namespace, file)
            if migration.number in numbers:
                raise MigrationError(f"{migration.label} has the number of {numbers[migration.number]}")
            numbers[migration.number] = migration.name
            found.append(migration)
    return found


def _read(namespace: str, file: Path) -> Migration:
    named = _FILE.fullmatch(file.name)
    if not named:
        raise MigrationError(f"{namespace}/{file.name}: expected NNNN_pre_name.sql or NNNN_post_name.sql")
    text = file.read_text("utf-8")
    return Migration(
        namespace=namespace,
        number=int(named[1]),
        phase="pre" if named[2] == "pre" else "post",
        name=file.stem,
        sql=text,
        checksum=sha256(text.encode()).hexdigest(),
    )


def _missing(
    found: Sequence[Migration], namespaces: Collection[str], applied: Mapping[tuple[str, str], str], phase: Phase | None
) -> list[Migration]:
    known = {(migration.namespace, migration.name) for migration in found}
    newer = sorted(f"{space}/{name}" for space, name in applied if space in namespaces and (space, name) not in known)
    if newer:
        raise DatabaseNewerError(
            f"The database was migrated by a newer version (unknown here: {', '.join(newer)}). "
            "Start that version, or restore a backup from before it."
        )
    missing: list[Migration] = []
    for migration in found:
        checksum = applied.get((migration.namespace, migration.name))
        if checksum is None:
            if phase in {None, migration.phase}:
                missing.append(migration)
        elif checksum != migration.checksum:
            raise MigrationChangedError(
                f"{migration.label} was applied with another text. Restore the file and put the change in a new one."
            )
    return missing


async def _applied(connection: Connection) -> dict[tuple[str, str], str]:
    exists = await (await connection.execute(_TABLE_EXISTS)).fetchone()
    if exists is None or not exists[0]:
        return {}
    rows = await (await connection.execute(_APPLIED)).fetchall()
    return {(row[0], row[1]): row[2] for row in rows}


async def _prepare(connection: Connection) -> None:
    async with connection.transaction():
        await connection.execute(_LOCK)
        await connection.execute(_CREATE_SCHEMA)
        await connection.execute(_CREATE_TABLE)


async def _apply(connection: Connection, migration: Migration) -> bool:
    try:
        async with connection.transaction():
            await connection.execute(_LOCK)
            if _missing([migration], (), await _applied(connection), None) == []:
                return False  # another process was faster
            await connection.execute(migration.sql.encode(), prepare=False)
            await connection.execute(
                _RECORD,
                {"namespace": migration.namespace, "name": migration.name, "checksum": migration.checksum},
            )
    except psycopg.OperationalError:
        raise
    except psycopg.Error as error:
        raise MigrationError(f"{migration.label}: {error}") from error
    return True


@asynccontextmanager
async def _connection(database: Connection | Pool) -> AsyncGenerator[Connection]:
    if isinstance(database, AsyncConnectionPool):
        async with database.connection() as connection:
            yield connection
    else:
        yield database
