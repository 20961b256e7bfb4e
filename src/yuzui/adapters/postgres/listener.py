"""One LISTEN connection per process: announces stored events and carries control messages between processes.

It comes back by itself with a growing pause, and after each (re)connection everybody reads again, because a notice may have
been lost before LISTEN took effect.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Final, cast

import orjson
import psycopg
import structlog
from psycopg import AsyncConnection

from yuzui.adapters.postgres.background import end
from yuzui.adapters.postgres.errors import translated
from yuzui.adapters.postgres.hub import Hub
from yuzui.adapters.postgres.link import Link
from yuzui.adapters.postgres.pool import Pool
from yuzui.errors import DatabaseUnavailableError

EVENTS: Final = "yuzui_events"
CONTROL: Final = "yuzui_control"
_BACK_OFF: Final = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0)
_log = structlog.get_logger(__name__)


class Listener:
    """`listening` is whether notices arrive now; `reconnects` counts the connections after the first."""

    def __init__(self, dsn: str, pool: Pool, hub: Hub, writer: Link) -> None:
        self.listening = asyncio.Event()
        self.reconnects = -1
        self.on_control: Callable[[dict[str, Any]], None] | None = None
        self.on_connected: Callable[[], None] | None = None
        self._dsn = dsn
        self._pool = pool
        self._hub = hub
        self._writer = writer
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Connect, and go on in the background."""
        self._task = asyncio.create_task(self._run(), name="yuzui-listener")

    async def close(self) -> None:
        """Disconnect."""
        await end(self._task)

    async def send(self, message: dict[str, Any]) -> None:
        """See `Signals.send`. A lost message is made good by sweeps; the database being away is only logged."""
        try:
            with translated():
                async with self._pool.connection() as connection:
                    await connection.execute(b"SELECT pg_notify(%s, %s)", (CONTROL, orjson.dumps(message).decode()))
        except DatabaseUnavailableError as error:
            _log.warning("signal_lost", type=message.get("type"), error=error.code)

    async def _run(self) -> None:
        failures = 0
        while True:
            try:
                await self._listen()
                failures = 0
            except (psycopg.OperationalError, psycopg.InterfaceError) as error:
                if self.listening.is_set():
                    failures = 0
                self.listening.clear()
                _log.warning("listener_lost", error=str(error).strip()[:200])
            await asyncio.sleep(_BACK_OFF[min(failures, len(_BACK_OFF) - 1)])
            failures += 1

    async def _listen(self) -> None:
        connection = await AsyncConnection.connect(
            self._dsn, autocommit=True, application_name="yuzui-listener", connect_timeout=5
        )
        async with connection:
            await connection.execute(f"LISTEN {EVENTS}".encode())
            await connection.execute(f"LISTEN {CONTROL}".encode())
            self.reconnects += 1
            self.listening.set()
            self._hub.announce_all()
            if self.on_connected is not None:
                self.on_connected()
            async for notice in connection.notifies():
                if notice.channel == CONTROL:
                    self._control(notice.payload)
                elif notice.pid == self._writer.backend_pid:
                    continue  # its readers were told by the commit itself
                elif notice.payload == "*":
                    self._hub.announce_all()
                else:
                    self._hub.announce(notice.payload.split(","))

    def _control(self, payload: str) -> None:
        try:
            message = orjson.loads(payload)
        except orjson.JSONDecodeError:
            _log.warning("signal_not_understood", length=len(payload))
            return
        if self.on_control is not None and isinstance(message, dict):
            self.on_control(cast("dict[str, Any]", message))
