"""The load: so many runs at once against one server, with what they cost in time and CPU."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from benchmarks.cpu import tree_memory_mb, tree_seconds
from benchmarks.wire import Reply, Wire


class Site(Protocol):
    """A server under load. Above: `drive`. Below: a peer, a floor, or the product."""

    @property
    def name(self) -> str:
        """How it is called in the report."""
        ...

    @property
    def pid(self) -> int:
        """Root of its process tree."""
        ...

    @property
    def port(self) -> int:
        """Where it listens."""
        ...

    @property
    def mark(self) -> bytes:
        """Bytes that begin the first piece of the answer."""
        ...

    async def requests(self, runs: int, *, keep_alive: bool) -> Sequence[bytes]:
        """One request a run; what they need (a session each) is prepared here, outside the measured time."""
        ...

    def check(self, reply: Reply) -> None:
        """Raise `AssertionError` when the reply is not the right answer."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """`runs` runs, `concurrency` at a time; each on its own connection unless `keep_alive`."""

    concurrency: int
    runs: int
    keep_alive: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class PostgresClock:
    """CPU of the database cluster. `background` is what it spends a second when nobody asks for anything."""

    pid: int
    background: float = 0.0

    def seconds(self) -> float:
        """CPU seconds of the cluster so far."""
        return tree_seconds(self.pid)


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """One measurement: milliseconds, except `seconds`; CPU is a run's share."""

    runs: int
    seconds: float
    p50: float
    p99: float
    first50: float
    first99: float
    app_cpu: float
    pg_cpu: float
    rss_mb: float

    @property
    def runs_per_s(self) -> float:
        """Throughput."""
        return self.runs / self.seconds

    @property
    def cpu(self) -> float:
        """Milliseconds of CPU a run costs, application and database."""
        return self.app_cpu + self.pg_cpu


async def drive(site: Site, load: Load, postgres: PostgresClock) -> Sample:
    """Put the load on a site, check every answer afterwards, and say what it cost.

    The database's background work is taken off, so that another server's idle polling is not put on this one's account.
    """
    requests = await site.requests(load.runs, keep_alive=load.keep_alive)
    replies: list[Reply] = []
    queue = iter(requests)
    cpu, pg, started = tree_seconds(site.pid), postgres.seconds(), time.perf_counter()
    await asyncio.gather(*(_worker(site, queue, replies, load) for _ in range(load.concurrency)))
    seconds = time.perf_counter() - started
    cpu, pg = tree_seconds(site.pid) - cpu, postgres.seconds() - pg - postgres.background * seconds
    for reply in replies:
        site.check(reply)
    firsts = [reply.first if reply.first is not None else reply.seconds for reply in replies]
    wholes = [reply.seconds for reply in replies]
    return Sample(
        runs=load.runs,
        seconds=seconds,
        p50=percentile(wholes, 0.50) * 1e3,
        p99=percentile(wholes, 0.99) * 1e3,
        first50=percentile(firsts, 0.50) * 1e3,
        first99=percentile(firsts, 0.99) * 1e3,
        app_cpu=cpu / load.runs * 1e3,
        pg_cpu=max(0.0, pg) / load.runs * 1e3,
        rss_mb=tree_memory_mb(site.pid),
    )


async def _worker(site: Site, queue: Iterator[bytes], replies: list[Reply], load: Load) -> None:
    wire: Wire | None = None
    for data in queue:
        started = time.perf_counter()
        if wire is None:
            wire = await Wire.connect(site.port)
        replies.append(await wire.ask(data, mark=site.mark, started=started))
        if not load.keep_alive:
            await wire.close()
            wire = None
    if wire is not None:
        await wire.close()


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of the values lie, between neighbours by proportion. Raises on no values."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)
