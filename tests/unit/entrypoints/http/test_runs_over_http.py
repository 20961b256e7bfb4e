import asyncio
from typing import Any

import httpx2
import orjson
import pytest
from tests.unit.entrypoints.doubles import World, application, pending_action
from tests.unit.entrypoints.http.conftest import client
from tests.unit.entrypoints.http.test_problems_of_requests import ALICE, assert_problem, session

from yuzui.entrypoints.services import Check, Limits

SSE = {"accept": "text/event-stream"}


def frames(body: bytes) -> list[dict[str, Any]]:
    """The events of a stream."""
    return [orjson.loads(line[6:]) for line in body.split(b"\n") if line.startswith(b"data: ")]


async def accepted(alice: httpx2.AsyncClient, message: str = "hello", **headers: str) -> str:
    response = await alice.post(f"/v1/sessions/{await session(alice)}/runs", json={"message": message}, headers=headers)
    assert response.status_code == 202, response.text
    return str(response.json()["run_id"])


async def test_R_RUN_01_a_message_is_accepted_with_the_address_of_its_events(
    world: World, alice: httpx2.AsyncClient
) -> None:
    ses = await session(alice)
    response = await alice.post(f"/v1/sessions/{ses}/runs", json={"message": "hello"})
    assert response.status_code == 202
    body = response.json()
    assert body == {
        "run_id": body["run_id"],
        "session_id": ses,
        "status": "queued",
        "events_url": f"/v1/runs/{body['run_id']}/events",
    }
    assert [claim.run.id for claim in world.started] == [body["run_id"]]


async def test_R_SAFE_03_secrets_are_masked_before_the_message_is_stored(
    world: World, alice: httpx2.AsyncClient
) -> None:
    run_id = await accepted(alice, "my key is sk-abcdefghijklmnopqrstuvwx")
    assert "abcdefghij" not in world.runs[run_id].text


async def test_the_answer_of_a_post_can_be_the_stream_itself(world: World, alice: httpx2.AsyncClient) -> None:
    ses = await session(alice)
    post = asyncio.create_task(alice.post(f"/v1/sessions/{ses}/runs", json={"message": "hi"}, headers=SSE))
    async with asyncio.timeout(5):
        while not world.started:
            await asyncio.sleep(0)
    run_id = world.started[0].run.id
    await world.say(run_id, "content.delta", text="第一步\u2028第二步")
    await world.say(run_id, "run.completed", outcome="answered")
    response = await post
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.headers["x-accel-buffering"] == "no"
    assert [event["type"] for event in frames(response.content)] == ["run.created", "content.delta", "run.completed"]
    assert world.viewers == {run_id: 0}
    assert world.following == 0


async def test_prefer_wait_answers_with_the_finished_run(world: World, alice: httpx2.AsyncClient) -> None:
    ses = await session(alice)
    post = asyncio.create_task(
        alice.post(f"/v1/sessions/{ses}/runs", json={"message": "hi"}, headers={"prefer": "wait=30"})
    )
    async with asyncio.timeout(5):
        while not world.started:
            await asyncio.sleep(0)
    await world.say(world.started[0].run.id, "run.completed", outcome="answered")
    response = await post
    assert response.status_code == 200
    assert response.json()["status"] == "succeeded"
    assert response.headers["preference-applied"] == "wait=30"


async def test_prefer_wait_answers_202_when_the_time_ran_out(world: World, alice: httpx2.AsyncClient) -> None:
    ses = await session(alice)
    response = await alice.post(f"/v1/sessions/{ses}/runs", json={"message": "hi"}, headers={"prefer": "wait=0"})
    assert response.status_code == 202
    assert world.viewers == {response.json()["run_id"]: 0}
    assert world.following == 0


async def test_prefer_wait_is_bounded(world: World) -> None:
    async with client(application(world, limits=Limits(max_wait_s=0.01))[0]) as alice:
        ses = await session(alice)
        async with asyncio.timeout(5):
            response = await alice.post(
                f"/v1/sessions/{ses}/runs", json={"message": "hi"}, headers={"prefer": "wait=999"}
            )
    assert response.status_code == 202


async def test_R_IDEM_05_one_key_and_message_is_one_run_also_in_a_race(world: World, alice: httpx2.AsyncClient) -> None:
    path = f"/v1/sessions/{await session(alice)}/runs"
    headers = {"idempotency-key": "k-1"}
    answers = await asyncio.gather(*(alice.post(path, json={"message": "hi"}, headers=headers) for _ in range(8)))
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["run_id"] for answer in answers}) == 1
    assert len(world.started) == 1
    other = await alice.post(path, json={"message": "ho"}, headers=headers)
    assert_problem(other, 409, "idempotency_mismatch")


