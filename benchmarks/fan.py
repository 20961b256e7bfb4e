"""One stream of tokens, many readers: what it costs to tell them all."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from benchmarks.cpu import tree_seconds
from benchmarks.driver import PostgresClock
from benchmarks.script import WORDS, Script
from benchmarks.sites import QUESTION, SelectSite
from benchmarks.wire import Reply, Wire, call, request
from benchmarks.yuzui_side import STREAM, Product


@dataclass(frozen=True, kw_only=True, slots=True)
class FanSample:
    """What the readers got. `us_per_event` is CPU of server and database for one event at one reader."""

    readers: int
    events: int
    cpu_s: float

    @property
    def us_per_event(self) -> float:
        """Microseconds a delivery."""
        return self.cpu_s / self.events * 1e6


async def fan_out_floor(site: SelectSite, readers: int, script: Script, postgres: PostgresClock) -> FanSample:
    """sse-starlette: an event a token, as the model would send them."""
    data = '{"run_id":"run_0","seq":1,"type":"content.delta","data":{"text":"' + WORDS[0] + '"}}'
    body = {"n": script.tokens, "gap_ms": script.tok, "delay_ms": script.ttft, "text": data}

    async def publish() -> None:
        await call(site.port, request("POST", "/publish", json=body))

    read = request("GET", "/fan", headers={"accept": "text/event-stream"})
    return await _measure(site.pid, site.port, read, readers, b"event: text", publish, postgres)


async def fan_out_product(product: Product, readers: int, postgres: PostgresClock) -> FanSample:
    """The product: one durable run, read by many while it streams. The run's own cost is in the figure."""
    path = await product.start_run("bench-json", QUESTION)
    read = request("GET", path, headers=STREAM)

    async def wait() -> None:
        """The run goes on by itself."""

    return await _measure(product.pid, product.port, read, readers, b"event: content.delta", wait, postgres)


async def _measure(
    pid: int,
    port: int,
    read: bytes,
    readers: int,
    mark: bytes,
    begin: Callable[[], Awaitable[None]],
    postgres: PostgresClock,
) -> FanSample:
    wires = [await Wire.connect(port) for _ in range(readers)]
    reading = [asyncio.create_task(wire.ask(read)) for wire in wires]
    await asyncio.gather(*(wire.begun() for wire in wires))
    cpu = tree_seconds(pid) + postgres.seconds()
    await begin()
    replies: list[Reply] = await asyncio.gather(*reading)
    cpu = tree_seconds(pid) + postgres.seconds() - cpu
    for wire in wires:
        await wire.close()
    counts = {reply.body.count(mark) for reply in replies}
    assert len(counts) == 1, f"readers got different numbers of events: {sorted(counts)}"
    return FanSample(readers=readers, events=sum(reply.body.count(mark) for reply in replies), cpu_s=cpu)
