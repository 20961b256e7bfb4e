"""Which process this is, and whether another one on this machine is still alive."""

import os
import socket
import sys
from pathlib import Path


def host_id() -> str:
    """The machine as processes can look for each other on it: name, boot and process namespace."""
    boot = _text(Path("/proc/sys/kernel/random/boot_id"))
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        namespace = sys.platform
    return f"{socket.gethostname()}/{boot}/{namespace}"


def start_time(pid: int) -> str:
    """When a process began, in the system's own unit: tells a process from a later one with its number. Empty: not alive.

    A zombie has ended. Where there is no /proc the number alone has to do.
    """
    stat = _text(Path(f"/proc/{pid}/stat"))
    if stat:
        fields = stat.rpartition(")")[2].split()
        return "" if fields[0] in {"Z", "X"} else fields[19]
    if Path("/proc/self/stat").exists():
        return ""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except PermissionError:
        return "unknown"
    return "unknown"


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace").strip()
    except OSError:
        return ""
