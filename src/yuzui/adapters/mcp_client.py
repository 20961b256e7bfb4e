"""One MCP server over stdio or streamable HTTP, kept connected by a task of its own (R-MCP-01).

Starting it never waits for the server: a server that is down is retried with growing pauses, and until then every call
says so at once. A connection that breaks is renewed; a child process that dies is started again.
"""

import asyncio
import importlib
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from yuzui.adapters.mcp.child_log import child_log
from yuzui.adapters.mcp.tap import Tap
from yuzui.tools.mcp import McpResult, McpTool, McpToolFailedError, McpUnavailableError
from yuzui.tools.mcp_schema import sendable
from yuzui.tools.mcp_tools import Listing, listing
from yuzui.tools.redact import redact_text

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult

MAX_PAGES: Final = 20
# JSON-RPC codes with which the SDK reports that the connection, not the tool, is at fault; over HTTP a refused or failed
# request looks like the second group, which over stdio would be the server's own word.
_LOST: Final = frozenset({-32000, -32001})
_LOST_OVER_HTTP: Final = frozenset({-32600, -32601, -32603, -32700})


@dataclass(frozen=True, kw_only=True, slots=True)
class McpLimits:
    """Times in seconds. `wait_s` is how long a call waits for a connection that is being made, or will be within `patience_s`."""

    connect_s: float = 15.0
    call_s: float = 10.0
    wait_s: float = 5.0
    patience_s: float = 1.0
    first_pause_s: float = 0.2
    longest_pause_s: float = 30.0
    close_s: float = 10.0
    unanswered_calls: int = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class McpTarget:
    """Where a server is: a command to start it as a child process, or the URL of its streamable-HTTP endpoint."""

    command: tuple[str, ...] = ()
    url: str | None = None

    def __post_init__(self) -> None:
        if bool(self.command) == bool(self.url):
            raise ValueError("an MCP server has a command or a URL, one of them")


@dataclass(frozen=True, kw_only=True, slots=True)
class McpPolicy:
    """What of a server may be used: `only` these tools (none: all), as approved in `pins` (none: as first seen)."""

    only: frozenset[str] = frozenset()
    pins: Mapping[str, str] | None = None
    may_change: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class McpStatus:
    """What to show about a server. `retry_in_s` counts down to the next attempt while it is down."""

    name: str
    state: Literal["up", "down"]
    reason: str
    retry_in_s: float | None
    tools: tuple[str, ...]
    refused: Mapping[str, str]


@dataclass(kw_only=True, slots=True)
class _Live:
    """A connection that stands, with its tools as they were when it was made."""

    client: "Client"
    tap: Tap
    listing: Listing
    unanswered: int = 0
    answered: bool = False


