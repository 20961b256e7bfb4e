"""The comparisons: what is run, side by side, and which figures come of it."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from benchmarks.arena import FLOORS, JSON, PRODUCT, Arena, psycopg_floor
from benchmarks.driver import Load, Sample, Site, drive
from benchmarks.fan import fan_out_floor, fan_out_product
from benchmarks.figures import CPU, RATE, Duel, Figure, added_first, added_p50, over_repetitions
from benchmarks.plan import INSTANT, REALISTIC, Plan
from benchmarks.yuzui_side import Product, chat, direct

EVENTS, FLUSHES = "yuzui_events_total", "yuzui_flushes_total"


@dataclass(slots=True)
class Outcome:
    """What a scenario found: the figures, and the samples of each side they came from."""

    figures: list[Figure] = field(default_factory=list[Figure])
    sides: dict[str, list[Sample]] = field(default_factory=dict[str, list[Sample]])

    def settle(self, *duels: Duel) -> None:
        """Add the figures of the duels whose sides were run."""
        for duel in duels:
            self.figures += duel.figures(self.sides)


@dataclass(frozen=True, kw_only=True, slots=True)
class Scenario:
    """A named comparison and who takes part."""

    name: str
    contestants: frozenset[str]
    run: Callable[[Arena, Plan], Awaitable[Outcome]]


async def _interleave(arena: Arena, sites: Sequence[Site], load: Load, repetitions: int) -> dict[str, list[Sample]]:
    """Warm every site, then measure all of them in each repetition, in rotating order."""
    samples: dict[str, list[Sample]] = {site.name: [] for site in sites}
    for site in sites:
        await drive(site, Load(concurrency=4, runs=8, keep_alive=load.keep_alive), arena.clock)
    for repetition in range(repetitions):
        turn = repetition % max(1, len(sites))
        for site in (*sites[turn:], *sites[:turn]):
            samples[site.name].append(await drive(site, load, arena.clock))
    return samples


def _chats(arena: Arena, peers: Sequence[str]) -> list[Site]:
    sites: list[Site] = [arena.peers[name] for name in peers if name in arena.peers]
    if arena.product is not None:
        sites += [chat(arena.product, engine) for engine in arena.product.engines]
    return sites


async def _tokens(arena: Arena, plan: Plan) -> Outcome:
    await arena.mock.play(INSTANT)
    sites = _chats(arena, ("sdk", "agent_limits", "pydantic_ai"))
    outcome = Outcome(sides=await _interleave(arena, sites, plan.tokens, plan.repetitions))
    measures = (CPU, RATE, added_p50(INSTANT), added_first(INSTANT))

    def against(ours: str, theirs: str, cpu: float | None = None) -> Duel:
        targets = {} if cpu is None else {CPU.name: cpu}
        return Duel(scenario="tokens", ours=ours, theirs=theirs, measures=measures, targets=targets)

    outcome.settle(
        against("yuzui_json", "sdk", 0.4),
        against("yuzui_json", "agent_limits", 0.2),
        against("yuzui_json", "pydantic_ai"),
        against("yuzui_native", "sdk", 0.6),
        against("yuzui_native", "agent_limits", 0.3),
        against("yuzui_native", "pydantic_ai"),
    )
    return outcome


async def _realistic(arena: Arena, plan: Plan) -> Outcome:
    await arena.mock.play(REALISTIC)
    before = await _written(arena.product)
    sites = _chats(arena, ("sdk", "agent_saver"))
    outcome = Outcome(sides=await _interleave(arena, sites, plan.realistic, plan.repetitions))
    measures = (CPU, RATE, added_p50(REALISTIC), added_first(REALISTIC))

    def against(ours: str, theirs: str, **targets: float) -> Duel:
        return Duel(scenario="realistic", ours=ours, theirs=theirs, measures=measures, targets=targets)

    outcome.settle(
        against("yuzui_json", "sdk", added_p50=0.7, added_ttft=0.7),
        against("yuzui_json", "agent_saver", cpu=0.45, added_p50=0.2, added_ttft=0.2),
        against("yuzui_native", "sdk"),
        against("yuzui_native", "agent_saver"),
    )
    if before is not None and (after := await _written(arena.product)) is not None:
        ratio = (after[0] - before[0]) / max(1.0, after[1] - before[1])
        outcome.figures.append(
            Figure(name="realistic.events_per_commit", value=ratio, target=plan.events_per_commit, better="at_least")
        )
    return outcome


async def _written(product: Product | None) -> tuple[float, float] | None:
    """Events written and commits that wrote them, by the product's own metrics."""
    return None if product is None else (await product.counter(EVENTS), await product.counter(FLUSHES))


async def _direct(arena: Arena, plan: Plan) -> Outcome:
    await arena.mock.play(INSTANT)
    sites: list[Site] = []
    if arena.floors is not None:
        sites += [arena.floors, psycopg_floor(arena.floors)]
    if arena.product is not None:
        sites.append(direct(arena.product))
    outcome = Outcome(sides=await _interleave(arena, sites, plan.direct, plan.repetitions))
    targets = {CPU.name: 2.0, RATE.name: 0.5}
    outcome.settle(
        Duel(scenario="direct", ours="yuzui_direct", theirs="select", measures=(CPU, RATE), targets=targets),
        Duel(scenario="direct", ours="yuzui_direct", theirs="select_psycopg", measures=(CPU, RATE)),
    )
    outcome.figures.append(Figure(name="direct.model_calls", value=await arena.mock.calls(), target=0.0))
    return outcome


async def _fan_out(arena: Arena, plan: Plan) -> Outcome:
    await arena.mock.play(plan.fan)
    if arena.floors is None or arena.product is None:
        return Outcome()
    per_event: list[float] = []
    per_token: list[float] = []
    ours_us: list[float] = []
    floor_us: list[float] = []
    for _ in range(plan.repetitions):
        floor = await fan_out_floor(arena.floors, plan.readers, plan.fan, arena.clock)
        ours = await fan_out_product(arena.product, plan.readers, arena.clock)
        per_event.append(ours.us_per_event / floor.us_per_event)
        per_token.append(ours.cpu_s / floor.cpu_s)
        ours_us.append(ours.us_per_event)
        floor_us.append(floor.us_per_event)
    return Outcome(
        figures=[
            over_repetitions("fan_out.yuzui/sse_starlette.cpu_per_event", per_event, target=0.5),
            over_repetitions("fan_out.yuzui/sse_starlette.cpu_per_token", per_token),
            over_repetitions("fan_out.yuzui.us_per_event", ours_us),
            over_repetitions("fan_out.sse_starlette.us_per_event", floor_us),
        ]
    )


SCENARIOS = (
    Scenario(name="tokens", contestants=frozenset({"sdk", "agent_limits", "pydantic_ai", *PRODUCT}), run=_tokens),
    Scenario(name="realistic", contestants=frozenset({"sdk", "agent_saver", *PRODUCT}), run=_realistic),
    Scenario(name="direct", contestants=frozenset({FLOORS, JSON}), run=_direct),
    Scenario(name="fan_out", contestants=frozenset({FLOORS, JSON}), run=_fan_out),
)
