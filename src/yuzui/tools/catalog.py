"""The catalog: what one request may use, and what the model therefore sees (R-TOOL-01)."""

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from yuzui.errors import RequiredToolMissingError
from yuzui.model.port import ToolSpec
from yuzui.tools.tool import AnyTool, ReadTool, WriteTool


@dataclass(frozen=True, kw_only=True, slots=True)
class Catalog:
    """Reads the engine may call, writes it may propose as drafts, and a version that is a pure function of both."""

    reads: Mapping[str, ReadTool]
    drafts: Mapping[str, WriteTool]
    required: tuple[str, ...]
    version: str

    def specs(self) -> tuple[ToolSpec, ...]:
        """What the model sees, sorted by name so that a provider's prompt cache holds."""
        tools: list[AnyTool] = [*self.reads.values(), *self.drafts.values()]
        return tuple(
            ToolSpec(name=tool.name, description=tool.description, parameters=tool.schema)
            for tool in sorted(tools, key=lambda tool: tool.name)
        )

    def names(self) -> tuple[str, ...]:
        """All names in the catalog, sorted."""
        return tuple(sorted([*self.reads, *self.drafts]))


def compile_catalog(
    registry: Mapping[str, AnyTool],
    *,
    reads: Collection[str],
    drafts: Collection[str] = (),
    required: Collection[str] = (),
    unavailable: Collection[str] = (),
) -> Catalog:
    """Policy ∩ what is available now. Raises `RequiredToolMissingError` naming each required tool that is not there (R-POL-06)."""
    missing = sorted(name for name in required if name not in registry or name in unavailable)
    if missing:
        raise RequiredToolMissingError(f"required tool not available: {', '.join(missing)}")
    held_reads: dict[str, ReadTool] = {}
    held_drafts: dict[str, WriteTool] = {}
    for name in sorted(set(reads)):
        tool = registry.get(name)
        if isinstance(tool, ReadTool) and name not in unavailable:
            held_reads[name] = tool
    for name in sorted(set(drafts)):
        tool = registry.get(name)
        if isinstance(tool, WriteTool) and name not in unavailable:
            held_drafts[name] = tool
    version = _version([*held_reads.values(), *held_drafts.values()])
    return Catalog(reads=held_reads, drafts=held_drafts, required=tuple(sorted(required)), version=version)


def _version(tools: list[AnyTool]) -> str:
    content: list[dict[str, Any]] = [
        {"name": tool.name, "description": tool.description, "schema": tool.schema, "effect": tool.effect}
        for tool in tools
    ]
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
