"""CPU time of a process and everything it ever started, in seconds."""

import psutil


def tree_seconds(pid: int) -> float:
    """User and system time of `pid`, its live descendants and the children they have reaped (a closed database session)."""
    root = psutil.Process(pid)
    return _with_reaped(root) + sum(_of_child(child) for child in root.children(recursive=True))


def tree_memory_mb(pid: int) -> float:
    """Resident memory of `pid` and its live descendants, in MiB; shared pages count for each of them."""
    root = psutil.Process(pid)
    total = 0
    for process in (root, *root.children(recursive=True)):
        try:
            total += process.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return total / 2**20


def _of_child(child: psutil.Process) -> float:
    try:
        return _with_reaped(child)
    except psutil.NoSuchProcess:
        return 0.0  # its time has moved to its parent's reaped children


def _with_reaped(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system + times.children_user + times.children_system
