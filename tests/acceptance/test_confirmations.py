"""Confirmed actions whose run is stopped, and what a crash or a kill leaves behind (R-CONF-03, R-SAFE-03, R-OPSX-01)."""

import os
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import httpx2
import psutil
import pytest
from tests.acceptance.conftest import Server
from tests.acceptance.test_bad_input import assert_problem
from tests.acceptance.test_processes import ROOT, eventually

START = 15.0


@pytest.fixture(scope="module")
def writing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    environ = {"PYTHONPATH": str(ROOT), "YUZUI_SHUTDOWN_GRACE_S": "1"}
    running = Server(
        tmp_path_factory.mktemp("writing"), "--app", "tests.acceptance.writing_app:writing", environ=environ
    )
    yield running
    running.stop()


def drafted(client: httpx2.Client, message: str) -> dict[str, Any]:
    """A pending action in a session of its own."""
    session = client.post("/v1/sessions", json={"app": "writing"}).json()["id"]
    prefer = {"Prefer": "wait=20"}
    run = client.post(f"/v1/sessions/{session}/runs", json={"message": message}, headers=prefer).json()
    assert run["outcome"] == "confirmation_required", run
    action: dict[str, Any] = client.get(f"/v1/pending-actions/{run['pending_action_id']}").json()
    return action | {"session_id": session}


def moved(client: httpx2.Client, action_id: str, *statuses: str) -> dict[str, Any]:
    """The action, once it has one of the statuses."""
    deadline = time.monotonic() + START
    while True:
        action: dict[str, Any] = client.get(f"/v1/pending-actions/{action_id}").json()
        if action["status"] in statuses:
            return action
        assert time.monotonic() < deadline, action
        time.sleep(0.02)


def confirm(server: Server, action_id: str) -> httpx2.Response:
    with server.client("alice") as client:
        return client.post(f"/v1/pending-actions/{action_id}/confirm")


@pytest.mark.parametrize(("kind", "expected"), [("inside", "failed"), ("outside", "uncertain")])
def test_R_CONF_03_a_cancelled_effect_settles_its_action_by_what_the_ledger_knows(
    writing: Server, kind: str, expected: str
) -> None:
    with writing.client("alice") as alice, ThreadPoolExecutor(1) as pool:
        action = drafted(alice, f"write {kind} 40")
        answer = pool.submit(confirm, writing, action["id"])
        begun = moved(alice, action["id"], "executing")
        assert alice.post(f"/v1/runs/{begun['result_run_id']}/cancel").status_code == 202
        eventually(alice, begun["result_run_id"], "cancelled")
        assert moved(alice, action["id"], "failed", "uncertain", "executed")["status"] == expected
        assert answer.result(timeout=START).json()["status"] == expected
        assert confirm(writing, action["id"]).json()["status"] == expected


def test_R_CONF_03_an_effect_cancelled_before_it_began_takes_its_action_along(writing: Server) -> None:
    with writing.client("alice") as alice, ThreadPoolExecutor(1) as pool:
        action = drafted(alice, "write inside 0")
        runs = f"/v1/sessions/{action['session_id']}/runs"
        busy = alice.post(runs, json={"message": "wait 40"}).json()["run_id"]
        answer = pool.submit(confirm, writing, action["id"])
        deadline = time.monotonic() + START
        queued: list[str] = []
        while not queued:
            messages = alice.get(f"/v1/sessions/{action['session_id']}/messages").json()["items"]
            queued = [item["run_id"] for item in messages if item["text"].startswith(("确认执行", "Confirmed"))]
            assert time.monotonic() < deadline, messages
        assert alice.post(f"/v1/runs/{queued[0]}/cancel").status_code == 202
        assert moved(alice, action["id"], "cancelled", "executed")["status"] == "cancelled"
        assert_problem(answer.result(timeout=START), 409, "action_settled")
        alice.post(f"/v1/runs/{busy}/cancel")
        eventually(alice, busy, "cancelled")


