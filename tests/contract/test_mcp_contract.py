"""What every `McpServer` does: the fake in memory, a child process over stdio, a server over streamable HTTP (R-MCP-01)."""

import asyncio
import socket
import sys
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import psutil
import pytest

from yuzui.adapters.mcp_client import McpConnection, McpLimits, McpPolicy, McpTarget
from yuzui.testing.fake_mcp import FakeMcpServer, FakeTool
from yuzui.tools.mcp import McpServer, McpToolFailedError, McpUnavailableError
from yuzui_apps.home_menu.foods.server import lookup_food

Kind: TypeAlias = Literal["fake", "stdio", "http"]
LIMITS = McpLimits(wait_s=2.0, first_pause_s=0.05, longest_pause_s=0.2)
POLICY = McpPolicy(only=frozenset({"lookup_food"}))
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "limit": {"type": "integer", "default": 10}},
    "required": ["name"],
}
# Starts the food server unless the file named last exists, so that "the server is gone" can be arranged from outside.
GATED = (
    "import pathlib, runpy, sys\n"
    "if pathlib.Path(sys.argv.pop()).exists(): sys.exit('gone')\n"
    "runpy.run_module('yuzui_apps.home_menu.foods', run_name='__main__', alter_sys=True)\n"
)


@dataclass(kw_only=True)
class Subject:
    """The server under test, and how to take it away and bring it back."""

    server: McpServer
    stop: Callable[[], Any]
    restart: Callable[[], Any]


@pytest.fixture(params=["fake", "stdio", "http"])
async def subject(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Subject]:
    """The food server, three ways."""
    kind: Kind = request.param
    async with {"fake": in_memory, "stdio": over_stdio, "http": over_http}[kind](tmp_path / "gone") as made:
        yield made


@asynccontextmanager
async def in_memory(_gone: Path) -> AsyncGenerator[Subject]:
    tool = FakeTool(name="lookup_food", answer=lookup_food, description="Foods that fit a name.", schema=SCHEMA)
    server = FakeMcpServer("food-composition", [tool], only=["lookup_food"])

    async def stop() -> None:
        server.stop("gone")

    async def restart() -> None:
        server.restart()

    yield Subject(server=server, stop=stop, restart=restart)


@asynccontextmanager
async def over_stdio(gone: Path) -> AsyncGenerator[Subject]:
    target = McpTarget(command=(sys.executable, "-c", GATED, str(gone)))
    async with AsyncExitStack() as stack:
        server = await started(stack, target)

        async def stop() -> None:
            gone.touch()
            for child in psutil.Process().children(recursive=True):
                if str(gone) in " ".join(child.cmdline()):
                    child.kill()

        async def restart() -> None:
            gone.unlink()

        yield Subject(server=server, stop=stop, restart=restart)


@asynccontextmanager
async def over_http(_gone: Path) -> AsyncGenerator[Subject]:
    port = free_port()
    running: list[asyncio.subprocess.Process] = []

    async def restart() -> None:
        command = (sys.executable, "-m", "yuzui_apps.home_menu.foods", "--http", "--port", str(port))
        running.append(await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.DEVNULL))
        await until(lambda: listens(port))

    async def stop() -> None:
        process = running.pop()
        process.kill()
        await process.wait()

    await restart()
    async with AsyncExitStack() as stack:
        server = await started(stack, McpTarget(url=f"http://127.0.0.1:{port}/mcp"))
        try:
            yield Subject(server=server, stop=stop, restart=restart)
        finally:
            if running:
                await stop()


async def started(stack: AsyncExitStack, target: McpTarget) -> McpConnection:
    server = McpConnection("food-composition", target, policy=POLICY, limits=LIMITS)
    server.start()
    stack.push_async_callback(server.close)
    await until(lambda: server.state == "up")
    return server


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


async def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        await asyncio.sleep(0.02)


async def test_it_lists_the_permitted_tools_with_object_schemas_and_stable_pins(subject: Subject) -> None:
    (tool,) = await subject.server.list_tools()
    assert (tool.name, tool.schema["type"]) == ("lookup_food", "object")
    assert set(tool.schema["properties"]) == {"name", "limit"}
    assert [again.pin for again in await subject.server.list_tools()] == [tool.pin]
    assert (subject.server.name, subject.server.state, subject.server.reason) == ("food-composition", "up", "")


async def test_it_answers_with_structure_and_text(subject: Subject) -> None:
    result = await subject.server.call("lookup_food", {"name": "豆腐"})
    assert {food["kcal"] for food in result.structured["foods"]} >= {81.0}
    assert "豆腐" in result.text


async def test_a_field_that_was_not_given_or_is_null_is_left_to_the_server(subject: Subject) -> None:
    default = await subject.server.call("lookup_food", {"name": "肉"})
    assert await subject.server.call("lookup_food", {"name": "肉", "limit": None}) == default
    assert len(default.structured["foods"]) == 10


async def test_bad_arguments_and_unknown_tools_are_the_callers_fault(subject: Subject) -> None:
    with pytest.raises(McpToolFailedError):
        await subject.server.call("lookup_food", {"limit": 3})
    with pytest.raises(McpToolFailedError):
        await subject.server.call("list_foods", {})
    assert subject.server.state == "up"


async def test_many_calls_at_once_get_their_own_answers(subject: Subject) -> None:
    names = ["豆腐", "鸡蛋", "猪肉", "牛奶"] * 5
    results = await asyncio.gather(*(subject.server.call("lookup_food", {"name": name, "limit": 1}) for name in names))
    assert all(name in result.text for name, result in zip(names, results, strict=True))


async def test_R_DEG_02_a_server_that_went_away_is_down_with_a_reason_and_comes_back_by_itself(
    subject: Subject,
) -> None:
    await subject.server.call("lookup_food", {"name": "豆腐"})
    await subject.stop()

    async def ask() -> bool:
        try:
            return bool((await subject.server.call("lookup_food", {"name": "豆腐"})).text)
        except McpUnavailableError:
            return False

    assert not await ask()
    await until(lambda: subject.server.state == "down")
    assert subject.server.reason
    await subject.restart()
    await until(lambda: subject.server.state == "up")
    assert await ask()
