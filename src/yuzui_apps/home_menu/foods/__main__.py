"""Serve the food table over MCP."""

import argparse

from mcp.server import MCPServer

from yuzui_apps.home_menu.foods.table import candidates, foods

server = MCPServer("food-composition", instructions="Food composition per 100 g of edible portion, with sources.")


@server.tool()
def lookup_food(name: str, limit: int = 10) -> dict[str, object]:
    """Foods that fit a name in Chinese or English: figures per 100 g, state (raw, cooked, dried), category and source."""
    return {"foods": [food.public() for food in candidates(name, max(1, min(limit, 50)))]}


@server.tool()
def list_foods(category: str = "") -> dict[str, object]:
    """The names of all foods, or of one category, with their categories."""
    held = [food for food in foods() if not category or food.category == category]
    return {"foods": [{"name": food.name, "category": food.category, "state": food.state} for food in held]}


def main() -> None:
    """Serve on stdio, or on streamable HTTP at `http://HOST:PORT/mcp`."""
    parser = argparse.ArgumentParser(prog="python -m yuzui_apps.home_menu.foods", description=main.__doc__)
    parser.add_argument("--http", action="store_true", help="streamable HTTP instead of stdio")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8801)
    options = parser.parse_args()
    if options.http:
        server.run(transport="streamable-http", host=options.host, port=options.port)
    else:
        server.run()


if __name__ == "__main__":
    main()