def test_R_CONF_02_no_key_of_a_client_can_stand_in_the_way_of_a_confirmation(writing: Server) -> None:
    with writing.client("alice") as alice:
        action = drafted(alice, "write inside 0")
        headers = {"Idempotency-Key": f"confirm:{action['id']}"}
        runs = f"/v1/sessions/{action['session_id']}/runs"
        assert alice.post(runs, json={"message": "wait 0"}, headers=headers).status_code == 202
        assert confirm(writing, action["id"]).json()["status"] == "executed"
        spaced = {"Idempotency-Key": f"confirm {action['id']}"}
        assert_problem(alice.post(runs, json={"message": "wait 0"}, headers=spaced), 400, "bad_header")


@pytest.mark.parametrize(
    ("message", "status", "code"),
    [
        ("be unwell cancelled", "failed", "tool_failed"),
        ("be unwell exits", "failed", "tool_failed"),
        ("be unwell circular", "succeeded", None),
        ("be unwell enormous", "succeeded", None),
        ("cancelled over words", "failed", "internal"),
    ],
)
def test_R_RUN_04_whatever_an_app_does_its_run_ends_and_the_session_goes_on(
    writing: Server, message: str, status: str, code: str | None
) -> None:
    with writing.client("alice", Prefer="wait=10") as alice:
        session = alice.post("/v1/sessions", json={"app": "writing"}).json()["id"]
        run = alice.post(f"/v1/sessions/{session}/runs", json={"message": message}).json()
        assert (run["status"], run["error"]["code"] if run["error"] else None) == (status, code)
        following = alice.post(f"/v1/sessions/{session}/runs", json={"message": "wait 0"}).json()
        assert following["status"] == "succeeded"


def test_R_SAFE_03_the_log_of_a_crash_holds_no_local_variables_and_no_secret(tmp_path: Path) -> None:
    environ = {"PYTHONPATH": str(ROOT)}
    server = Server(tmp_path, "--app", "tests.acceptance.writing_app:writing", environ=environ)
    secret = "sk-" + "a1B2c3D4" * 5
    try:
        with server.client("alice") as alice:
            session = alice.post("/v1/sessions", json={"app": "writing"}).json()["id"]
            body = {"message": "crash over plums-that-nobody-logs"}
            run = alice.post(f"/v1/sessions/{session}/runs", json=body, headers={"Prefer": "wait=20"}).json()
            assert (run["status"], run["error"]["code"]) == ("failed", "internal")
            body = {"message": f"crash over {secret}"}
            alice.post(f"/v1/sessions/{session}/runs", json=body, headers={"Prefer": "wait=20"})
    finally:
        server.stop()
    assert "ZeroDivisionError" in server.output
    assert "locals" not in server.output
    assert server.output.count("plums-that-nobody-logs") == 1, "only where the app's own error says it"
    assert secret not in server.output


def test_R_OPSX_01_a_killed_server_leaves_its_port_free_at_once(tmp_path: Path) -> None:
    server = Server(tmp_path)
    address = urlparse(server.url)
    children = psutil.Process(server.process.pid).children()
    deadline = time.monotonic() + START
    while not any("foods" in " ".join(child.cmdline()) for child in children):
        assert time.monotonic() < deadline, "the server of outside tools did not start"
        time.sleep(0.02)
        children = psutil.Process(server.process.pid).children()
    tools = next(child for child in children if "foods" in " ".join(child.cmdline()))
    tools.suspend()  # it cannot notice that its client has gone
    os.kill(server.process.pid, signal.SIGKILL)
    server.process.wait(timeout=START)
    assert server.process.stdout is not None
    server.process.stdout.close()
    try:
        with socket.socket() as again:
            again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            again.bind((address.hostname, address.port))
    finally:
        tools.resume()
        tools.kill()
        Server(tmp_path).stop()  # takes the orphaned PostgreSQL over, and ends it
