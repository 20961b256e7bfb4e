"""The food server as people run it: a process over stdio, a process over HTTP, and the figures an answer is made of."""

import asyncio
import socket
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, cast

import psutil
import pytest
from mcp import Client, StdioServerParameters

from yuzui import Ctx, Database, ToolError
from yuzui.adapters.mcp_client import McpConnection, McpLimits, McpTarget
from yuzui.adapters.mcp_servers import McpServers
from yuzui.owner import Caller, Owner
from yuzui_apps.home_menu import app
from yuzui_apps.home_menu.nutrition import SERVER, answer_for
from yuzui_apps.home_menu.services import Menu

MODULE = ("-m", "yuzui_apps.home_menu.foods")
LIMITS = McpLimits(connect_s=30.0, wait_s=30.0, first_pause_s=0.05, longest_pause_s=0.2)
FIGURES = {
    "猪肉": 395, "豬肉": 395, "pork": 395, "肥猪肉": 816, "牛肉": 190, "羊肉": 198, "鸡蛋": 138, "排骨": 278, "豆腐": 81, "杏": 38, "杏干": 241,
    "大米": 346, "米饭": 116, "燕麦": 377, "燕麦粥": 71, "rice": 116, "红烧排骨": 278,
}  # fmt: skip


def _children() -> set[int]:
    return {child.pid for child in psutil.Process().children(recursive=True)}


async def _ended(before: set[int]) -> None:
    async with asyncio.timeout(10):
        while _children() - before:
            await asyncio.sleep(0.02)


@asynccontextmanager
async def _over_http() -> AsyncGenerator[tuple[str, asyncio.subprocess.Process]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = await asyncio.create_subprocess_exec(sys.executable, *MODULE, "--http", "--port", str(port))
    try:
        yield f"http://127.0.0.1:{port}/mcp", process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def test_R_MCP_01_a_client_starts_the_server_asks_and_leaves_no_process() -> None:
    before, started = _children(), time.monotonic()
    async with Client(StdioServerParameters(command=sys.executable, args=list(MODULE))) as client:
        assert sorted(tool.name for tool in (await client.list_tools()).tools) == ["list_foods", "lookup_food"]
        ready = time.monotonic() - started
        result = await client.call_tool("lookup_food", {"name": "猪肉"})
        rows = cast("dict[str, Any]", result.structured_content)["foods"]
        assert {row["per"] for row in rows} == {"100 g"}
        assert {395, 816} <= {row["kcal"] for row in rows}
        refused = await client.call_tool("lookup_food", {"name": "猪肉", "limit": 1000})
        assert refused.is_error
    await _ended(before)
    print(f"the food server answers {ready:.2f} s after its start")  # noqa: T201 - shown with -s
    assert ready < 20


async def test_R_MCP_01_over_http_the_server_answers_and_ends_on_a_signal() -> None:
    async with _over_http() as (url, process):
        connection = McpConnection(SERVER, McpTarget(url=url), limits=LIMITS)
        connection.start()
        result = await connection.call("lookup_food", {"name": "豆腐", "limit": 30})
        assert 81 in {row["kcal"] for row in result.structured["foods"]}
        await connection.close()
        process.terminate()
        async with asyncio.timeout(10):
            await process.wait()


@pytest.fixture
async def servers() -> AsyncIterator[McpServers]:
    """The app's own servers, as declared."""
    held = McpServers(app.servers.values(), limits=LIMITS)
    held.start()
    yield held
    await held.close()


def _context(servers: McpServers) -> Ctx[Menu]:
    db = cast("Database", None)  # nothing here touches the database
    caller = Caller(owner=Owner(tenant="family-a", user="alice"), name="alice")
    return Ctx(caller=caller, deps=Menu(db), db=db, now=datetime.now(UTC), servers=servers)


async def test_R_PROV_02_an_answer_has_the_published_figures(servers: McpServers) -> None:
    ctx = _context(servers)
    found = {food: (await answer_for(ctx, food, "100克")).value["kcal"] for food in FIGURES}
    assert found == FIGURES


async def test_R_PROV_01_amounts_and_states_are_those_of_the_table(servers: McpServers) -> None:
    ctx = _context(servers)
    eggs = (await answer_for(ctx, "鸡蛋", "两个鸡蛋")).value
    assert (eggs["grams"], eggs["kcal"], eggs["provenance"]) == (100.0, 138.0, "mcp_derived")
    milk = (await answer_for(ctx, "牛奶", "330 ml")).value
    assert (milk["grams"], milk["provenance"]) == (339.9, "mcp_derived")
    fried = (await answer_for(ctx, "煎蛋", "100克")).value
    assert (fried["matched"], fried["state"]) == ("鸡蛋（油煎）", "cooked")
    for food, amount in (("火星果", "100克"), ("pineapple butter", "100 g"), ("豆腐", "3勺")):
        with pytest.raises(ToolError):
            await answer_for(ctx, food, amount)
