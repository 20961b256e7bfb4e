"""The server as a process: starting, signals, clients that leave, the terminal client (R-OPSX-01, R-RUN-06)."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import httpx2
import pytest
from tests.acceptance.conftest import Server
from tests.acceptance.test_runs import SSE, events

ROOT = Path(__file__).parents[2]
APPS = ("--app", "tests.acceptance.slow_app:patient", "--app", "tests.acceptance.slow_app:hasty")


def slow_server(folder: Path, **environ: str) -> Server:
    """A server of the slow apps."""
    settings = {"YUZUI_LOST_CLIENT_GRACE_S": "0.2", "YUZUI_SHUTDOWN_GRACE_S": "1", "PYTHONPATH": str(ROOT)} | environ
    return Server(folder, *APPS, environ=settings)


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = slow_server(tmp_path_factory.mktemp("slow"))
    yield running
    running.stop()


def start(client: httpx2.Client, app: str, message: str) -> str:
    """A run that is accepted."""
    session = client.post("/v1/sessions", json={"app": app}).json()["id"]
    response = client.post(f"/v1/sessions/{session}/runs", json={"message": message})
    assert response.status_code == 202, response.text
    return str(response.json()["run_id"])


def eventually(client: httpx2.Client, run_id: str, *statuses: str, within: float = 15.0) -> dict[str, Any]:
    """The run, once it has one of the statuses."""
    deadline = time.monotonic() + within
    while True:
        run: dict[str, Any] = client.get(f"/v1/runs/{run_id}").json()
        if run["status"] in statuses:
            return run
        assert time.monotonic() < deadline, run
        time.sleep(0.05)


def cli(
    *arguments: str, folder: Path, environ: dict[str, str] | None = None, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """One `yuzui` command."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("YUZUI_")}
    command = [sys.executable, "-c", "import sys; from yuzui.bootstrap import main; sys.exit(main())", *arguments]
    return subprocess.run(
        command,
        cwd=folder,
        env=clean | (environ or {}),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def leave(server: Server, app: str, message: str) -> str:
    """Post a message for a stream, read the run's id from its first frame, and reset the connection."""
    with server.client("alice") as client:
        session = client.post("/v1/sessions", json={"app": app}).json()["id"]
    where = urlparse(server.url)
    body = json.dumps({"message": message}).encode()
    head = (
        f"POST /v1/sessions/{session}/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer dev-alice\r\n"
        f"Accept: text/event-stream\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection((str(where.hostname), int(where.port or 0)), timeout=10) as connection:
        connection.sendall(head.encode() + body)
        received = b""
        while not (found := re.search(rb'"run_id":"(run_\w+)"', received)):
            chunk = connection.recv(65_536)
            assert chunk, received
            received += chunk
    return found[1].decode()


def test_R_RUN_06_a_lost_client_cancels_the_run_of_an_app_that_says_so(slow: Server) -> None:
    run_id = leave(slow, "hasty", "wait 30")
    with slow.client("alice") as alice:
        assert eventually(alice, run_id, "cancelled")["status"] == "cancelled"
        last = alice.get(f"/v1/runs/{run_id}/events").json()["items"][-1]
        assert last["type"] == "run.cancelled"


def test_R_RUN_06_a_lost_client_lets_the_run_of_another_app_go_on(slow: Server) -> None:
    run_id = leave(slow, "patient", "wait 1.5")
    with slow.client("alice") as alice:
        assert eventually(alice, run_id, "succeeded", "cancelled")["status"] == "succeeded"


def test_R_RUN_06_cancel_stops_the_work_promptly(slow: Server) -> None:
    with slow.client("alice") as alice:
        run_id = start(alice, "patient", "wait 50")
        eventually(alice, run_id, "running")
        begun = time.monotonic()
        assert alice.post(f"/v1/runs/{run_id}/cancel").status_code == 202
        eventually(alice, run_id, "cancelled")
        assert time.monotonic() - begun < 5
        assert alice.post(f"/v1/runs/{run_id}/cancel").json()["status"] == "cancelled"


def test_two_hundred_clients_that_leave_at_once_leave_nothing_behind(slow: Server) -> None:
    with slow.client("alice") as alice:
        run_id = start(alice, "patient", "wait 6")
        where = urlparse(slow.url)
        request = (
            f"GET /v1/runs/{run_id}/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer dev-alice\r\n"
            "Accept: text/event-stream\r\n\r\n"
        ).encode()
        for _ in range(200):
            with socket.create_connection((str(where.hostname), int(where.port or 0)), timeout=10) as connection:
                connection.sendall(request)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        assert eventually(alice, run_id, "succeeded")["outcome"] == "answered"
        deadline = time.monotonic() + 10
        while "yuzui_event_streams 0.0" not in alice.get("/metrics").text:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert events(alice, "GET", f"/v1/runs/{run_id}/events")[-1]["type"] == "run.completed"


def test_many_open_streams_hold_no_database_connection(slow: Server) -> None:
    with slow.client("alice") as alice:
        run_id = start(alice, "patient", "wait 5")
        where = urlparse(slow.url)
        request = (
            f"GET /v1/runs/{run_id}/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer dev-alice\r\n"
            "Accept: text/event-stream\r\n\r\n"
        ).encode()
        connections = [
            socket.create_connection((str(where.hostname), int(where.port or 0)), timeout=10) for _ in range(60)
        ]
        try:
            for connection in connections:
                connection.sendall(request)
            for connection in connections:
                assert b"200 OK" in connection.recv(65_536)
            assert alice.get("/readyz").status_code == 200
            assert alice.get("/v1/sessions").status_code == 200
        finally:
            for connection in connections:
                connection.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_R_OPSX_01_a_signal_hands_runs_over_and_the_next_server_finishes_them(tmp_path: Path, number: int) -> None:
    first = slow_server(tmp_path)
    with first.client("alice") as alice:
        run_id = start(alice, "patient", "wait 3")
        eventually(alice, run_id, "running")
        with alice.stream("GET", f"/v1/runs/{run_id}/events", headers=SSE) as stream:
            chunks = stream.iter_bytes()
            seen = next(chunks)
            first.process.send_signal(number)
            seen += b"".join(chunks)  # ends by itself: the client is sent elsewhere
    assert b"event: run.started" in seen
    assert b"event: run.completed" not in seen
    assert first.stop(number) == 0, first.output
    assert "Traceback" not in first.output
    second = slow_server(tmp_path)
    try:
        with second.client("alice") as alice:
            run = eventually(alice, run_id, "succeeded", "failed", within=30)
            assert run["status"] == "succeeded"
            assert run["attempt"] == 2
            resumed = events(alice, "GET", f"/v1/runs/{run_id}/events?after={seen.count(b'event: ')}")
            assert "run.restarted" in [event["type"] for event in resumed]
    finally:
        assert second.stop() == 0


def test_a_port_in_use_is_named_with_the_flag(server: Server, tmp_path: Path) -> None:
    port = str(urlparse(server.url).port)
    refused = cli("serve", "--port", port, "--data-dir", "d", folder=tmp_path)
    assert refused.returncode == 1
    assert f"Port {port} on 127.0.0.1 is in use" in refused.stderr
    assert "--port" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not (tmp_path / "d").exists()


def test_R_AUTH_01_a_public_address_is_refused_before_anything_starts(tmp_path: Path) -> None:
    refused = cli("serve", "--host", "0.0.0.0", "--data-dir", "d", folder=tmp_path)  # noqa: S104
    assert refused.returncode == 2
    assert "YUZUI_API_KEYS_FILE" in refused.stderr
    assert not (tmp_path / "d").exists()


def test_the_terminal_client_reads_confirms_and_shows_the_evidence(server: Server, tmp_path: Path) -> None:
    read = cli("chat", "冰箱里有什么", "--url", server.url, folder=tmp_path)
    assert read.returncode == 0, read.stderr
    assert "冰箱" in read.stdout
    asked = cli("chat", "把两盒黄油放进冰箱", "--url", server.url, folder=tmp_path)
    assert asked.returncode == 0, asked.stderr
    assert "--yes" in asked.stderr
    done = cli("chat", "把两盒黄油放进冰箱", "--yes", "--url", server.url, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "已完成" in done.stdout
    with server.client("alice") as alice:
        run_id = alice.get("/v1/pending-actions?status=executed&limit=1").json()["items"][0]["run_id"]
    audit = cli("audit", "show", run_id, "--url", server.url, "--json", folder=tmp_path)
    assert json.loads(audit.stdout)["run_id"] == run_id
    stranger = cli("audit", "show", run_id, "--as", "bob", "--url", server.url, folder=tmp_path)
    assert stranger.returncode == 1
    assert "404" in stranger.stderr


def test_doctor_policy_and_routing_work_without_a_server(tmp_path: Path) -> None:
    doctor = cli("doctor", "--json", folder=tmp_path)
    parts = {part["name"]: part for part in json.loads(doctor.stdout)["parts"]}
    assert doctor.returncode == 0
    assert parts["model"]["state"] == "missing"
    unreachable = cli(
        "doctor", "--json", folder=tmp_path, environ={"YUZUI_DATABASE_URL": "postgresql://u:secret@127.0.0.1:9/x"}
    )
    assert unreachable.returncode == 1
    assert "secret" not in unreachable.stdout
    shown = cli("policy", "show", "home-menu", "--json", folder=tmp_path)
    assert {"fridge", "add_item"} <= {policy["intent"] for policy in json.loads(shown.stdout)}
    explained = cli("route", "explain", "把两盒牛奶放进冰箱", "--json", folder=tmp_path)
    assert json.loads(explained.stdout)[-1]["intent"] == "add_item"


def test_a_worker_alone_carries_out_what_a_server_without_one_accepts(tmp_path: Path) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("YUZUI_")}
    accepting = Server(tmp_path, "--no-worker", *APPS, environ={"PYTHONPATH": str(ROOT)})
    worker: subprocess.Popen[bytes] | None = None
    try:
        with accepting.client("alice") as alice:
            run_id = start(alice, "patient", "tell me something")
            assert alice.get(f"/v1/runs/{run_id}").json()["status"] == "queued"
            command = [sys.executable, "-c", "import sys; from yuzui.bootstrap import main; sys.exit(main())", "worker"]
            worker = subprocess.Popen(
                [*command, "--data-dir", "data", *APPS], cwd=tmp_path, env=clean | {"PYTHONPATH": str(ROOT)}
            )
            assert eventually(alice, run_id, "succeeded", "failed", within=30)["message"]["source"] == "demo"
            worker.send_signal(signal.SIGTERM)
            assert worker.wait(30) == 0
    finally:
        if worker is not None and worker.poll() is None:
            worker.kill()
            worker.wait()
        assert accepting.stop() == 0


def test_a_second_start_on_a_warm_directory_is_ready_within_three_seconds(tmp_path: Path) -> None:
    assert Server(tmp_path).stop() == 0
    begun = time.monotonic()
    warm = Server(tmp_path)
    ready = time.monotonic() - begun
    assert warm.stop() == 0
    assert ready < 6.0  # 3 s on an idle machine; this one may be shared
