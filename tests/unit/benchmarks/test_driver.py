"""The client and the load: what is counted, what is refused."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from benchmarks.cpu import tree_memory_mb, tree_seconds
from benchmarks.driver import Load, PostgresClock, drive, percentile
from benchmarks.mock_model import mock_server
from benchmarks.script import Script
from benchmarks.wire import Reply, Wire, call, request, sse_events

FRAMES = 'event: text\r\nid: 1\r\ndata: {"v":"死"}\r\n\r\n: ping\n\nevent: done\ndata: {}\n\n'


@dataclass(frozen=True, kw_only=True, slots=True)
class MockAsSite:
    """The scripted model itself under load: it is a server, and this process."""

    port: int
    status: int = 200
    name: str = "mock"
    mark: bytes = b'"content":'

    @property
    def pid(self) -> int:
        return os.getpid()

    async def requests(self, runs: int, *, keep_alive: bool) -> Sequence[bytes]:
        body = {"model": "mock;n=5;ttft=1", "messages": [{"role": "user", "content": "?"}], "stream": True}
        return [request("POST", "/v1/chat/completions", json=body, keep_alive=keep_alive)] * runs

    def check(self, reply: Reply) -> None:
        assert reply.status == self.status, f"status {reply.status}"


def clock() -> PostgresClock:
    return PostgresClock(pid=os.getpid())


@pytest.mark.parametrize("keep_alive", [False, True])
async def test_every_run_is_driven_once_and_timed(keep_alive: bool) -> None:
    async with mock_server() as port:
        sample = await drive(MockAsSite(port=port), Load(concurrency=3, runs=10, keep_alive=keep_alive), clock())
        counted = await call(port, request("GET", "/stats"))
    assert counted.json()["calls"] == 10
    assert 0 < sample.first50 <= sample.p50 <= sample.p99
    assert sample.runs == 10
    assert sample.cpu == sample.app_cpu + sample.pg_cpu


async def test_a_wrong_answer_ends_the_measurement() -> None:
    async with mock_server() as port:
        with pytest.raises(AssertionError, match="status 200"):
            await drive(MockAsSite(port=port, status=201), Load(concurrency=1, runs=1), clock())


async def test_the_mark_is_found_across_two_reads() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\nevent:")
        await writer.drain()
        await reader.readuntil(b"go")
        writer.write(b" text")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        wire = await Wire.connect(server.sockets[0].getsockname()[1])
        asking = asyncio.create_task(wire.ask(request("GET", "/"), mark=b"event: text"))
        await wire.begun()
        wire.send(b"go")
        reply = await asking
        await wire.close()
    assert reply.body == b"event: text"
    assert reply.first is not None
    assert reply.first <= reply.seconds


def test_events_of_a_stream_leave_out_pings_and_take_both_line_ends() -> None:
    events = sse_events(FRAMES.encode())
    assert [(event.type, event.data) for event in events] == [("text", {"v": "死"}), ("done", {})]


def test_percentiles_lie_between_neighbours() -> None:
    assert percentile([3, 1, 2], 0.5) == 2
    assert percentile([1, 2], 0.5) == 1.5
    assert percentile([7], 0.99) == 7


def test_cpu_and_memory_of_this_process_are_known() -> None:
    before = tree_seconds(os.getpid())
    while tree_seconds(os.getpid()) <= before:
        sum(range(10_000))
    assert tree_memory_mb(os.getpid()) > 1


def test_default_script_has_no_delay() -> None:
    assert Script().own_ms == 0
