"""The product under load: the real server in a process of its own, driven over its public interface."""

import asyncio
import re
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.database import Cluster
from benchmarks.process import free_port, serving
from benchmarks.script import answer_text
from benchmarks.sites import QUESTION, MockSite, incident_numbers
from benchmarks.wire import Reply, SseEvent, Wire, call, request, sse_events

TOKEN = "dev-alice"  # noqa: S105 - a development identity, documented
HEADERS = {"authorization": f"Bearer {TOKEN}"}
STREAM = HEADERS | {"accept": "text/event-stream"}
SESSION_WIRES = 8
LIMITS = {
    "YUZUI_WORKER_CONCURRENCY": "64",  # the realistic load is 64 at once, and the peers take them all
    "YUZUI_MAX_RUNS_PER_CALLER": "256",  # one caller makes the whole load
    "YUZUI_POOL_MAX_SIZE": "16",  # as the peers' pools
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Product:
    """The running server."""

    pid: int
    port: int
    mock: MockSite
    engines: tuple[str, ...]

    async def sessions(self, app: str, count: int) -> list[str]:
        """Fresh sessions, one a run, so that no run waits for another."""
        data = request("POST", "/v1/sessions", headers=HEADERS, json={"app": app}, keep_alive=True)
        found: list[str] = []

        async def make(share: int) -> None:
            wire = await Wire.connect(self.port)
            for _ in range(share):
                reply = await wire.ask(data)
                assert reply.status == 201, f"no session: {reply.status} {reply.body[:300]!r}"
                found.append(str(reply.json()["id"]))
            await wire.close()

        shares = [count // SESSION_WIRES + (n < count % SESSION_WIRES) for n in range(SESSION_WIRES)]
        await asyncio.gather(*(make(share) for share in shares if share))
        return found

    async def counter(self, name: str) -> float:
        """A counter of `/metrics`, summed over its labels. Raises `AssertionError` when it is not there."""
        text = (await call(self.port, request("GET", "/metrics", headers=HEADERS))).body.decode()
        values = re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.MULTILINE)
        assert values, f"/metrics has no {name}"
        return sum(map(float, values))

    async def start_run(self, app: str, message: str) -> str:
        """Start a run that nobody reads yet; the path of its events."""
        (session,) = await self.sessions(app, 1)
        reply = await call(self.port, request("POST", _runs(session), headers=HEADERS, json={"message": message}))
        assert reply.status == 202, f"no run: {reply.status} {reply.body[:300]!r}"
        return str(reply.json()["events_url"])


def _runs(session: str) -> str:
    return f"/v1/sessions/{session}/runs"


@dataclass(frozen=True, kw_only=True, slots=True)
class ProductSite:
    """The product on one task: which app, what is said, how the answer is told from a wrong one."""

    name: str
    product: Product
    app: str
    messages: Callable[[int], Sequence[str]]
    mark: bytes
    right: Callable[[MockSite, Sequence[SseEvent]], str | None]

    @property
    def pid(self) -> int:
        return self.product.pid

    @property
    def port(self) -> int:
        return self.product.port

    async def requests(self, runs: int, *, keep_alive: bool) -> Sequence[bytes]:
        sessions = await self.product.sessions(self.app, runs)
        return [
            request("POST", _runs(session), headers=STREAM, json={"message": message}, keep_alive=keep_alive)
            for session, message in zip(sessions, self.messages(runs), strict=True)
        ]

    def check(self, reply: Reply) -> None:
        assert reply.status == 200, f"{self.name}: {reply.status} {reply.body[:300]!r}"
        wrong = self.right(self.product.mock, sse_events(reply.body))
        assert wrong is None, f"{self.name}: {wrong}"


def chat(product: Product, engine: str) -> ProductSite:
    """The streamed answer with one tool call."""
    return ProductSite(
        name=f"yuzui_{engine}",
        product=product,
        app=f"bench-{engine}",
        messages=lambda runs: [QUESTION] * runs,
        mark=b"event: content.delta",
        right=_wrong_in_answer,
    )


def direct(product: Product) -> ProductSite:
    """The direct read: no model."""
    return ProductSite(
        name="yuzui_direct",
        product=product,
        app="bench-json",
        messages=lambda runs: [f"查看 incident_{number} 的状态" for number in incident_numbers(runs)],
        mark=b"event: message.completed",
        right=_wrong_in_direct,
    )


def _wrong_in_answer(mock: MockSite, events: Sequence[SseEvent]) -> str | None:
    expected = answer_text(mock.script.tokens)
    streamed = "".join(str(data["text"]) for data in _of(events, "content.delta"))
    calls = [data["outcome"] for data in _of(events, "tool.finished")]
    if streamed != expected:
        return f"streamed {streamed[:80]!r}…"
    if calls != ["ok"] * mock.script.hops:
        return f"tool calls ended {calls}"
    return _wrong_ending(events, "model") or _wrong_text(events, expected)


def _wrong_in_direct(_: MockSite, events: Sequence[SseEvent]) -> str | None:
    return _wrong_ending(events, "direct") or _wrong_text(events, "open")


def _wrong_ending(events: Sequence[SseEvent], source: str) -> str | None:
    if not events or events[-1].type != "run.completed":
        return f"the stream ended with {[event.type for event in events[-2:]]} {events[-1:]}"
    sources = [data["source"] for data in _of(events, "message.completed")]
    return None if sources == [source] else f"messages came from {sources}"


def _wrong_text(events: Sequence[SseEvent], part: str) -> str | None:
    texts = [str(data["text"]) for data in _of(events, "message.completed")]
    return None if part in texts[0] else f"the message is {texts[0][:80]!r}…"


def _of(events: Sequence[SseEvent], kind: str) -> list[dict[str, Any]]:
    return [event.data["data"] for event in events if event.type == kind]  # type: ignore[misc]  # an object, by contract


@asynccontextmanager
async def product(mock: MockSite, database: Cluster, engines: tuple[str, ...], folder: Path) -> AsyncGenerator[Product]:
    """The server, on the peers' database and model, with the benchmark's app on each of the engines."""
    port = free_port()
    environment = LIMITS | {
        "YUZUI_MODEL": "openai:mock;b=json",
        "YUZUI_MODEL_BASE_URL": mock.url,
        "YUZUI_MODEL_API_KEY": "x",
        "YUZUI_DATABASE_URL": database.url,
    }
    apps = [part for engine in engines for part in ("--app", f"benchmarks.app:{engine}_app")]
    command = serve_command(port, folder / "yuzui", *apps)
    async with serving(command, port, log=folder / "yuzui.log", environment=environment) as pid:
        yield Product(pid=pid, port=port, mock=mock, engines=engines)


def serve_command(port: int, data_dir: Path, *more: str) -> list[str]:
    """The command line of a server."""
    return [
        sys.executable, "-m", "yuzui", "serve", "--port", str(port), "--data-dir", str(data_dir), *more,
    ]  # fmt: skip
