"""A server as a process of its own: started, waited for, stopped."""

import asyncio
import os
import signal
import socket
import subprocess
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from benchmarks.wire import HttpFailedError, call, request

ROOT = Path(__file__).resolve().parent.parent


class ServerFailedError(Exception):
    """A server did not come up; the end of its log says why."""


def free_port() -> int:
    """A local port nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@asynccontextmanager
async def serving(
    command: Sequence[str],
    port: int,
    *,
    log: Path,
    environment: Mapping[str, str] | None = None,
    ready: str = "/readyz",
    wait_s: float = 90.0,
) -> AsyncGenerator[int]:
    """Run a server while the block runs; yields its process id once `ready` answers 200. Raises `ServerFailedError`."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=clean_environment() | dict(environment or {}),
            cwd=ROOT,
        )
    try:
        await _wait_until_ready(process, port, ready, wait_s, log)
        yield process.pid
    finally:
        await stop(process)


async def stop(process: "subprocess.Popen[bytes]", patience_s: float = 20.0) -> None:
    """Ask the process to end, wait, and kill it when it does not."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        await asyncio.to_thread(process.wait, patience_s)
    except subprocess.TimeoutExpired:
        process.kill()
        await asyncio.to_thread(process.wait)


def clean_environment() -> dict[str, str]:
    """This process's environment without settings of the product or keys of a model."""
    private = ("YUZUI_", "OPENAI_", "LANGSMITH_", "LANGCHAIN_")
    return {name: value for name, value in os.environ.items() if not name.startswith(private)}


async def _wait_until_ready(process: "subprocess.Popen[bytes]", port: int, path: str, wait_s: float, log: Path) -> None:
    end = time.monotonic() + wait_s
    probe = request("GET", path)
    while time.monotonic() < end and process.poll() is None:
        with suppress(OSError, HttpFailedError):  # not listening yet
            if (await call(port, probe)).status == 200:
                return
        await asyncio.sleep(0.02)
    tail = log.read_text(encoding="utf-8", errors="replace")[-2000:]
    raise ServerFailedError(f"{process.args!r} was not ready after {wait_s:.0f} s (exit {process.poll()}):\n{tail}")
