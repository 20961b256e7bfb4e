"""What it takes before the first request: imports, the command line, a warm start, and what an idle server holds."""

import asyncio
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.cpu import tree_memory_mb, tree_seconds
from benchmarks.figures import Figure, over_repetitions
from benchmarks.process import ROOT, clean_environment, free_port, serving
from benchmarks.yuzui_side import serve_command

IDLE_S = 4.0
IMPORT = """
import time
start = time.perf_counter()
from yuzui import App, BoundedReact, Budget, Card, Confirm, Ctx, DirectRead, Owner, Rule, ToolError
print(time.perf_counter() - start)
"""


def _run(command: list[str]) -> tuple[float, str]:
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, env=clean_environment())
    return time.perf_counter() - start, done.stdout


def _installed_mb(folder: Path) -> float:
    """Size of the files below a folder, in MiB."""
    return sum(file.lstat().st_size for file in folder.rglob("*") if not file.is_symlink() and file.is_file()) / 2**20


async def start_up(folder: Path, starts: int, environment: Path | None) -> list[Figure]:
    """Figures of start-up. The import is of what an app declares itself with, not of the lazy package alone. The server is the whole thing here: its own database, and the data directory is warm."""
    imports = [float(_run([sys.executable, "-c", IMPORT])[1]) for _ in range(starts + 1)][1:]
    helps = [_run([sys.executable, "-m", "yuzui", "--help"])[0] for _ in range(starts + 1)][1:]
    ready: list[float] = []
    figures: list[Figure] = []
    for turn in range(starts + 1):
        port = free_port()
        start = time.perf_counter()
        async with serving(serve_command(port, folder / "start"), port, log=folder / "start.log", wait_s=180) as pid:
            ready.append(time.perf_counter() - start)
            if turn == starts:
                figures = await _idle(pid)
    figures += [
        over_repetitions("start.import_s", imports, target=0.3),
        over_repetitions("start.help_s", helps),
        Figure(name="start.first_ready_s", value=ready[0]),
        over_repetitions("start.warm_ready_s", ready[1:]),
    ]
    if environment is not None:
        figures.append(Figure(name="start.installed_mb", value=_installed_mb(environment)))
    return figures


async def _idle(pid: int) -> list[Figure]:
    await asyncio.sleep(1.0)
    before = tree_seconds(pid)
    await asyncio.sleep(IDLE_S)
    share = (tree_seconds(pid) - before) / IDLE_S * 100
    return [
        Figure(name="start.idle_rss_mb", value=tree_memory_mb(pid)),
        Figure(name="start.idle_cpu_percent", value=share),
    ]
