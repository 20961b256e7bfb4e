"""How figures come of samples, and when the comparison holds."""

from pathlib import Path

import orjson
import pytest
from benchmarks.driver import Sample
from benchmarks.figures import CPU, RATE, Duel, Figure, added_first, added_p50
from benchmarks.report import holds, write
from benchmarks.script import Script


def sample(*, cpu: float = 10.0, seconds: float = 1.0, p50: float = 100.0, first50: float = 50.0) -> Sample:
    return Sample(
        runs=10,
        seconds=seconds,
        p50=p50,
        p99=p50,
        first50=first50,
        first99=first50,
        app_cpu=cpu * 0.75,
        pg_cpu=cpu * 0.25,
        rss_mb=1.0,
    )


def test_a_duel_pairs_repetitions_and_takes_the_median_of_their_ratios() -> None:
    sides = {
        "ours": [sample(cpu=4), sample(cpu=6), sample(cpu=30)],
        "theirs": [sample(cpu=10), sample(cpu=10), sample(cpu=10)],
    }
    duel = Duel(scenario="s", ours="ours", theirs="theirs", measures=(CPU, RATE), targets={"cpu": 0.5})
    cpu, rate = duel.figures(sides)
    assert (cpu.name, cpu.value, cpu.spread, cpu.met) == ("s.ours/theirs.cpu", 0.6, (0.4, 3.0), False)
    assert (rate.value, rate.met, rate.better) == (1.0, None, "at_least")


def test_a_duel_with_a_missing_side_says_nothing() -> None:
    assert Duel(scenario="s", ours="ours", theirs="theirs", measures=(CPU,)).figures({"ours": [sample()]}) == []


def test_added_times_leave_out_the_models_own() -> None:
    script = Script(ttft=10, tok=1, tokens=11, hops=0)
    assert added_p50(script).of(sample(p50=120)) == 100
    assert added_first(script).of(sample(first50=50)) == 40


@pytest.mark.parametrize(
    ("value", "better", "met"), [(0.4, "at_most", True), (0.6, "at_most", False), (0.6, "at_least", True)]
)
def test_a_target_is_met_on_its_own_side(value: float, better: str, met: bool) -> None:
    figure = Figure(name="f", value=value, target=0.5, better="at_least" if better == "at_least" else "at_most")
    assert figure.met is met


def test_nothing_judged_does_not_hold_and_one_miss_is_enough() -> None:
    informs = Figure(name="a", value=1.0)
    assert not holds([informs])
    assert holds([informs, Figure(name="b", value=1.0, target=2.0)])
    assert not holds([Figure(name="b", value=1.0, target=2.0), Figure(name="c", value=3.0, target=2.0)])


def test_the_report_file_names_verdict_figures_machine_and_commit(tmp_path: Path) -> None:
    path = tmp_path / "results" / "bench.json"
    write(path, [Figure(name="b", value=1.0, target=2.0)], {"s": {"ours": [sample()]}}, 1.0)
    written = orjson.loads(path.read_bytes())
    assert written["ok"] is True
    assert written["figures"]["b"]["met"] is True
    assert written["sides"]["s"]["ours"]["cpu"] == 10.0
    assert written["machine"]["cores"] >= 1
    assert "commit" in written
