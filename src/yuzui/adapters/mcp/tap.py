"""Stands between the SDK and a transport: sees the end of a connection at once, and tool lists before they are judged.

The SDK refuses a whole list when one tool's schema is not an object, and learns of a dead child only with the next call.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Self

from yuzui.tools.mcp_schema import is_list, is_object
from yuzui.tools.mcp_tools import OfferedTool

_EMPTY: Mapping[str, Any] = {"type": "object"}


class Tap:
    """What passed over one connection: `lost` is set when it ended, `offered` holds the tools as the server described them."""

    def __init__(self) -> None:
        self.lost = asyncio.Event()
        self.offered: list[OfferedTool] = []
        self.last_words: Callable[[], str] = str
        self._listings: set[int | str] = set()

    def ending(self) -> str:
        """What to add to the reason why the connection is gone; empty when nobody said anything."""
        words = self.last_words()
        return f"; its last words: {words}" if words else ""

    @asynccontextmanager
    async def over(self, transport: AbstractAsyncContextManager[Any]) -> AsyncGenerator[Any]:
        """The transport, observed."""
        async with transport as (read, write):
            yield _Read(read, self), _Write(write, self)

    def sent(self, message: Any) -> None:
        """A message on its way out."""
        request = message.message
        if getattr(request, "method", "") == "tools/list":
            self._listings.add(request.id)

    def received(self, message: Any) -> None:
        """A message on its way in; the answer to a list request is copied, then made acceptable for the SDK."""
        response = getattr(message, "message", None)
        if getattr(response, "id", None) not in self._listings:
            return
        self._listings.discard(getattr(response, "id", ""))
        result = getattr(response, "result", None)
        if is_object(result) and is_list(result.get("tools")):
            tools = [tool for tool in result["tools"] if is_object(tool) and isinstance(tool.get("name"), str)]
            self.offered += [_offered(tool) for tool in tools]
            result["tools"] = [_acceptable(tool) for tool in tools]


def _offered(tool: dict[str, Any]) -> OfferedTool:
    schema, about = tool.get("inputSchema"), tool.get("description")
    hints = tool.get("annotations")
    held: Mapping[str, Any] = hints if is_object(hints) else {}
    return OfferedTool(
        name=tool["name"],
        description=about if isinstance(about, str) else "",
        schema=schema if is_object(schema) else {"type": type(schema).__name__},
        changes=held.get("readOnlyHint") is False or held.get("destructiveHint") is True,
    )


def _acceptable(tool: dict[str, Any]) -> dict[str, Any]:
    kept = {name: tool[name] for name in ("name", "description") if isinstance(tool.get(name), str)}
    schema, output = tool.get("inputSchema"), tool.get("outputSchema")
    kept["inputSchema"] = schema if is_object(schema) and schema.get("type") == "object" else dict(_EMPTY)
    if is_object(output) and output.get("type") == "object":
        kept["outputSchema"] = output
    return kept


class _Write:
    def __init__(self, inner: Any, tap: Tap) -> None:
        self._inner = inner
        self._tap = tap

    async def send(self, item: Any, /) -> None:
        self._tap.sent(item)
        await self._inner.send(item)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._inner.__aexit__(*error)


class _Read:
    def __init__(self, inner: Any, tap: Tap) -> None:
        self._inner = inner
        self._tap = tap

    @property
    def last_context(self) -> Any:
        """The sender's context variables, which the SDK reads beside an item."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> Any:
        try:
            return await self.__anext__()
        except StopAsyncIteration:
            from anyio import EndOfStream

            raise EndOfStream from None

    async def aclose(self) -> None:
        await self._inner.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        ended = True
        try:
            item = await self._inner.__anext__()
            ended = False
        finally:
            if ended:
                self._tap.lost.set()
        self._tap.received(item)
        return item

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._inner.__aexit__(*error)
