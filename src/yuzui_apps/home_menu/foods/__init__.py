"""A food-composition MCP server: `python -m yuzui_apps.home_menu.foods` (stdio, or `--http`)."""