class McpConnection:
    """An `McpServer` over the network or a child process. `start` once, `close` once, both on one event loop."""

    def __init__(
        self, name: str, target: McpTarget, *, policy: McpPolicy | None = None, limits: McpLimits | None = None
    ) -> None:
        self._name = name
        self._target = target
        self._policy = policy or McpPolicy()
        self._limits = limits or McpLimits()
        self._pins = None if self._policy.pins is None else dict(self._policy.pins)
        self._refused: Mapping[str, str] = {}
        self._live: _Live | None = None
        self._reason = "it was not started yet"
        self._retry_at: float | None = None
        self._closing = asyncio.Event()
        self._moved = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        """The declared name."""
        return self._name

    @property
    def state(self) -> Literal["up", "down"]:
        """Whether calls have a chance now."""
        return "down" if self._live is None else "up"

    @property
    def reason(self) -> str:
        """Why it is down; empty when up."""
        return "" if self._live else self._reason

    @property
    def pins(self) -> Mapping[str, str]:
        """What is approved: tool → pin. Give it to the next process, and a tool that changed meanwhile is refused there."""
        return dict(self._pins or {})

    def status(self) -> McpStatus:
        """A snapshot for operators."""
        live = self._live
        return McpStatus(
            name=self._name,
            state=self.state,
            reason=self.reason,
            retry_in_s=None if live or self._retry_at is None else self._pause_left(),
            tools=tuple(live.listing.tools) if live else (),
            refused=dict(self._refused),
        )

    def start(self) -> None:
        """Begin to connect in the background."""
        if self._task is None:
            self._reason = "it is being connected"
            self._task = asyncio.get_running_loop().create_task(self._keep_connected(), name=f"mcp-{self._name}")

    async def close(self) -> None:
        """End the connection and its child process; nothing of it runs afterwards."""
        self._closing.set()
        if self._task is None:
            return
        done, _ = await asyncio.wait({self._task}, timeout=self._limits.close_s)
        if not done:
            self._task.cancel()
            await asyncio.wait({self._task})
        self._reason = "it was closed"
        self._announce()

    async def list_tools(self) -> Sequence[McpTool]:
        """The tools that may be used, by name. Raises `McpUnavailableError`."""
        return tuple((await self._connected()).listing.tools.values())

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> McpResult:
        """Call a tool; only the given fields are sent.

        A read whose connection broke is sent once more over a new one. Raises `McpUnavailableError` (retryable) or
        `McpToolFailedError`.
        """
        try:
            return await self._call_once(tool, arguments)
        except _ConnectionLostError as lost:
            if self._policy.may_change:
                raise McpUnavailableError(f"{self._name}: {lost.detail}; the outcome is not known") from lost
        try:
            return await self._call_once(tool, arguments)
        except _ConnectionLostError as lost:
            raise McpUnavailableError(f"{self._name}: {lost.detail}") from lost

    async def _call_once(self, tool: str, arguments: Mapping[str, Any]) -> McpResult:
        from mcp import MCPError

        live = await self._connected()
        held = live.listing.tools.get(tool)
        if held is None:
            why = live.listing.refused.get(tool, "there is no such tool")
            raise McpToolFailedError(f"{self._name} cannot be asked for {tool}: {why}")
        try:
            async with asyncio.timeout(self._limits.call_s):
                result = await live.client.call_tool(tool, sendable(arguments, held.schema))
        except TimeoutError as error:
            self._count_unanswered(live)
            raise McpUnavailableError(f"{self._name} did not answer {tool} within {self._limits.call_s:g} s") from error
        except MCPError as error:
            if error.code in _LOST or (self._target.url and error.code in _LOST_OVER_HTTP):
                raise self._lost(live, str(error)) from error
            raise McpToolFailedError(f"{tool}: {redact_text(str(error))[:300]}") from error
        except (OSError, _broken_streams()) as error:
            raise self._lost(live, _said(error)) from error
        except RuntimeError as error:  # the SDK's word for an answer that breaks the tool's own output schema
            raise McpToolFailedError(f"{tool}: the answer does not fit the tool's own schema") from error
        live.unanswered, live.answered = 0, True
        return _result(tool, result)

    async def _connected(self) -> _Live:
        """The standing connection; waits only while there is a chance of one."""
        try:
            async with asyncio.timeout(self._limits.wait_s):
                while (live := self._live) is None:
                    if self._task is None or self._closing.is_set() or self._pause_left() > self._limits.patience_s:
                        raise self._unavailable()
                    await self._moved.wait()
        except TimeoutError:
            raise self._unavailable() from None
        return live

    def _unavailable(self) -> McpUnavailableError:
        wait = self._pause_left()
        again = f"; next attempt in {wait:.1f} s" if wait else ""
        return McpUnavailableError(f"{self._name} is not available: {self._reason}{again}", retry_after=wait or None)

    def _pause_left(self) -> float:
        return 0.0 if self._retry_at is None else max(0.0, self._retry_at - time.monotonic())

    def _count_unanswered(self, live: _Live) -> None:
        live.unanswered += 1
        if live.unanswered >= self._limits.unanswered_calls:
            self._lost(live, f"{live.unanswered} calls in a row were not answered")

    def _lost(self, live: _Live, reason: str) -> "_ConnectionLostError":
        """Give a connection up; its task makes the next one."""
        if self._live is live:
            self._live = None
            self._reason = reason
            self._announce()
        live.tap.lost.set()
        return _ConnectionLostError(reason)

    def _announce(self) -> None:
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()

    async def _keep_connected(self) -> None:
        pause = 0.0
        while not self._closing.is_set():
            proved = await self._one_connection()
            pause = 0.0 if proved else min(max(pause * 2, self._limits.first_pause_s), self._limits.longest_pause_s)
            self._retry_at = time.monotonic() + pause if pause else None
            self._announce()
            await _either(self._closing, seconds=pause)
            self._retry_at = None

    async def _one_connection(self) -> bool:
        """Connect and stay connected. True when that connection answered a call, so that the next is tried at once."""
        live: _Live | None = None
        tap = Tap()
        try:
            await asyncio.to_thread(importlib.import_module, "mcp")  # takes most of a second: not on the event loop
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(self._limits.connect_s):
                    live = await self._connect(stack, tap)
                self._live = live
                self._announce()
                await _either(self._closing, live.tap.lost)
                self._forget(live, f"the connection ended{tap.ending()}")
        except TimeoutError:
            self._forget(live, f"it did not answer within {self._limits.connect_s:g} s{tap.ending()}")
        except Exception as error:  # noqa: BLE001  the edge of a supervised connection: whatever broke it, it is made again
            self._forget(live, f"{_said(error)}{tap.ending()}")
        return live is not None and live.answered

    def _forget(self, live: _Live | None, reason: str) -> None:
        if live is None or self._live is live:
            self._live = None
            self._reason = reason

    async def _connect(self, stack: AsyncExitStack, tap: Tap) -> _Live:
        from mcp import Client

        transport = await stack.enter_async_context(self._transport(tap))
        client = await stack.enter_async_context(Client(tap.over(transport), cache=None))
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await client.list_tools(cursor=cursor)
            cursor = page.next_cursor
            if cursor is None:
                break
        return _Live(client=client, tap=tap, listing=self._judged(tap))

    def _judged(self, tap: Tap) -> Listing:
        policy = self._policy
        found = listing(tap.offered, only=policy.only, pins=self._pins, may_change=policy.may_change)
        self._pins = {**{tool.name: tool.pin for tool in found.tools.values()}, **(self._pins or {})}
        self._refused = found.refused
        return found

    @asynccontextmanager
    async def _transport(self, tap: Tap) -> AsyncGenerator[AbstractAsyncContextManager[Any]]:
        if self._target.url:
            from mcp.client.streamable_http import streamable_http_client

            yield streamable_http_client(self._target.url)
            return
        from mcp import StdioServerParameters, stdio_client

        program, *arguments = self._target.command
        async with child_log() as (log, file):
            tap.last_words = log.last_line
            yield stdio_client(StdioServerParameters(command=program, args=arguments), errlog=file)


class _ConnectionLostError(Exception):
    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


def _broken_streams() -> type[Exception]:
    from anyio import ClosedResourceError

    return ClosedResourceError


def _said(error: BaseException) -> str:
    """What went wrong, without a secret and without the groups that concurrent code wraps it in."""
    inner: BaseException = error
    while isinstance(inner, BaseExceptionGroup):
        inner = cast("BaseExceptionGroup[BaseException]", inner).exceptions[0]
    return redact_text(str(inner) or type(inner).__name__)[:300]


async def _either(*events: asyncio.Event, seconds: float | None = None) -> None:
    """Return when one of the events is set, or after `seconds`."""
    tasks = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _result(tool: str, result: "CallToolResult") -> McpResult:
    text = "\n".join(part.text for part in result.content if part.type == "text")
    if result.is_error:
        raise McpToolFailedError(f"{tool}: {redact_text(text)[:300] or 'it failed'}")
    return McpResult(structured=result.structured_content, text=text)
