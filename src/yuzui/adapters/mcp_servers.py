"""The MCP servers of one app: started together, closed together, asked for by name."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Final

from yuzui.adapters.mcp_client import McpConnection, McpLimits, McpPolicy, McpStatus, McpTarget
from yuzui.app import McpDeclaration
from yuzui.tools.mcp import McpServer, McpUnavailableError

NO_PINS: Final[Mapping[str, Mapping[str, str]]] = {}


class McpServers:
    """What an app declared with `App.mcp`. An instance is the `servers` of a `Ctx`: call it with a server's name.

    `pins` maps a server's name to what was approved of it before; without them a tool is taken as it is first seen.
    """

    def __init__(
        self,
        declarations: Iterable[McpDeclaration],
        *,
        limits: McpLimits | None = None,
        pins: Mapping[str, Mapping[str, str]] = NO_PINS,
    ) -> None:
        self._held = {
            declared.name: McpConnection(
                declared.name,
                McpTarget(command=declared.command, url=declared.url),
                policy=McpPolicy(only=declared.only, pins=pins.get(declared.name)),
                limits=limits,
            )
            for declared in declarations
        }

    def start(self) -> None:
        """Begin to connect to all of them; returns at once, whatever state they are in."""
        for connection in self._held.values():
            connection.start()

    async def close(self) -> None:
        """End all connections and child processes."""
        await asyncio.gather(*(connection.close() for connection in self._held.values()))

    def __call__(self, name: str) -> McpServer:
        """The server of that name. Raises `McpUnavailableError` when the app declared none."""
        if name not in self._held:
            raise McpUnavailableError(f"no MCP server is called {name!r}")
        return self._held[name]

    def status(self) -> tuple[McpStatus, ...]:
        """The state of each, by name."""
        return tuple(self._held[name].status() for name in sorted(self._held))
