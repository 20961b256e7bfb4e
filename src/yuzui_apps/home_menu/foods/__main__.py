"""Serve the food table over MCP: `python -m yuzui_apps.home_menu.foods`."""

import argparse

from yuzui_apps.home_menu.foods.server import food_server


def main() -> None:
    """Serve on stdio, or with --http on streamable HTTP at `http://HOST:PORT/mcp`."""
    parser = argparse.ArgumentParser(prog="python -m yuzui_apps.home_menu.foods", description=main.__doc__)
    parser.add_argument("--http", action="store_true", help="streamable HTTP instead of stdio")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=8801, help="the port to listen on (default: %(default)s)")
    options = parser.parse_args()
    if options.http:
        food_server().run(transport="streamable-http", host=options.host, port=options.port)
    else:
        food_server().run()


if __name__ == "__main__":
    main()