@pytest.mark.parametrize("key", ["", " ", "a b", "x" * 256, "ключ"])
async def test_a_bad_idempotency_key_is_400(alice: httpx2.AsyncClient, key: str) -> None:
    path = f"/v1/sessions/{await session(alice)}/runs"
    headers = {b"idempotency-key": key.encode()}
    response = await alice.post(path, json={"message": "hi"}, headers=headers)
    assert_problem(response, 400, "bad_header")


async def ended(world: World, alice: httpx2.AsyncClient) -> str:
    run_id = await accepted(alice)
    for n in range(3):
        await world.say(run_id, "content.delta", text=str(n))
    await world.say(run_id, "run.completed", outcome="answered")
    return run_id


async def test_R_EVT_01_a_stream_resumes_after_every_event_without_gap_or_repeat(
    world: World, alice: httpx2.AsyncClient
) -> None:
    run_id = await ended(world, alice)
    for after in range(6):
        for response in (
            await alice.get(f"/v1/runs/{run_id}/events", headers=SSE | {"last-event-id": str(after)}),
            await alice.get(f"/v1/runs/{run_id}/events?after={after}", headers=SSE),
        ):
            assert response.status_code == 200
            assert [event["seq"] for event in frames(response.content)] == list(range(after + 1, 6))


async def test_R_EVT_01_last_event_id_wins_over_after(world: World, alice: httpx2.AsyncClient) -> None:
    run_id = await ended(world, alice)
    response = await alice.get(f"/v1/runs/{run_id}/events?after=1", headers=SSE | {"last-event-id": "4"})
    assert [event["seq"] for event in frames(response.content)] == [5]


@pytest.mark.parametrize("beyond", ["6", "1000", "99999999999999999999"])
async def test_R_EVT_01_a_cursor_beyond_the_end_yields_only_what_is_new(
    world: World, alice: httpx2.AsyncClient, beyond: str
) -> None:
    run_id = await accepted(alice)
    follow = asyncio.create_task(alice.get(f"/v1/runs/{run_id}/events?after={beyond}", headers=SSE))
    async with asyncio.timeout(5):
        while not world.following:
            await asyncio.sleep(0)
    await world.say(run_id, "run.completed", outcome="answered")
    assert [event["seq"] for event in frames((await follow).content)] == [2]
    again = await alice.get(f"/v1/runs/{run_id}/events?after={beyond}", headers=SSE)
    assert frames(again.content) == []


@pytest.mark.parametrize("cursor", ["abc", "-1", "1.5", "1e3", "0x1", "１２", "1;2", " "])
async def test_R_EVT_01_a_garbage_cursor_is_400(world: World, alice: httpx2.AsyncClient, cursor: str) -> None:
    run_id = await ended(world, alice)
    response = await alice.get(f"/v1/runs/{run_id}/events", params={"after": cursor}, headers=SSE)
    assert_problem(response, 400, "bad_cursor")


async def test_R_EVT_02_events_are_also_a_plain_list_and_a_simple_view(world: World, alice: httpx2.AsyncClient) -> None:
    run_id = await ended(world, alice)
    listed = (await alice.get(f"/v1/runs/{run_id}/events?after=3")).json()
    assert [event["seq"] for event in listed["items"]] == [4, 5]
    assert listed["next"] is None
    simple = (await alice.get(f"/v1/runs/{run_id}/events?view=simple")).json()
    assert [event["type"] for event in simple["items"]] == ["start", "done"]
    stream = await alice.get(f"/v1/runs/{run_id}/events?view=simple", headers=SSE)
    assert [(event["type"], event["seq"]) for event in frames(stream.content)] == [("start", 1), ("done", 5)]
    assert b"event: done\n" in stream.content
    assert_problem(await alice.get(f"/v1/runs/{run_id}/events?view=odd"), 422, "invalid_request")


async def test_another_owners_objects_are_404_everywhere(world: World, alice: httpx2.AsyncClient) -> None:
    ses, run_id = await session(alice), await ended(world, alice)
    action = pending_action(ALICE)
    world.actions[action.id] = action
    before = (dict(world.runs), dict(world.actions), dict(world.sessions))
    async with client(application(world)[0], "dev-bob") as bob:
        requests: list[tuple[str, str, Any]] = [
            ("GET", f"/v1/sessions/{ses}", None),
            ("DELETE", f"/v1/sessions/{ses}", None),
            ("GET", f"/v1/sessions/{ses}/messages", None),
            ("POST", f"/v1/sessions/{ses}/runs", {"message": "hi"}),
            ("GET", f"/v1/runs/{run_id}", None),
            ("GET", f"/v1/runs/{run_id}/events", None),
            ("POST", f"/v1/runs/{run_id}/cancel", None),
            ("POST", f"/v1/runs/{run_id}/feedback", {"rating": 1}),
            ("GET", f"/v1/pending-actions/{action.id}", None),
            ("POST", f"/v1/pending-actions/{action.id}/confirm", None),
            ("POST", f"/v1/pending-actions/{action.id}/reject", None),
            ("POST", f"/v1/pending-actions/{action.id}/amend", {"arguments": {}}),
            ("GET", f"/v1/audit/runs/{run_id}", None),
        ]
        for method, path, body in requests:
            assert_problem(await bob.request(method, path, json=body), 404, "not_found")
        stream = await bob.get(f"/v1/runs/{run_id}/events", headers=SSE)
        assert_problem(stream, 404, "not_found")
        assert (await bob.get("/v1/sessions")).json() == {"items": [], "next": None}
        assert (await bob.get("/v1/pending-actions")).json() == {"items": [], "next": None}
    assert before == (world.runs, world.actions, world.sessions)


