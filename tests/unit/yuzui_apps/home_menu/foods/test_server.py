"""The food server's tools, as any MCP client sees them."""

from collections.abc import AsyncGenerator

import pytest
from jsonschema import Draft202012Validator
from mcp import Client

from yuzui.tools.mcp_schema import clean_schema
from yuzui_apps.home_menu.foods.server import food_server


@pytest.fixture
async def client() -> AsyncGenerator[Client]:
    """A client of the server in this process."""
    async with Client(food_server()) as made:
        yield made


async def test_both_tools_say_that_they_only_read_and_have_schemas_fit_for_a_model(client: Client) -> None:
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == {"lookup_food", "list_foods"}
    for tool in tools.values():
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is True
        assert clean_schema(tool.input_schema)["type"] == "object"


async def test_every_default_is_valid_under_its_own_schema(client: Client) -> None:
    for tool in (await client.list_tools()).tools:
        for schema in tool.input_schema["properties"].values():
            if "default" in schema:
                Draft202012Validator(schema).validate(schema["default"])


async def test_a_look_up_answers_per_100_g_with_a_source(client: Client) -> None:
    result = await client.call_tool("lookup_food", {"name": "猪肉"})
    assert result.structured_content is not None
    foods = result.structured_content["foods"]
    assert {food["kcal"] for food in foods} >= {395, 143, 816}
    assert all(food["per"] == "100 g" and food["source"] for food in foods)


@pytest.mark.parametrize("arguments", [{}, {"name": ""}, {"name": "蛋", "limit": 0}, {"name": "蛋", "limit": 51}])
async def test_bad_arguments_are_refused(client: Client, arguments: dict[str, object]) -> None:
    assert (await client.call_tool("lookup_food", arguments)).is_error


async def test_foods_are_listed_by_category(client: Client) -> None:
    listed = (await client.call_tool("list_foods", {"category": "蛋类"})).structured_content
    everything = (await client.call_tool("list_foods", {})).structured_content
    assert listed is not None
    assert everything is not None
    assert {food["category"] for food in listed["foods"]} == {"蛋类"}
    assert len(everything["foods"]) > len(listed["foods"])
    assert "蛋类" in everything["categories"]
