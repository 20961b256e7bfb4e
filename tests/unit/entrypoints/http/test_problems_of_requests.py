"""Every refusal is a problem of one shape, whatever was wrong and whoever noticed it (R-API-01)."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from tests.unit.entrypoints.doubles import World, application
from tests.unit.entrypoints.http.conftest import client

from yuzui.entrypoints.services import Limits
from yuzui.errors import DatabaseUnavailableError
from yuzui.owner import Owner

ALICE = Owner(tenant="family-a", user="alice")


def assert_problem(response: httpx2.Response, status: int, code: str) -> dict[str, Any]:
    """The response is a problem of this status and code, and shows no inside."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = response.json()
    assert {"type", "title", "status", "code", "detail"} <= problem.keys()
    assert (problem["status"], problem["code"]) == (status, code)
    assert "Traceback" not in response.text
    assert 'File "' not in response.text
    return problem


async def session(alice: httpx2.AsyncClient) -> str:
    response = await alice.post("/v1/sessions", json={"app": "notes"})
    return str(response.json()["id"])


async def test_unknown_paths_and_methods_are_problems(alice: httpx2.AsyncClient) -> None:
    assert_problem(await alice.get("/v1/nothing"), 404, "not_found")
    assert_problem(await alice.get("/nothing"), 404, "not_found")
    assert_problem(await alice.put("/v1/sessions"), 405, "method_not_allowed")
    refused = await alice.get("/v1/sessions/ses_1/runs")
    assert_problem(refused, 405, "method_not_allowed")
    assert refused.headers["allow"] == "POST"
    assert_problem(await alice.delete("/v1/runs/run_1/events"), 405, "method_not_allowed")


@pytest.mark.parametrize("token", [None, "wrong", "dev-alice2", ""])
@pytest.mark.parametrize("path", ["/v1/sessions", "/v1/runs/run_1/events", "/v1/nothing", "/v1/audit/runs/run_1"])
async def test_R_AUTH_01_without_a_known_token_everything_is_401(world: World, token: str | None, path: str) -> None:
    async with client(application(world)[0], token) as nobody:
        response = await nobody.get(path)
        assert_problem(response, 401, "unauthorized")
        assert response.headers["www-authenticate"].startswith("Bearer")


async def test_R_AUTH_01_a_body_is_not_read_before_the_token_is_known(world: World) -> None:
    edge, _ = application(world)
    sent: list[Any] = []

    async def receive() -> Any:
        raise AssertionError("the body was read")

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/v1/sessions", "raw_path": b"/v1/sessions", "query_string": b"", "root_path": "", "headers": [(b"content-length", b"99999999")], "server": ("127.0.0.1", 8000)}  # fmt: skip
    await edge(scope, receive, send)
    assert sent[0]["status"] == 401


BAD_BODIES = [
    (b"", 422, "invalid_request"),
    (b"{", 400, "bad_json"),
    (b"[]", 422, "invalid_request"),
    (b'"x"', 422, "invalid_request"),
    (b"null", 422, "invalid_request"),
    (b"NaN", 400, "bad_json"),
    (b'{"KEY": Infinity}', 400, "bad_json"),
    (b'{"KEY": -Infinity}', 400, "bad_json"),
    (b'{"KEY": 1e999}', 400, "bad_json"),
    (b'{"KEY": "a", "KEY": "b"}', 400, "bad_json"),
    (b'{"KEY": "a", "other": {"x": 1, "x": 2}}', 400, "bad_json"),
    (b'{"KEY": "a"} trailing', 400, "bad_json"),
    (b"{'KEY': 'a'}", 400, "bad_json"),
    (b'{"KEY": "\xff\xfe"}', 400, "bad_encoding"),
    (b"\xff\xfe{\x00}\x00", 400, "bad_encoding"),
    (b'{"KEY": "a\x00b"}', 400, "bad_encoding"),
    (b'{"KEY": "a\\u0000b"}', 400, "bad_encoding"),
    (b'{"KEY": "\\ud800"}', 400, "bad_encoding"),
    (b'{"KEY": ' + b"[" * 40 + b"]" * 40 + b"}", 400, "bad_json"),
    (b"[" * 100_000, 400, "bad_json"),
    (b'{"KEY": ' + b"9" * 5_000 + b"}", 400, "bad_json"),
    (b'{"KEY": 5}', 422, "invalid_request"),
    (b'{"KEY": null}', 422, "invalid_request"),
    (b'{"KEY": ["a"]}', 422, "invalid_request"),
    (b"{}", 422, "invalid_request"),
    (b'{"KEY": "notes", "extra": 1}', 422, "invalid_request"),
]


