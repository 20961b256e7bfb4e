"""Bad input against a real server: always a problem, never a stack trace, never a half-done thing."""

import socket
from typing import Any
from urllib.parse import urlparse

import httpx2
import pytest
from tests.acceptance.conftest import Server

JSON = {"content-type": "application/json"}


def assert_problem(response: httpx2.Response, status: int, code: str | None = None) -> dict[str, Any]:
    """The response is a problem of this status (and code)."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = response.json()
    assert problem["status"] == status
    assert code is None or problem["code"] == code
    assert "Traceback" not in response.text
    return problem


def new_session(client: httpx2.Client) -> str:
    """A session with the bundled app."""
    response = client.post("/v1/sessions", json={"app": "home-menu"})
    assert response.status_code == 201, response.text
    return str(response.json()["id"])


def finished(client: httpx2.Client, message: str, session: str | None = None) -> dict[str, Any]:
    """A run, waited for."""
    path = f"/v1/sessions/{session or new_session(client)}/runs"
    response = client.post(path, json={"message": message}, headers={"Prefer": "wait=30"})
    assert response.status_code == 200, response.text
    run: dict[str, Any] = response.json()
    return run


@pytest.mark.parametrize("token", [None, "dev-alice2", "wrong"])
def test_R_AUTH_01_an_unknown_token_is_401_on_every_path(server: Server, token: str | None) -> None:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with httpx2.Client(base_url=server.url, headers=headers, trust_env=False) as nobody:
        document = nobody.get("/openapi.json").json()
        for path, operations in document["paths"].items():
            if path.startswith("/v1/"):
                for method in operations:
                    concrete = path.replace("{", "").replace("}", "")
                    assert_problem(nobody.request(method.upper(), concrete), 401, "unauthorized")


def test_another_persons_object_is_404_on_every_path(alice: httpx2.Client, bob: httpx2.Client) -> None:
    run = finished(alice, "把两盒牛奶放进冰箱")
    assert run["pending_action_id"], run
    values = {"session_id": run["session_id"], "run_id": run["id"], "action_id": run["pending_action_id"]}
    bodies: dict[str, Any] = {
        "/v1/sessions/{session_id}/runs": {"message": "hi"},
        "/v1/runs/{run_id}/feedback": {"rating": 1},
        "/v1/pending-actions/{action_id}/amend": {"arguments": {}},
    }
    checked = 0
    for path, operations in alice.get("/openapi.json").json()["paths"].items():
        concrete = path.format(**values) if any(f"{{{name}}}" in path for name in values) else None
        for method in operations if concrete else ():
            assert_problem(bob.request(method.upper(), str(concrete), json=bodies.get(path)), 404, "not_found")
            checked += 1
    assert checked >= 12
    assert alice.get(f"/v1/pending-actions/{run['pending_action_id']}").json()["status"] == "pending"
    assert alice.get(f"/v1/sessions/{run['session_id']}").status_code == 200


def test_an_unknown_app_is_404_and_names_those_that_are(alice: httpx2.Client) -> None:
    problem = assert_problem(alice.post("/v1/sessions", json={"app": "nope"}), 404, "unknown_app")
    assert "home-menu" in problem["detail"]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b'{"message": ""}', 422, "empty_message"),
        (b'{"message": "\\u200b"}', 422, "empty_message"),
        (b'{"message": "' + b"x" * 8_001 + b'"}', 413, "message_too_long"),
        (b'{"message": "' + b"x" * 1_100_000 + b'"}', 413, "body_too_large"),
        (b"{", 400, "bad_json"),
        (b'{"message": "a", "message": "b"}', 400, "bad_json"),
        (b'{"message": NaN}', 400, "bad_json"),
        (b'{"message": 5}', 422, "invalid_request"),
        (b'{"message": "a", "user": "bob"}', 422, "invalid_request"),
        (b'{"message": "\xff"}', 400, "bad_encoding"),
        (b'{"message": "a\\u0000"}', 400, "bad_encoding"),
        (b'{"message": "\\udc00"}', 400, "bad_encoding"),
    ],
)
def test_R_SAFE_01_a_bad_message_is_refused_and_leaves_no_trace(
    alice: httpx2.Client, body: bytes, status: int, code: str
) -> None:
    session = new_session(alice)
    assert_problem(alice.post(f"/v1/sessions/{session}/runs", content=body, headers=JSON), status, code)
    assert alice.get(f"/v1/sessions/{session}/messages").json()["items"] == []


def test_an_oversize_body_is_refused_before_all_of_it_is_sent(server: Server) -> None:
    where = urlparse(server.url)
    head = (
        b"POST /v1/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer dev-alice\r\n"
        b"Content-Type: application/json\r\nContent-Length: 1000000000\r\n\r\n{"
    )
    with socket.create_connection((str(where.hostname), int(where.port or 0)), timeout=10) as connection:
        connection.sendall(head)
        assert connection.recv(65_536).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("path", ["/v1/runs/run_%00", "/v1/runs/%ff", "/v1/sessions?after=%00"])
def test_a_path_that_is_no_text_is_400(alice: httpx2.Client, path: str) -> None:
    assert_problem(alice.get(path), 400, "bad_encoding")


@pytest.mark.parametrize("after", ["zzz", "' or 1=1 --", "ses_1", "🙂"])
def test_a_strange_list_cursor_is_no_fault_of_the_server(alice: httpx2.Client, after: str) -> None:
    for path in ("/v1/sessions", "/v1/pending-actions", f"/v1/sessions/{new_session(alice)}/messages"):
        response = alice.get(path, params={"after": after})
        assert response.status_code in (200, 400), response.text


def test_confirm_takes_no_arguments(alice: httpx2.Client) -> None:
    action = finished(alice, "把两盒牛奶放进冰箱")["pending_action_id"]
    path = f"/v1/pending-actions/{action}/confirm"
    assert_problem(alice.post(path, json={"arguments": {"amount": 99}}), 422, "invalid_request")
    assert alice.get(f"/v1/pending-actions/{action}").json()["status"] == "pending"


def test_unknown_paths_methods_and_media_types_are_problems(alice: httpx2.Client) -> None:
    assert_problem(alice.get("/v1/nothing"), 404, "not_found")
    assert_problem(alice.put("/v1/sessions"), 405, "method_not_allowed")
    assert_problem(alice.post("/v1/sessions", content=b"app=x", headers={"content-type": "text/plain"}), 415)
