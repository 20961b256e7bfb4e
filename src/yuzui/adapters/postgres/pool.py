"""The process's connections to PostgreSQL: one pool, opened once, that outlives restarts of the server."""

import select
from dataclasses import dataclass
from time import monotonic
from typing import Any, TypeAlias

import orjson
from psycopg import AsyncConnection, InterfaceError, OperationalError, ProgrammingError, sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import TupleRow
from psycopg.types.json import JsonbDumper, set_json_dumps, set_json_loads
from psycopg_pool import AsyncConnectionPool, PoolTimeout
from typing_extensions import override

from yuzui.adapters.postgres.errors import PostgresTooOldError
from yuzui.errors import DatabaseUnavailableError, SettingsError

Connection: TypeAlias = AsyncConnection[TupleRow]

MINIMUM_VERSION = 15


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolOptions:
    """`wait_s` bounds the wait for a free connection (seconds; then `database_unavailable`).

    With `transaction_pooler` (such as PgBouncer) nothing depends on the session: no prepared statements, and
    `idle_in_transaction_session_timeout` is left to the role's own setting.
    """

    min_size: int = 2
    max_size: int = 10
    wait_s: float = 5.0
    idle_in_transaction_s: float = 5.0
    transaction_pooler: bool = False


class Pool(AsyncConnectionPool[Connection]):
    """A pool whose idle connections may die with a restarted server without any request noticing.

    The library's own `check` costs a round trip each time, and waits a second after each dead connection. Here a healthy
    idle connection is told by its silence (its socket is not readable), and a dead one is replaced at once.
    """

    @override
    async def getconn(self, timeout: float | None = None) -> Connection:
        """A live connection; `PoolTimeout` when there is none within `timeout` seconds (default: the pool's)."""
        deadline = monotonic() + (self.timeout if timeout is None else timeout)
        while True:
            connection = await super().getconn(max(0.0, deadline - monotonic()))
            try:
                alive = await _is_alive(connection)
            except BaseException:
                await self.putconn(connection)
                raise
            if alive:
                return connection
            await connection.close()
            await self.putconn(connection)  # the pool opens another in its place


async def _is_alive(connection: Connection) -> bool:
    try:
        poller = select.poll()
        poller.register(connection.fileno(), select.POLLIN)
        if poller.poll(0):  # end of file, or a notice: only a round trip can tell
            await connection.execute("")
    except (OperationalError, InterfaceError):
        return False
    return True


def create_pool(dsn: str, options: PoolOptions | None = None) -> Pool:
    """A closed pool of connections in autocommit mode with tuple rows; `open_pool` opens and checks one."""
    options = options or PoolOptions()

    async def configure(connection: Connection) -> None:
        set_json_dumps(orjson.dumps, connection)
        set_json_loads(orjson.loads, connection)
        connection.adapters.register_dumper(dict, JsonbDumper)
        if not options.transaction_pooler:
            limit = sql.Literal(f"{int(options.idle_in_transaction_s * 1000)}ms")
            await connection.execute(sql.SQL("SET idle_in_transaction_session_timeout = {}").format(limit))

    kwargs: dict[str, Any] = {
        "autocommit": True,
        "application_name": "yuzui",
        "prepare_threshold": None if options.transaction_pooler else 5,
        "connect_timeout": 5,
    }
    return Pool(
        dsn,
        connection_class=AsyncConnection[TupleRow],
        kwargs=kwargs,
        min_size=options.min_size,
        max_size=options.max_size,
        timeout=options.wait_s,
        reconnect_timeout=30.0,
        max_lifetime=1800.0,
        configure=configure,
        open=False,
        name="yuzui",
    )


async def open_pool(dsn: str, options: PoolOptions | None = None, *, wait_s: float = 10.0) -> Pool:
    """An open pool over a server that answers and is recent enough.

    Raises `DatabaseUnavailableError` (at the latest after `wait_s` seconds), `PostgresTooOldError` or `SettingsError`.
    """
    await require_server(dsn, wait_s=wait_s)
    pool = create_pool(dsn, options)
    try:
        await pool.open(wait=True, timeout=wait_s)
    except PoolTimeout as error:
        await pool.close()
        raise DatabaseUnavailableError(_unreachable(dsn, "no connection in time")) from error
    return pool


async def require_server(dsn: str, *, wait_s: float = 10.0) -> int:
    """The server's major version. Raises like `open_pool`; `SettingsError` for an address that cannot be read."""
    try:
        conninfo_to_dict(dsn)
    except ProgrammingError as error:
        raise SettingsError(
            "YUZUI_DATABASE_URL is not a PostgreSQL address: postgresql://USER:PASSWORD@HOST:PORT/NAME"
        ) from error
    try:
        connection = await AsyncConnection.connect(dsn, connect_timeout=max(2, int(wait_s)), application_name="yuzui")
    except OperationalError as error:
        raise DatabaseUnavailableError(_unreachable(dsn, str(error))) from error
    async with connection:
        major = connection.info.server_version // 10_000
    if major < MINIMUM_VERSION:
        raise PostgresTooOldError(f"PostgreSQL {major} is too old; the platform needs {MINIMUM_VERSION} or newer.")
    return major


def _unreachable(dsn: str, reason: str) -> str:
    parts = conninfo_to_dict(dsn)
    where = f"{parts.get('host', 'localhost')}:{parts.get('port', 5432)}/{parts.get('dbname', '')}"
    return f"PostgreSQL at {where} cannot be reached: {' '.join(reason.split())[:300]}"