@pytest.mark.parametrize(("body", "status", "code"), BAD_BODIES)
async def test_a_bad_body_is_refused_alike_on_hot_and_other_routes(
    alice: httpx2.AsyncClient, body: bytes, status: int, code: str
) -> None:
    headers = {"content-type": "application/json"}
    runs = f"/v1/sessions/{await session(alice)}/runs"
    if body == b"":
        body_for_runs, hot_status, hot_code = body, 400, "bad_json"
    else:
        body_for_runs, hot_status, hot_code = body.replace(b"KEY", b"message"), status, code
    response = await alice.post("/v1/sessions", content=body.replace(b"KEY", b"app"), headers=headers)
    assert_problem(response, status, code)
    assert_problem(await alice.post(runs, content=body_for_runs, headers=headers), hot_status, hot_code)


async def test_an_unknown_or_missing_field_is_named(alice: httpx2.AsyncClient) -> None:
    path = f"/v1/sessions/{await session(alice)}/runs"
    problem = assert_problem(await alice.post(path, json={"mesage": "hi"}), 422, "invalid_request")
    assert {item["field"] for item in problem["errors"]} == {"message", "mesage"}
    problem = assert_problem(await alice.post("/v1/sessions", json={"ap": "notes"}), 422, "invalid_request")
    assert {item["field"] for item in problem["errors"]} == {"app", "ap"}


@pytest.mark.parametrize(
    "media", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
)
async def test_a_body_that_is_not_json_is_415(alice: httpx2.AsyncClient, media: str) -> None:
    headers = {"content-type": media}
    runs = f"/v1/sessions/{await session(alice)}/runs"
    for path in ("/v1/sessions", runs):
        assert_problem(await alice.post(path, content=b"{}", headers=headers), 415, "unsupported_media_type")


async def test_an_oversize_body_is_413_by_its_length_and_by_its_bytes(world: World) -> None:
    edge, _ = application(world, limits=Limits(max_body_bytes=100))

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(10):
            yield b" " * 50

    async with client(edge) as alice:
        runs = f"/v1/sessions/{await session(alice)}/runs"
        for path in ("/v1/sessions", runs):
            assert_problem(await alice.post(path, content=b" " * 101), 413, "body_too_large")
            assert_problem(await alice.post(path, content=chunks()), 413, "body_too_large")


@pytest.mark.parametrize(
    ("message", "status", "code"),
    [
        ("", 422, "empty_message"),
        (" \n\t ", 422, "empty_message"),
        ("\u200b\u2060\ufeff", 422, "empty_message"),
        ("字" * 8_001, 413, "message_too_long"),
    ],
)
async def test_R_SAFE_01_empty_and_overlong_messages_are_refused_and_nothing_is_stored(
    world: World, alice: httpx2.AsyncClient, message: str, status: int, code: str
) -> None:
    path = f"/v1/sessions/{await session(alice)}/runs"
    assert_problem(await alice.post(path, json={"message": message}), status, code)
    assert world.runs == {}


@pytest.mark.parametrize("path", ["/v1/runs/%00", "/v1/runs/%ff", "/v1/sessions?after=%00", "/v1/sessions?after=%ff"])
async def test_a_path_or_query_that_is_no_text_is_400(alice: httpx2.AsyncClient, path: str) -> None:
    assert_problem(await alice.get(path), 400, "bad_encoding")


@pytest.mark.parametrize("identifier", ["run_%00", "run_%ff", "..", "run_1%20or%201", "x" * 500, "编号"])
async def test_an_id_that_cannot_be_one_is_nobodys_object(alice: httpx2.AsyncClient, identifier: str) -> None:
    assert_problem(await alice.get(f"/v1/runs/{identifier}/events"), 404, "not_found")


@pytest.mark.parametrize("query", ["limit=0", "limit=-1", "limit=x", "limit=1.5"])
async def test_a_bad_page_is_422(alice: httpx2.AsyncClient, query: str) -> None:
    problem = assert_problem(await alice.get(f"/v1/sessions?{query}"), 422, "invalid_request")
    assert problem["errors"][0]["field"] == "limit"


async def test_a_fault_of_ours_is_a_500_without_any_detail(world: World, alice: httpx2.AsyncClient) -> None:
    world.fault = RuntimeError("secret inside")
    for path in ("/v1/runs/run_1", "/v1/runs/run_1/events"):
        problem = assert_problem(await alice.get(path), 500, "internal")
        assert "secret" not in json.dumps(problem)


async def test_R_DEG_04_a_lost_database_is_a_503_that_says_when_to_come_back(
    world: World, alice: httpx2.AsyncClient
) -> None:
    world.fault = DatabaseUnavailableError("gone")
    for path in ("/v1/runs/run_1", "/v1/runs/run_1/events"):
        response = await alice.get(path)
        problem = assert_problem(response, 503, "database_unavailable")
        assert problem["retry_after"] == 1
        assert response.headers["retry-after"] == "1"


async def test_every_answer_has_the_security_headers(alice: httpx2.AsyncClient) -> None:
    for path in ("/healthz", "/v1/sessions", "/v1/nothing", "/docs", "/openapi.json"):
        headers = (await alice.get(path)).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
    assert (await alice.get("/v1/sessions")).headers["cache-control"] == "no-store"
    assert "default-src 'none'" in (await alice.get("/v1/sessions")).headers["content-security-policy"]
