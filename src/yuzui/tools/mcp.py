"""The port to an MCP server: what a tool's own code may ask of it (R-MCP-01)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from yuzui.errors import YuzuiError


class McpUnavailableError(YuzuiError):
    """An external tool server is not available right now."""

    code = "mcp_unavailable"
    status = 503
    retryable = True


class McpToolFailedError(YuzuiError):
    """An external tool answered with an error."""

    code = "mcp_tool_failed"
    status = 502


@dataclass(frozen=True, kw_only=True, slots=True)
class McpTool:
    """A tool as its server describes it; `pin` is the hash of name, description and schema."""

    name: str
    description: str
    schema: Mapping[str, Any]
    pin: str


@dataclass(frozen=True, kw_only=True, slots=True)
class McpResult:
    """What a call returned: structured content when the server gave it, and its text parts joined."""

    structured: Any
    text: str


class McpServer(Protocol):
    """One MCP server. Above: services of apps, the catalog. Below: `mcp.Client` over stdio or HTTP, or memory in tests."""

    @property
    def name(self) -> str:
        """The declared name."""
        ...

    @property
    def state(self) -> Literal["up", "down"]:
        """Whether calls have a chance now."""
        ...

    @property
    def reason(self) -> str:
        """Why it is down; empty when up."""
        ...

    async def list_tools(self) -> Sequence[McpTool]:
        """The tools that may be used. Raises `McpUnavailableError`."""
        ...

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> McpResult:
        """Call a tool; only the given fields are sent. Raises `McpUnavailableError` or `McpToolFailedError`."""
        ...
