"""Production chat agents whose model is a proposer, never a controller.

This module is the whole Python API for apps. Importing it starts nothing and loads nothing that is not asked for: a name is
imported from its home when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from yuzui.app import App
    from yuzui.bootstrap import create_asgi as asgi
    from yuzui.budget import Budget
    from yuzui.errors import InvalidInputError, NotFoundError, ToolError
    from yuzui.guard.blocks import Block
    from yuzui.owner import Caller, Owner
    from yuzui.policy import BoundedReact, Confirm, DirectRead
    from yuzui.provenance import Provenance, ProvenanceNote
    from yuzui.routing.readings import NEGATED, QUESTION_ABOUT
    from yuzui.routing.rules import ResourceId, Rule
    from yuzui.runs.queries import load as load_queries
    from yuzui.tools.context import Ctx, utc_now
    from yuzui.tools.database import Database
    from yuzui.tools.mcp import McpUnavailableError
    from yuzui.tools.observation import ToolResult
    from yuzui.tools.tool import Card

__all__ = [
    "NEGATED",
    "QUESTION_ABOUT",
    "App",
    "Block",
    "BoundedReact",
    "Budget",
    "Caller",
    "Card",
    "Confirm",
    "Ctx",
    "Database",
    "DirectRead",
    "InvalidInputError",
    "McpUnavailableError",
    "NotFoundError",
    "Owner",
    "Provenance",
    "ProvenanceNote",
    "ResourceId",
    "Rule",
    "ToolError",
    "ToolResult",
    "asgi",
    "load_queries",
    "utc_now",
]

_HOMES: Final = {
    "NEGATED": "yuzui.routing.readings",
    "QUESTION_ABOUT": "yuzui.routing.readings",
    "App": "yuzui.app",
    "Block": "yuzui.guard.blocks",
    "BoundedReact": "yuzui.policy",
    "Budget": "yuzui.budget",
    "Caller": "yuzui.owner",
    "Card": "yuzui.tools.tool",
    "Confirm": "yuzui.policy",
    "McpUnavailableError": "yuzui.tools.mcp",
    "Ctx": "yuzui.tools.context",
    "Database": "yuzui.tools.database",
    "DirectRead": "yuzui.policy",
    "InvalidInputError": "yuzui.errors",
    "NotFoundError": "yuzui.errors",
    "Owner": "yuzui.owner",
    "Provenance": "yuzui.provenance",
    "ProvenanceNote": "yuzui.provenance",
    "ResourceId": "yuzui.routing.rules",
    "Rule": "yuzui.routing.rules",
    "ToolError": "yuzui.errors",
    "ToolResult": "yuzui.tools.observation",
    "asgi": "yuzui.bootstrap:create_asgi",
    "load_queries": "yuzui.runs.queries:load",
    "utc_now": "yuzui.tools.context",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'yuzui' has no attribute {name!r}")
    module, _, attribute = home.partition(":")
    value = getattr(import_module(module), attribute or name)
    globals()[name] = value
    return value
