"""The report: a table for people, a file for machines."""

import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

import orjson
import psutil
from rich.console import Console
from rich.table import Table

from benchmarks.driver import Sample
from benchmarks.figures import Figure
from benchmarks.process import ROOT

Samples = Mapping[str, Mapping[str, Sequence[Sample]]]
WIDTH = 130
COLUMNS = ("runs_per_s", "p50", "p99", "first50", "first99", "cpu", "app_cpu", "pg_cpu", "rss_mb")


def machine() -> dict[str, object]:
    """What the figures were measured on."""
    names = [
        line.partition(": ")[2]
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        if line.startswith("model name")
    ]
    return {
        "cpu": names[0] if names else platform.processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(psutil.virtual_memory().total / 2**30, 1),
        "system": platform.platform(),
        "python": platform.python_version(),
    }


def commit() -> str | None:
    """The commit that was measured; `+` when the checkout differs from it, None outside a checkout."""
    head = _git("rev-parse", "HEAD")
    return head and head + ("+" if _git("status", "--porcelain") else "")


def _git(*arguments: str) -> str | None:
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False, cwd=ROOT)
    return done.stdout.strip() if done.returncode == 0 else None


def holds(figures: Sequence[Figure]) -> bool:
    """Whether something was judged and every target is met."""
    judged = [figure.met for figure in figures if figure.met is not None]
    return bool(judged) and all(judged)


def write(path: Path, figures: Sequence[Figure], samples: Samples, seconds: float) -> None:
    """Write the report's file, its folder included."""
    content = {
        "ok": holds(figures),
        "figures": {figure.name: figure.public() for figure in figures},
        "sides": {scenario: {name: medians(of) for name, of in sides.items()} for scenario, sides in samples.items()},
        "seconds": round(seconds, 1),
        "machine": machine(),
        "commit": commit(),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(orjson.dumps(content, option=orjson.OPT_INDENT_2) + b"\n")


def medians(samples: Sequence[Sample]) -> dict[str, float]:
    """Medians over the repetitions: runs a second, milliseconds, MiB."""
    return {name: round(median(getattr(sample, name) for sample in samples), 3) for name in COLUMNS}


def show(figures: Sequence[Figure], samples: Samples) -> None:
    """Print both tables."""
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    for scenario, sides in samples.items():
        if sides:
            console.print(_sides_table(scenario, sides))
    console.print(_figures_table(figures))
    verdict = "[green]every target holds[/]" if holds(figures) else "[red]not every target holds[/]"
    console.print(verdict)


def _sides_table(scenario: str, sides: Mapping[str, Sequence[Sample]]) -> Table:
    table = Table("side", *COLUMNS, title=f"{scenario}: medians, ms and CPU ms a run", title_justify="left")
    for name, of in sides.items():
        table.add_row(name, *(f"{value:.2f}" for value in medians(of).values()))
    return table


def _figures_table(figures: Sequence[Figure]) -> Table:
    table = Table("figure", "value", "lowest … highest", "target", "", title="figures", title_justify="left")
    for figure in figures:
        sign = "≤" if figure.better == "at_most" else "≥"
        table.add_row(
            figure.name,
            f"{figure.value:.3f}",
            "" if figure.spread is None else f"{figure.spread[0]:.3f} … {figure.spread[1]:.3f}",
            "" if figure.target is None else f"{sign} {figure.target:g}",
            {True: "[green]met[/]", False: "[red]missed[/]", None: ""}[figure.met],
        )
    return table
