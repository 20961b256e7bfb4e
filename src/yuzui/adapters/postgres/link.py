"""One dedicated connection that heals: for the writer and for births, so that no query of an app can keep them waiting."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Final

import psycopg
from psycopg import AsyncConnection
from psycopg import errors as pg
from psycopg.rows import TupleRow
from psycopg_pool import PoolTimeout

from yuzui.adapters.postgres.pool import Connection

# Few statements, always by primary key: a plan made once is right for good, whatever the statistics of a young table say.
_PLANNING: Final = (
    "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_hashjoin = off;"
    " SET enable_mergejoin = off; SET jit = off"
)
LOST: Final = (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout)
ROLLED_BACK: Final = (pg.DeadlockDetected, pg.SerializationFailure, pg.LockNotAvailable)


class Link:
    """A connection in autocommit mode, made when it is needed and again after it broke. One statement at a time."""

    def __init__(self, dsn: str, *, transaction_pooler: bool = False, name: str = "yuzui") -> None:
        self._dsn = dsn
        self._pooler = transaction_pooler
        self._name = name
        self._connection: Connection | None = None
        self._lock = asyncio.Lock()

    @property
    def backend_pid(self) -> int | None:
        """The server process behind the connection; notices from it are this process's own."""
        connection = self._connection
        return None if connection is None or connection.closed else connection.info.backend_pid

    async def rows(self, sql: bytes, params: dict[str, Any]) -> list[TupleRow]:
        """Every row of one statement, committed. Raises psycopg's errors."""
        async with self._lock, self._healing() as connection:
            cursor = await connection.execute(sql, params, prepare=not self._pooler)
            return await cursor.fetchall()

    async def transaction(self, *statements: tuple[bytes, dict[str, Any]]) -> list[TupleRow]:
        """Several statements in one transaction; the rows of the last one."""
        async with self._lock, self._healing() as connection:
            rows: list[TupleRow] = []
            async with connection.transaction():
                for sql, params in statements:
                    rows = await (await connection.execute(sql, params, prepare=not self._pooler)).fetchall()
            return rows

    async def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            await self._connection.close()
            self._connection = None

    @asynccontextmanager
    async def _healing(self) -> AsyncGenerator[Connection]:
        """The connection; after an error that may have been its own it is not used again."""
        connection = await self._connected()
        try:
            yield connection
        except ROLLED_BACK:
            raise
        except LOST:
            self._connection = None
            await connection.close()
            raise

    async def _connected(self) -> Connection:
        if self._connection is not None and not self._connection.closed:
            return self._connection
        connection = await AsyncConnection.connect(
            self._dsn,
            autocommit=True,
            application_name=self._name,
            connect_timeout=5,
            prepare_threshold=None if self._pooler else 0,
        )
        if not self._pooler:
            try:
                await connection.execute(_PLANNING.encode(), prepare=False)
            except BaseException:
                await connection.close()
                raise
        self._connection = connection
        return connection
