"""The peers and floors as sites under load."""

import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.database import ROWS, Cluster
from benchmarks.process import free_port, serving
from benchmarks.script import Script, answer_text
from benchmarks.wire import Reply, call, request, sse_events

QUESTION = "什么是数据库死锁？请先检索再回答。"


@dataclass(slots=True)
class MockSite:
    """The scripted model: its address and what it has counted."""

    port: int
    script: Script

    @property
    def url(self) -> str:
        """What an OpenAI client takes as its base."""
        return f"http://127.0.0.1:{self.port}/v1"

    async def play(self, script: Script) -> None:
        """Zero the counters and take this script from now on."""
        self.script = script
        options = f"ttft={script.ttft};tok={script.tok};n={script.tokens};hops={script.hops}"
        await call(self.port, request("POST", "/reset", json={"options": options}))

    async def calls(self) -> int:
        """Calls since the last reset, by the model's own count."""
        counted = (await call(self.port, request("GET", "/stats"))).json()["calls"]
        assert isinstance(counted, int)
        return counted


@dataclass(frozen=True, kw_only=True, slots=True)
class PeerSite:
    """A peer behind `benchmarks.peers.server`."""

    name: str
    pid: int
    port: int
    mock: MockSite
    mark: bytes = b"event: text"

    async def requests(self, runs: int, *, keep_alive: bool) -> Sequence[bytes]:
        headers = {"accept": "text/event-stream"}
        one = request("POST", "/run", headers=headers, json={"message": QUESTION}, keep_alive=keep_alive)
        return [one] * runs

    def check(self, reply: Reply) -> None:
        assert reply.status == 200, f"{self.name}: {reply.status} {reply.body[:300]!r}"
        events = sse_events(reply.body)
        text = "".join(str(event.data["v"]) for event in events if event.type == "text")
        assert events[-1].type == "done", f"{self.name}: the stream ended with {events[-1].type}"
        assert text == answer_text(self.mock.script.tokens), f"{self.name}: {text[:80]!r}… is not the model's answer"
        assert sum(event.type == "tool_call" for event in events) == self.mock.script.hops, f"{self.name}: tool calls"


@dataclass(frozen=True, kw_only=True, slots=True)
class SelectSite:
    """The endpoint with one indexed SELECT."""

    name: str
    pid: int
    port: int
    path: str = "/incident"
    mark: bytes = b'{"id"'

    async def requests(self, runs: int, *, keep_alive: bool) -> Sequence[bytes]:
        return [request("GET", f"{self.path}/{number}", keep_alive=keep_alive) for number in incident_numbers(runs)]

    def check(self, reply: Reply) -> None:
        assert reply.status == 200, f"{self.name}: {reply.status} {reply.body[:300]!r}"
        assert reply.json()["status"] == "open", f"{self.name}: {reply.body[:80]!r}"


def incident_numbers(runs: int) -> Sequence[int]:
    """Ids spread over the table, the same for every site."""
    return [1 + n * 7919 % ROWS for n in range(runs)]


@asynccontextmanager
async def mock_model(logs: Path) -> AsyncGenerator[MockSite]:
    """The scripted model in a process of its own."""
    port = free_port()
    command = [sys.executable, "-m", "benchmarks.mock_model", "--port", str(port)]
    async with serving(command, port, log=logs / "mock.log", ready="/v1/models"):
        yield MockSite(port=port, script=Script())


@asynccontextmanager
async def peer(name: str, mock: MockSite, database: Cluster, logs: Path) -> AsyncGenerator[PeerSite]:
    """One peer in a process of its own."""
    port = free_port()
    command = [sys.executable, "-m", "benchmarks.peers.server", "--peer", name, "--port", str(port)]
    command += ["--model-url", mock.url, "--database-url", database.url]
    async with serving(command, port, log=logs / f"{name}.log") as pid:
        yield PeerSite(name=name, pid=pid, port=port, mock=mock)


@asynccontextmanager
async def floors(database: Cluster, logs: Path) -> AsyncGenerator[SelectSite]:
    """The floors' process; the same one serves the SELECT and sse-starlette's fan-out."""
    port = free_port()
    command = [sys.executable, "-m", "benchmarks.peers.floors", "--port", str(port), "--database-url", database.url]
    async with serving(command, port, log=logs / "floors.log") as pid:
        yield SelectSite(name="select", pid=pid, port=port)
