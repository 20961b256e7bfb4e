"""`Database` over PostgreSQL: a connection per statement, or everything on one open transaction."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from psycopg.rows import dict_row

from yuzui.adapters.postgres.errors import CommitUncertainError, translated
from yuzui.adapters.postgres.pool import Connection, Pool
from yuzui.tools.database import Database


class TransactionDatabase:
    """`Database` bound to one connection with an open transaction (R-IDEM-03); not usable after its block."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    async def rows(self, sql: str, **params: Any) -> list[dict[str, Any]]:
        """See `Database.rows`."""
        with translated():
            return await fetch_rows(self.connection, sql, params)

    async def row(self, sql: str, **params: Any) -> dict[str, Any] | None:
        """See `Database.row`."""
        with translated():
            return await fetch_row(self.connection, sql, params)

    async def execute(self, sql: str, **params: Any) -> int:
        """See `Database.execute`."""
        with translated():
            return await run(self.connection, sql, params)

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[Database]:
        """A savepoint: an error inside undoes only what the block did."""
        with translated():
            async with self.connection.transaction():
                yield self


class PooledDatabase:
    """`Database` over the pool: every statement takes a connection, commits by itself and gives the connection back.

    After `DatabaseUnavailableError` a single write may or may not have happened: repeat only what is idempotent or fenced.
    """

    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    async def rows(self, sql: str, **params: Any) -> list[dict[str, Any]]:
        """See `Database.rows`."""
        with translated():
            async with self.pool.connection() as connection:
                return await fetch_rows(connection, sql, params)

    async def row(self, sql: str, **params: Any) -> dict[str, Any] | None:
        """See `Database.row`."""
        with translated():
            async with self.pool.connection() as connection:
                return await fetch_row(connection, sql, params)

    async def execute(self, sql: str, **params: Any) -> int:
        """See `Database.execute`."""
        with translated():
            async with self.pool.connection() as connection:
                return await run(connection, sql, params)

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[TransactionDatabase]:
        """One transaction. A connection lost while it commits raises `CommitUncertainError`; do not just repeat it."""
        with translated():
            async with self.pool.connection() as connection:
                ended = False
                try:
                    async with connection.transaction():
                        yield TransactionDatabase(connection)
                        ended = True
                except (psycopg.OperationalError, psycopg.InterfaceError) as error:
                    if ended and connection.broken:
                        raise CommitUncertainError from error
                    raise


async def fetch_rows(connection: Connection, sql: str, params: dict[str, Any]) -> list[dict[str, Any]]:
    """All rows of a statement as dicts."""
    async with connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(sql.encode(), params)
        return await cursor.fetchall() if cursor.description else []


async def fetch_row(connection: Connection, sql: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """The first row of a statement as a dict."""
    async with connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(sql.encode(), params)
        return await cursor.fetchone() if cursor.description else None


async def run(connection: Connection, sql: str, params: dict[str, Any]) -> int:
    """Execute a statement; the number of rows it touched."""
    async with connection.cursor() as cursor:
        await cursor.execute(sql.encode(), params)
        return max(0, cursor.rowcount)
