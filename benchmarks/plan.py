"""How much is run: the whole comparison, or a smoke run that only shows that everything works."""

from dataclasses import dataclass

from benchmarks.driver import Load
from benchmarks.script import Script

INSTANT = Script()
REALISTIC = Script(ttft=300, tok=20)


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """Loads, repetitions, and the script of the fan-out. Every repetition runs all sides once, in rotating order.

    `events_per_commit` is the least that grouping must reach at this plan's realistic load; None does not judge it.
    """

    repetitions: int
    tokens: Load
    realistic: Load
    direct: Load
    readers: int
    fan: Script
    starts: int
    events_per_commit: float | None = None


FULL = Plan(
    repetitions=3,
    tokens=Load(concurrency=16, runs=48),
    realistic=Load(concurrency=64, runs=128),
    direct=Load(concurrency=16, runs=1600, keep_alive=True),
    readers=100,
    fan=Script(hops=0, ttft=2500, tok=20, tokens=150),
    starts=3,
    events_per_commit=8.0,
)
QUICK = Plan(
    repetitions=1,
    tokens=Load(concurrency=8, runs=16),
    realistic=Load(concurrency=16, runs=16),
    direct=Load(concurrency=8, runs=160, keep_alive=True),
    readers=20,
    fan=Script(hops=0, ttft=1000, tok=20, tokens=50),
    starts=1,
)
