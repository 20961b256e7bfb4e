"""An MCP server in memory, with the same contract as a real one."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from yuzui.tools.mcp import McpResult, McpTool, McpToolFailedError, McpUnavailableError
from yuzui.tools.mcp_schema import sendable
from yuzui.tools.mcp_tools import OfferedTool, listing
from yuzui.tools.render import as_text

Answer: TypeAlias = Callable[..., Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class FakeTool:
    """A tool and the function that answers it; a `TypeError` or `ValueError` of the function is the tool's failure."""

    name: str
    answer: Answer
    description: str = ""
    schema: Mapping[str, Any]


class FakeMcpServer:
    """An `McpServer` whose tools are functions. `calls` holds what was sent, in order; `stop` and `restart` switch it."""

    def __init__(self, name: str, tools: Sequence[FakeTool], *, only: Sequence[str] = ()) -> None:
        self._name = name
        self._answers = {tool.name: tool.answer for tool in tools}
        offered = [OfferedTool(name=tool.name, description=tool.description, schema=tool.schema) for tool in tools]
        self._listing = listing(offered, only=only)
        self._reason = ""
        self.calls: list[tuple[str, dict[str, Any]]] = []

    @property
    def name(self) -> str:
        """The declared name."""
        return self._name

    @property
    def state(self) -> Literal["up", "down"]:
        """Down between `stop` and `restart`."""
        return "down" if self._reason else "up"

    @property
    def reason(self) -> str:
        """What `stop` was told."""
        return self._reason

    def stop(self, reason: str = "it was stopped") -> None:
        """Be unavailable from now on."""
        self._reason = reason

    def restart(self) -> None:
        """Be available again."""
        self._reason = ""

    async def list_tools(self) -> Sequence[McpTool]:
        """The tools that may be used, by name."""
        self._check()
        return tuple(self._listing.tools.values())

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> McpResult:
        """Record the call and answer it."""
        self._check()
        held = self._listing.tools.get(tool)
        if held is None:
            why = self._listing.refused.get(tool, "there is no such tool")
            raise McpToolFailedError(f"{self._name} cannot be asked for {tool}: {why}")
        sent = sendable(arguments, held.schema)
        self.calls.append((tool, sent))
        try:
            answer = self._answers[tool](**sent)
            value: Any = await answer if inspect.isawaitable(answer) else answer
        except (TypeError, ValueError) as error:
            raise McpToolFailedError(f"{tool}: {error}") from error
        return McpResult(structured=value, text=as_text(value))

    def _check(self) -> None:
        if self._reason:
            raise McpUnavailableError(f"{self._name} is not available: {self._reason}")
