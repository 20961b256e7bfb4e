"""Compare the product with its peers and floors on this machine.

    python -m benchmarks [--quick] [--only tokens|realistic|direct|fan_out|start] [--without SIDE]

Prints a table and writes `results/bench.json`; exit status 1 when a target is missed. About six minutes on two cores.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import uvloop

from benchmarks import report
from benchmarks.arena import CONTESTANTS, JSON, arena
from benchmarks.driver import Sample
from benchmarks.figures import Figure
from benchmarks.plan import FULL, QUICK
from benchmarks.process import ROOT
from benchmarks.scenarios import SCENARIOS
from benchmarks.startup import start_up

START = "start"


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Compare with peers and floors.")
    names = [scenario.name for scenario in SCENARIOS]
    parser.add_argument("--quick", action="store_true", help="a smoke run: everything once, little of it")
    parser.add_argument("--only", action="append", choices=[*names, START], help="only this scenario (repeatable)")
    parser.add_argument("--without", action="append", choices=sorted(CONTESTANTS), default=[], help="leave a side out")
    parser.add_argument("--database-url", help="a PostgreSQL on this machine in place of the embedded one")
    parser.add_argument("--venv", type=Path, help="a runtime environment whose installed size is reported")
    parser.add_argument("--output", type=Path, default=ROOT / "results" / "bench.json")
    return parser


async def compare(given: argparse.Namespace) -> bool:
    """Run the chosen scenarios and report; whether every target holds."""
    plan = QUICK if given.quick else FULL
    chosen = [scenario for scenario in SCENARIOS if given.only is None or scenario.name in given.only]
    contestants = frozenset[str]().union(*(scenario.contestants for scenario in chosen)) - frozenset(given.without)
    started = time.monotonic()
    figures: list[Figure] = []
    samples: dict[str, Mapping[str, Sequence[Sample]]] = {}
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # PostgreSQL runs as another user when this is root
        if chosen:
            async with arena(folder, contestants, given.database_url) as standing:
                for scenario in chosen:
                    outcome = await scenario.run(standing, plan)
                    figures += outcome.figures
                    samples[scenario.name] = outcome.sides
                    print(f"{scenario.name}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
        if JSON not in given.without and (given.only is None or START in given.only):
            figures += await start_up(folder, plan.starts, given.venv)
    report.show(figures, samples)
    report.write(given.output, figures, samples, time.monotonic() - started)
    return report.holds(figures)


def main() -> int:
    """Exit status 0 when every target holds, else 1."""
    return 0 if uvloop.run(compare(arguments().parse_args())) else 1


if __name__ == "__main__":
    sys.exit(main())
