"""The food server's tools, as any MCP client sees them."""

from typing import Any

import pytest
from mcp import Client
from mcp.types import CallToolResult, Tool

from yuzui.tools.mcp_schema import clean_schema
from yuzui_apps.home_menu.foods.server import food_server


async def listed() -> list[Tool]:
    """The tools as a client in this process sees them."""
    async with Client(food_server()) as client:
        return (await client.list_tools()).tools


async def called(name: str, arguments: dict[str, Any]) -> CallToolResult:
    """What a client in this process gets."""
    async with Client(food_server()) as client:
        return await client.call_tool(name, arguments)


async def test_both_tools_say_that_they_only_read_and_have_schemas_fit_for_a_model() -> None:
    tools = {tool.name: tool for tool in await listed()}
    assert set(tools) == {"lookup_food", "list_foods"}
    for tool in tools.values():
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is True
        assert clean_schema(tool.input_schema)["type"] == "object"


async def test_every_default_is_valid_under_its_own_schema() -> None:
    types: dict[str, type] = {"string": str, "integer": int}
    defaults = 0
    for tool in await listed():
        for schema in tool.input_schema["properties"].values():
            if "default" in schema:
                defaults += 1
                assert type(schema["default"]) is types[schema["type"]]
                assert schema.get("minimum", 0) <= (schema["default"] or 0) <= schema.get("maximum", 0)
    assert defaults == 2


async def test_a_look_up_answers_per_100_g_with_a_source() -> None:
    result = await called("lookup_food", {"name": "猪肉"})
    assert result.structured_content is not None
    foods = result.structured_content["foods"]
    assert {food["kcal"] for food in foods} >= {395, 143, 816}
    assert all(food["per"] == "100 g" and food["source"] for food in foods)


@pytest.mark.parametrize("arguments", [{}, {"name": ""}, {"name": "蛋", "limit": 0}, {"name": "蛋", "limit": 51}])
async def test_bad_arguments_are_refused(arguments: dict[str, Any]) -> None:
    assert (await called("lookup_food", arguments)).is_error


async def test_foods_are_listed_by_category() -> None:
    listed = (await called("list_foods", {"category": "蛋类"})).structured_content
    everything = (await called("list_foods", {})).structured_content
    assert listed is not None
    assert everything is not None
    assert {food["category"] for food in listed["foods"]} == {"蛋类"}
    assert len(everything["foods"]) > len(listed["foods"])
    assert "蛋类" in everything["categories"]
