"""The food table as an MCP server with two tools, both of which only read."""

from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.types import ToolAnnotations
from pydantic import Field

from yuzui_apps.home_menu.foods.table import candidates, foods

MOST = 50
_READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)


def lookup_food(
    name: Annotated[str, Field(description="A food's name in Chinese or English", min_length=1, max_length=100)],
    limit: Annotated[int, Field(description="How many candidates at most", ge=1, le=MOST)] = 10,
) -> dict[str, Any]:
    """Foods that fit a name in Chinese or English. Every figure is per 100 g of the edible part, as `per` says.

    Each food has its aliases, category, state (raw, cooked, dried), household weights and source. The order of the
    candidates means nothing.
    """
    return {"foods": [food.public() for food in candidates(name, limit)]}


def list_foods(
    category: Annotated[str, Field(description="Only this category; all foods when empty", max_length=20)] = "",
) -> dict[str, Any]:
    """The names of all foods, or of one category, with their categories and states, and all categories there are."""
    held = [food for food in foods() if category in ("", food.category)]
    return {
        "categories": sorted({food.category for food in foods()}),
        "foods": [{"name": food.name, "category": food.category, "state": food.state} for food in held],
    }


def food_server() -> MCPServer:
    """The server; it says nothing on its standard error unless something is wrong."""
    server = MCPServer(
        "food-composition",
        instructions="Food composition per 100 g of edible portion, with sources.",
        log_level="WARNING",
    )
    for tool in (lookup_food, list_foods):
        server.tool(annotations=_READS)(tool)
    return server