async def test_lists_come_in_pages(alice: httpx2.AsyncClient) -> None:
    created = [await session(alice) for _ in range(5)]
    found: list[str] = []
    after = None
    while True:
        page = (await alice.get("/v1/sessions", params={"limit": 2} | ({"after": after} if after else {}))).json()
        found += [item["id"] for item in page["items"]]
        after = page["next"]
        if after is None:
            break
    assert found == created[::-1]


async def test_R_CONF_02_confirm_takes_no_arguments(world: World, alice: httpx2.AsyncClient) -> None:
    action = pending_action(ALICE)
    world.actions[action.id] = action
    path = f"/v1/pending-actions/{action.id}/confirm"
    bodies: list[Any] = [{"arguments": {"text": "gold"}}, {"text": "x"}, []]
    for body in bodies:
        assert_problem(await alice.post(path, json=body), 422, "invalid_request")
    assert world.actions[action.id].status == "pending"
    for content in (None, b"{}", b""):
        response = await alice.post(path, content=content)
        assert response.status_code == 200
        assert response.json()["status"] == "executed"


async def test_R_CONF_02_an_expired_action_is_409(world: World, alice: httpx2.AsyncClient) -> None:
    action = pending_action(ALICE, status="expired")
    world.actions[action.id] = action
    assert_problem(await alice.post(f"/v1/pending-actions/{action.id}/confirm"), 409, "action_expired")


async def test_an_effect_that_still_runs_is_202(world: World, alice: httpx2.AsyncClient) -> None:
    action = pending_action(ALICE, status="executing")
    world.actions[action.id] = action
    assert (await alice.post(f"/v1/pending-actions/{action.id}/confirm")).status_code == 202


async def test_pending_actions_are_listed_by_status(world: World, alice: httpx2.AsyncClient) -> None:
    for status in ("pending", "executed"):
        action = pending_action(ALICE, status=status)
        world.actions[action.id] = action
    assert len((await alice.get("/v1/pending-actions")).json()["items"]) == 2
    assert [a["status"] for a in (await alice.get("/v1/pending-actions?status=pending")).json()["items"]] == ["pending"]
    assert_problem(await alice.get("/v1/pending-actions?status=odd"), 422, "invalid_request")


async def test_feedback_is_checked_and_kept(world: World, alice: httpx2.AsyncClient) -> None:
    run_id = await ended(world, alice)
    path = f"/v1/runs/{run_id}/feedback"
    good = await alice.post(path, json={"rating": -1, "comment": "wrong", "correct_intent": "fridge"})
    assert good.status_code == 204
    assert world.feedback[run_id].correct_intent == "fridge"
    bad: list[Any] = [{}, {"rating": 0}, {"rating": 1, "x": 1}, {"rating": "1"}]
    for body in bad:
        assert_problem(await alice.post(path, json=body), 422, "invalid_request")


async def test_readiness_names_what_is_missing(world: World, alice: httpx2.AsyncClient) -> None:
    assert (await alice.get("/readyz")).json()["status"] == "ready"
    world.problems.append(Check(part="listener", problem="not connected"))
    problem = assert_problem(await alice.get("/readyz"), 503, "unavailable")
    assert "listener: not connected" in problem["detail"]


async def test_the_document_names_every_path_and_no_answer_of_fastapis_own(alice: httpx2.AsyncClient) -> None:
    document = (await alice.get("/openapi.json")).json()
    for path in (
        "/v1/sessions/{session_id}/runs",
        "/v1/runs/{run_id}/events",
        "/v1/pending-actions/{action_id}/confirm",
    ):
        assert path in document["paths"]
    for path, operations in document["paths"].items():
        for operation in operations.values():
            assert "422" not in operation["responses"]
            assert operation["responses"]["default"]["content"].keys() == {"application/problem+json"}
            assert ("security" in operation) == path.startswith("/v1/")
    listing = await alice.get("/docs")
    assert "/v1/runs/{run_id}/events" in listing.text
    assert "http://" not in listing.text
    assert "https://" not in listing.text
