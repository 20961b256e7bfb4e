"""What is compared and what must hold."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Literal

from benchmarks.driver import Sample
from benchmarks.script import Script

Sides = Mapping[str, Sequence[Sample]]
Better = Literal["at_most", "at_least"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """One number of the report. Without a target it only informs; `spread` is lowest and highest over the repetitions."""

    name: str
    value: float
    better: Better = "at_most"
    target: float | None = None
    spread: tuple[float, float] | None = None

    @property
    def met(self) -> bool | None:
        """Whether the target holds; None without one."""
        if self.target is None:
            return None
        return self.value <= self.target if self.better == "at_most" else self.value >= self.target

    def public(self) -> dict[str, object]:
        """The form in the report's file."""
        return {
            "value": round(self.value, 4),
            "target": self.target,
            "better": self.better,
            "met": self.met,
            "spread": self.spread and [round(bound, 4) for bound in self.spread],
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Measure:
    """A quantity of a sample, by the name it has in a figure."""

    name: str
    of: Callable[[Sample], float]


CPU = Measure(name="cpu", of=lambda sample: sample.cpu)
RATE = Measure(name="runs_per_s", of=lambda sample: sample.runs_per_s)


def added_p50(script: Script) -> Measure:
    """Median time of a run beyond the model's own time, ms."""
    return Measure(name="added_p50", of=lambda sample: sample.p50 - script.own_ms)


def added_first(script: Script) -> Measure:
    """Median time to the first piece of the answer beyond the model's own time, ms."""
    return Measure(name="added_ttft", of=lambda sample: sample.first50 - script.to_answer_ms)


@dataclass(frozen=True, kw_only=True, slots=True)
class Duel:
    """Ours over theirs, repetition by repetition; `targets` by the measure's name, the others only inform."""

    scenario: str
    ours: str
    theirs: str
    measures: tuple[Measure, ...]
    targets: Mapping[str, float] = field(default_factory=dict[str, float])

    def figures(self, sides: Sides) -> list[Figure]:
        """The ratios, medians over the repetitions; none when one of the two was not run."""
        if self.ours not in sides or self.theirs not in sides:
            return []
        pairs = list(zip(sides[self.ours], sides[self.theirs], strict=True))
        found: list[Figure] = []
        for measure in self.measures:
            ratios = [measure.of(ours) / measure.of(theirs) for ours, theirs in pairs]
            found.append(
                over_repetitions(
                    f"{self.scenario}.{self.ours}/{self.theirs}.{measure.name}",
                    ratios,
                    target=self.targets.get(measure.name),
                    better="at_least" if measure is RATE else "at_most",
                )
            )
        return found


def over_repetitions(
    name: str, values: Sequence[float], *, target: float | None = None, better: Better = "at_most"
) -> Figure:
    """A figure from one value a repetition: the median, with the extremes beside it."""
    return Figure(name=name, value=median(values), better=better, target=target, spread=(min(values), max(values)))
