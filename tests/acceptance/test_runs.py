"""Runs against a real server: every way to receive the answer, resumption after every event, one run for one key."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest
from tests.acceptance.conftest import Server
from tests.acceptance.test_bad_input import assert_problem, finished, new_session

SSE = {"Accept": "text/event-stream"}


def events(client: httpx2.Client, method: str, path: str, body: Any = None, **headers: str) -> list[dict[str, Any]]:
    """All events of a stream until the server ends it."""
    with client.stream(method, path, json=body, headers=SSE | headers) as response:
        assert response.status_code == 200, response.read()
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["x-accel-buffering"] == "no"
        text = b"".join(response.iter_bytes()).decode()
    return [json.loads(line[6:]) for line in text.split("\n") if line.startswith("data: ")]


def test_R_POL_02_a_direct_read_answers_without_a_model(alice: httpx2.Client) -> None:
    run = finished(alice, "冰箱里有什么")
    assert (run["status"], run["outcome"]) == ("succeeded", "answered")
    assert run["policy"]["mode"] == "direct_read"
    assert run["route"]["source"] == "rule"
    assert run["usage"]["model_calls"] == 0
    assert run["usage"]["tool_calls"] == 1
    assert run["message"]["source"] == "direct"
    assert run["message"]["text"]


def test_R_EVT_01_the_answer_can_be_streamed_and_the_log_read_again(alice: httpx2.Client) -> None:
    live = events(alice, "POST", f"/v1/sessions/{new_session(alice)}/runs", {"message": "冰箱里有什么"})
    assert [event["seq"] for event in live] == list(range(1, len(live) + 1))
    types = [event["type"] for event in live]
    assert types[0] == "run.created"
    assert types[-1] == "run.completed"
    for expected in (
        "run.started",
        "route.decided",
        "policy.compiled",
        "tool.started",
        "tool.finished",
        "message.completed",
    ):
        assert types.count(expected) == 1
    path = f"/v1/runs/{live[0]['run_id']}/events"
    assert alice.get(path).json() == {"items": live, "next": None}


def test_R_EVT_01_a_stream_resumes_after_every_event(alice: httpx2.Client) -> None:
    run = finished(alice, "冰箱里有什么")
    path = f"/v1/runs/{run['id']}/events"
    everything = alice.get(path).json()["items"]
    for after in range(len(everything) + 1):
        assert events(alice, "GET", f"{path}?after={after}") == everything[after:]
        assert events(alice, "GET", path, **{"Last-Event-ID": str(after)}) == everything[after:]
    assert events(alice, "GET", f"{path}?after=99999999999999999999") == []
    assert_problem(alice.get(f"{path}?after=abc", headers=SSE), 400, "bad_cursor")
    assert_problem(alice.get(path, headers=SSE | {"Last-Event-ID": "-1"}), 400, "bad_cursor")


def test_R_EVT_02_the_simple_view_tells_the_same_in_fewer_words(alice: httpx2.Client) -> None:
    run = finished(alice, "冰箱里有什么")
    simple = events(alice, "GET", f"/v1/runs/{run['id']}/events?view=simple")
    assert simple[0]["type"] == "start"
    assert {event["type"] for event in simple[1:-2]} == {"step"}
    assert [event["type"] for event in simple[-2:]] == ["message", "done"]
    assert simple[-2]["text"] == run["message"]["text"]
    numbers = {event["seq"] for event in alice.get(f"/v1/runs/{run['id']}/events").json()["items"]}
    assert {event["seq"] for event in simple} <= numbers


def test_R_DEG_01_without_a_model_other_questions_get_a_labelled_demo_answer(alice: httpx2.Client) -> None:
    run = finished(alice, "给我讲个关于豆腐的故事")
    assert run["status"] == "succeeded"
    assert run["message"]["source"] == "demo"


def test_R_IDEM_05_one_key_is_one_run_also_when_sent_at_once(server: Server, alice: httpx2.Client) -> None:
    path = f"/v1/sessions/{new_session(alice)}/runs"
    headers = {"Idempotency-Key": "race-1"}

    def send(_: int) -> str:
        with server.client("alice") as client:
            response = client.post(path, json={"message": "冰箱里有什么"}, headers=headers)
            assert response.status_code == 202, response.text
            return str(response.json()["run_id"])

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(send, range(16)))) == 1
    assert_problem(alice.post(path, json={"message": "本周菜单"}, headers=headers), 409, "idempotency_mismatch")


def test_R_POL_03_a_write_waits_for_a_person_and_happens_once(server: Server, alice: httpx2.Client) -> None:
    before = _amount(alice, "苹果醋")
    run = finished(alice, "把三瓶苹果醋放进冰箱")
    assert run["outcome"] == "confirmation_required", run
    action = alice.get(f"/v1/pending-actions/{run['pending_action_id']}").json()
    assert action["status"] == "pending"
    assert "苹果醋" in action["summary"]
    assert _amount(alice, "苹果醋") == before

    def confirm(_: int) -> dict[str, Any]:
        with server.client("alice") as client:
            response = client.post(f"/v1/pending-actions/{action['id']}/confirm")
            assert response.status_code == 200, response.text
            settled: dict[str, Any] = response.json()
            return settled

    with ThreadPoolExecutor(4) as pool:
        settled = list(pool.map(confirm, range(4)))
    assert {item["status"] for item in settled} == {"executed"}
    assert len({item["result_run_id"] for item in settled}) == 1
    assert _amount(alice, "苹果醋") == before + 3
    effect = alice.get(f"/v1/runs/{settled[0]['result_run_id']}").json()
    assert effect["status"] == "succeeded"
    audit = alice.get(f"/v1/audit/runs/{run['id']}").json()
    assert [item["decision"] for item in audit["confirmations"]]


def test_R_AUD_01_a_runs_decisions_and_calls_can_be_read_and_no_model_was_asked(alice: httpx2.Client) -> None:
    run = finished(alice, "冰箱里有什么")
    audit = alice.get(f"/v1/audit/runs/{run['id']}").json()
    assert audit["run_id"] == run["id"]
    assert audit["route"]["rule_id"] == run["route"]["rule_id"]
    assert audit["policy"]["policy_hash"] == run["policy"]["policy_hash"]
    assert audit["catalog_version"] == run["policy"]["catalog_version"]
    assert audit["model_calls"] == []
    (call,) = audit["tool_calls"]
    assert (call["tool"], call["effect"], call["outcome"], call["reused"]) == ("list_fridge", "read", "ok", False)
    assert len(call["key"]) == 64
    assert audit["confirmations"] == []


def test_R_CONF_02_a_rejected_action_cannot_be_confirmed(alice: httpx2.Client) -> None:
    action = finished(alice, "把两盒牛奶放进冰箱")["pending_action_id"]
    assert alice.post(f"/v1/pending-actions/{action}/reject").json()["status"] == "rejected"
    assert_problem(alice.post(f"/v1/pending-actions/{action}/confirm"), 409)


def test_messages_and_sessions_are_listed_in_pages(alice: httpx2.Client) -> None:
    session = new_session(alice)
    for text in ("冰箱里有什么", "本周菜单"):
        finished(alice, text, session)
    messages = alice.get(f"/v1/sessions/{session}/messages").json()
    assert [item["role"] for item in messages["items"]] == ["user", "assistant"] * 2
    first = alice.get("/v1/sessions?limit=1").json()
    assert first["items"][0]["id"] == session
    assert first["next"]
    second = alice.get("/v1/sessions", params={"limit": 1, "after": first["next"]}).json()
    assert second["items"][0]["id"] != session
    assert alice.delete(f"/v1/sessions/{session}").status_code == 204
    assert_problem(alice.get(f"/v1/sessions/{session}"), 404, "not_found")


def test_R_ROUTE_11_feedback_is_taken(alice: httpx2.Client) -> None:
    run = finished(alice, "冰箱里有什么")
    path = f"/v1/runs/{run['id']}/feedback"
    assert alice.post(path, json={"rating": 1}).status_code == 204
    assert alice.post(path, json={"rating": -1, "comment": "no", "correct_intent": "plan"}).status_code == 204


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics", "/docs", "/openapi.json", "/"])
def test_probes_documents_and_the_page_need_no_token(server: Server, path: str) -> None:
    with server.client(None) as nobody:
        assert nobody.get(path).status_code == 200


def test_the_business_endpoints_work_without_ai(alice: httpx2.Client, bob: httpx2.Client) -> None:
    created = alice.post("/v1/menu/fridge", json={"name": "测试萝卜", "amount": 2, "unit": "根"})
    assert created.status_code == 201, created.text
    assert_problem(alice.post("/v1/menu/fridge", json={"name": "x", "amount": 2, "unit": "根", "x": 1}), 422)
    names = [item["name"] for item in bob.get("/v1/menu/fridge").json()["items"]]
    assert "测试萝卜" not in names


def _amount(client: httpx2.Client, name: str) -> float:
    items = client.get("/v1/menu/fridge").json()["items"]
    return float(sum(item["amount"] for item in items if item["name"] == name))


def test_R_OPSX_01_metrics_count_runs_events_and_streams(server: Server, alice: httpx2.Client) -> None:
    def value(name: str) -> float:
        lines = alice.get("/metrics").text.splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name))

    runs = 'yuzui_runs_total{app="home-menu",mode="direct_read",outcome="answered",status="succeeded"}'
    before, events_before = value(runs), value("yuzui_events_total")
    finished(alice, "冰箱里有什么")
    assert value(runs) == before + 1
    assert value("yuzui_events_total") >= events_before + 6
    assert value("yuzui_run_seconds_count") >= 1
    assert value("yuzui_listener_connected") == 1
