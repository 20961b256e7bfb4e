"""Is the cluster's PostgreSQL alive? `postmaster.pid` alone does not tell: its pid may be dead, a zombie or reused."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

_GONE = (psutil.NoSuchProcess, psutil.AccessDenied)


@dataclass(frozen=True, kw_only=True, slots=True)
class Postmaster:
    """A live postmaster of one cluster. `started` is the process's start time, which tells a reused pid apart."""

    pid: int
    started: float
    port: int | None

    def is_alive(self) -> bool:
        """Whether this very process still runs."""
        try:
            process = psutil.Process(self.pid)
            return process.create_time() == self.started and process.status() != psutil.STATUS_ZOMBIE
        except _GONE:
            return False

    def signal(self, number: int) -> None:
        """Signal this very process; nothing happens when it has ended."""
        if self.is_alive():
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                return

    def wait(self, seconds: float) -> bool:
        """Wait for its end; False when it still runs after `seconds`. Works for a process that is not a child."""
        deadline = time.monotonic() + seconds
        while self.is_alive():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True


def find(cluster: Path) -> Postmaster | None:
    """The live postmaster that `postmaster.pid` names, or None. A process counts only if it is a `postgres` program that
    works in this very folder, whatever the file says.
    """
    lines = _read(cluster)
    if not lines or not lines[0].strip().isdigit():
        return None
    pid = int(lines[0])
    process = _server_process(pid, cluster)
    if process is None:
        return None
    port = int(lines[3]) if len(lines) > 3 and lines[3].strip().isdigit() else None
    return Postmaster(pid=pid, started=process.create_time(), port=port)


def clear_reused(cluster: Path) -> None:
    """Remove a `postmaster.pid` whose pid was given to another program, which PostgreSQL would take for its own server.

    Only when no process of the cluster is left. A file with a dead pid stays: PostgreSQL judges it better itself, for it
    also looks at the shared memory that the file names.
    """
    lines = _read(cluster)
    if not lines or not lines[0].strip().isdigit() or not psutil.pid_exists(int(lines[0])):
        return
    if find(cluster) is None and not backends(cluster):
        (cluster / "postmaster.pid").unlink(missing_ok=True)


def backends(cluster: Path) -> list[psutil.Process]:
    """Every live server process of the cluster: also those that outlived a killed postmaster for a moment."""
    return [process for pid in psutil.pids() if (process := _server_process(pid, cluster))]


def end_orphans(cluster: Path, *, grace_s: float) -> None:
    """Wait for the processes that a killed postmaster left, then kill what remains. They block the next start.

    Call it only when `find` is None and the data directory's lock is held.
    """
    orphans = backends(cluster)
    _, left = psutil.wait_procs(orphans, timeout=grace_s)
    for process in left:
        try:
            process.kill()
        except _GONE:
            continue
    psutil.wait_procs(left, timeout=5)


def _server_process(pid: int, cluster: Path) -> psutil.Process | None:
    try:
        process = psutil.Process(pid)
        if not process.name().startswith("postgres") or process.status() == psutil.STATUS_ZOMBIE:
            return None
        return process if os.path.samefile(process.cwd(), cluster) else None
    except (*_GONE, OSError):
        return None


def _read(cluster: Path) -> list[str]:
    try:
        return (cluster / "postmaster.pid").read_text("utf-8").splitlines()
    except FileNotFoundError:
        return []
