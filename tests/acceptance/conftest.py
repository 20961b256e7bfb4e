"""A real `yuzui serve` in a process of its own, once for all acceptance tests."""

import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

START_SECONDS = 60.0
STOP_SECONDS = 30.0


class Server:
    """A running `yuzui serve`. `output` is what it printed so far."""

    def __init__(self, data_dir: Path, *arguments: str, environ: dict[str, str] | None = None) -> None:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("YUZUI_")}
        command = [sys.executable, "-c", "import sys; from yuzui.bootstrap import main; sys.exit(main())", "serve"]
        self.process = subprocess.Popen(
            [*command, "--port", "0", "--data-dir", str(data_dir / "data"), *arguments],
            cwd=data_dir,
            env=clean | {"PYTHONUNBUFFERED": "1"} | (environ or {}),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.output = ""
        self.url = self._ready()

    def client(self, user: str | None = "alice", **headers: str) -> httpx2.Client:
        """An HTTP client as a dev user, or as nobody."""
        token = {"Authorization": f"Bearer dev-{user}"} if user else {}
        return httpx2.Client(base_url=self.url, headers=token | headers, timeout=30.0, trust_env=False)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Ask it to end, and wait for it; its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            rest, _ = self.process.communicate(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            rest, _ = self.process.communicate()
        self.output += rest.decode("utf-8", "replace")
        return self.process.returncode

    def _ready(self) -> str:
        assert self.process.stdout is not None
        descriptor = self.process.stdout.fileno()
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if select.select([descriptor], [], [], 0.1)[0]:
                chunk = os.read(descriptor, 65_536)
                self.output += chunk.decode("utf-8", "replace")
                found = re.search(r"Yuzui is ready:\s+(http://\S+?)/\s", self.output)
                if found and "Ctrl-C" in self.output:
                    return found[1]
                if not chunk:
                    break
        self.stop(signal.SIGKILL)
        raise AssertionError(f"the server did not become ready:\n{self.output}")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for the session, with the bundled app and its own PostgreSQL."""
    running = Server(tmp_path_factory.mktemp("acceptance"))
    yield running
    assert running.stop() == 0, running.output


@pytest.fixture
def alice(server: Server) -> Iterator[httpx2.Client]:
    with server.client("alice") as client:
        yield client


@pytest.fixture
def bob(server: Server) -> Iterator[httpx2.Client]:
    with server.client("bob") as client:
        yield client
