"""Which tools of a foreign server may be used, and under which names: pure functions of what it says (R-MCP-01).

Nothing here depends on the order in which servers connect or list their tools, so every worker sees the same catalog.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from yuzui.tools.mcp import McpTool
from yuzui.tools.mcp_schema import UnfitSchemaError, clean_schema

MAX_NAME: Final = 64  # what providers of models accept
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9-]+|_{2,}")


@dataclass(frozen=True, kw_only=True, slots=True)
class OfferedTool:
    """A tool as it came from the server, before anything was checked. `changes` says that the server calls it no read."""

    name: str
    description: str
    schema: Mapping[str, Any]
    changes: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing:
    """The tools of a server that may be used, by name, and the reason for each one that may not."""

    tools: Mapping[str, McpTool]
    refused: Mapping[str, str]


def public_name(server: str, tool: str) -> str:
    """The name of a foreign tool in a catalog, `mcp__SERVER__TOOL`: a pure function of both names.

    Names that do not fit (other characters, a double underscore, too long) get a hash of the originals, so that two
    different tools never share one.
    """
    parts = [_NOT_IN_NAMES.sub("_", part) for part in (server, tool)]
    name = "mcp__" + "__".join(parts)
    if parts == [server, tool] and len(name) <= MAX_NAME:
        return name
    digest = hashlib.sha256(json.dumps([server, tool]).encode()).hexdigest()[:8]
    return f"{name[: MAX_NAME - 9]}_{digest}"


def tool_pin(name: str, description: str, schema: Mapping[str, Any]) -> str:
    """SHA-256 of what was approved: name, description and schema. The order of keys does not matter, everything else does."""
    text = json.dumps([name, description, schema], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def listing(
    offered: Sequence[OfferedTool],
    *,
    only: Collection[str] = (),
    pins: Mapping[str, str] | None = None,
    may_change: bool = False,
) -> Listing:
    """Which of the offered tools may be used.

    `only` names the wanted ones (none: all of them). `pins` holds what was approved before; a tool that differs from its
    pin is refused, and so is a new one that nobody named in `only`. `may_change` is an administrator's word that tools
    which change something may be used too.
    """
    counts = Counter(tool.name for tool in offered)
    refused = {name: "the server does not offer it" for name in only if name not in counts}
    tools: dict[str, McpTool] = {}
    for tool in sorted(offered, key=lambda tool: tool.name):
        if only and tool.name not in only:
            continue
        if counts[tool.name] > 1:
            refused[tool.name] = f"the server offers {counts[tool.name]} tools of this name"
        elif tool.changes and not may_change:
            refused[tool.name] = "it changes something, and this server is enabled for reading only"
        else:
            _judge(tool, only=only, pins=pins, tools=tools, refused=refused)
    return Listing(tools=tools, refused=refused)


def _judge(
    tool: OfferedTool,
    *,
    only: Collection[str],
    pins: Mapping[str, str] | None,
    tools: dict[str, McpTool],
    refused: dict[str, str],
) -> None:
    pin = tool_pin(tool.name, tool.description, tool.schema)
    approved = (pins or {}).get(tool.name)
    if approved is not None and approved != pin:
        refused[tool.name] = "it changed since it was approved"
    elif approved is None and pins is not None and tool.name not in only:
        refused[tool.name] = "it is new and nobody approved it"
    else:
        try:
            schema = clean_schema(tool.schema)
        except UnfitSchemaError as error:
            refused[tool.name] = str(error)
        else:
            tools[tool.name] = McpTool(name=tool.name, description=tool.description, schema=schema, pin=pin)
