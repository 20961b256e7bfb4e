"""Runs, their log, sessions and messages: what every store does."""

import asyncio
from dataclasses import replace

import pytest
from tests.contract.stores_case import Stores
from tests.integration.heart_case import ALICE, BOB, answer, delta, message

from yuzui.errors import FencedOutError, IdempotencyMismatchError, NotFoundError
from yuzui.runs.audit import ToolCallRecord
from yuzui.runs.events import PolicyCompiled, RouteDecided, RunCancelled
from yuzui.runs.run import Claim, Ending

ROUTE = RouteDecided(
    intent="fridge",
    confidence=1.0,
    source="rule",
    rule_id="fridge/1",
    targets={},
    plan="DIRECT",
    needs_clarification=False,
    blocked_reason=None,
    flags=(),
)
POLICY = PolicyCompiled(
    mode="direct_read",
    tools=("fridge",),
    required_tools=("fridge",),
    budget={"model_calls": 0},
    postconditions=(),
    policy_hash="p",
    catalog_version="c",
)
CALL = ToolCallRecord(key="k", tool="fridge", effect="read", arguments={"q": "豆腐"}, outcome="ok", ms=3, reused=False)


async def _session(stores: Stores) -> str:
    return (await stores.sessions.create(ALICE, "home-menu")).id


async def _claimed(stores: Stores, session: str) -> Claim:
    accepted = await stores.runs.accept(message(session), claim=True)
    assert accepted.claim is not None
    return accepted.claim


async def test_a_run_born_claimed_is_running_and_its_log_begins(stores: Stores) -> None:
    claim = await _claimed(stores, await _session(stores))
    assert (claim.attempt, claim.run.status) == (1, "running")
    events = await stores.events.read(claim.run.id, 0)
    assert [(event.seq, event.type, event.data) for event in events] == [
        (1, "run.created", b'{"status":"running"}'),
        (2, "run.started", b'{"attempt":1}'),
    ]
    assert await stores.runs.claim(claim.run.id) is None


async def test_a_run_of_a_busy_session_waits_its_turn(stores: Stores) -> None:
    session = await _session(stores)
    first = await _claimed(stores, session)
    second = await stores.runs.accept(message(session), claim=True)
    third = await stores.runs.accept(message(session), claim=True)
    assert (second.claim, second.run.status, second.run.attempt) == (None, "queued", 0)
    assert await stores.runs.claim(second.run.id) is None
    await stores.runs.attempt_log(first).finish(answer(first))
    assert await stores.runs.claim(third.run.id) is None

    async def turn() -> Claim:
        while True:
            claim = await stores.runs.claim(second.run.id)
            if claim is not None:
                return claim
            await asyncio.sleep(0.01)

    async with asyncio.timeout(5):
        claim = await turn()
    assert claim.attempt == 1
    assert [event.type for event in await stores.events.read(second.run.id, 0)] == ["run.created", "run.started"]


async def test_one_key_and_body_make_one_run(stores: Stores) -> None:
    session = await _session(stores)
    first = await stores.runs.accept(message(session, key="k", body_hash="h"), claim=True)
    again = await stores.runs.accept(message(session, key="k", body_hash="h"), claim=True)
    assert (first.created, again.created) == (True, False)
    assert again.run.id == first.run.id
    with pytest.raises(IdempotencyMismatchError):
        await stores.runs.accept(message(session, key="k", body_hash="i"), claim=True)
    assert (await stores.runs.accept(message(await _session(stores), key="k", body_hash="h"), claim=True)).created


async def test_a_finished_run_has_its_result_its_answer_and_its_audit(stores: Stores) -> None:
    session = await _session(stores)
    claim = await _claimed(stores, session)
    log = stores.runs.attempt_log(claim)
    for event in (ROUTE, POLICY, delta(claim, "豆"), delta(claim, "腐")):
        log.emit(event)
    log.record(CALL)
    await log.finish(answer(claim, "豆腐"))
    run = await stores.runs.get(ALICE.owner, claim.run.id)
    assert (run.status, run.outcome, run.usage) == ("succeeded", "answered", {"model_calls": 0})
    assert run.route is not None
    assert run.route["intent"] == "fridge"
    assert run.policy is not None
    assert run.policy["mode"] == "direct_read"
    assert [event.type for event in await stores.events.read(claim.run.id, 2)] == [
        "route.decided",
        "policy.compiled",
        "content.delta",
        "message.completed",
        "run.completed",
    ]
    messages, following = await stores.sessions.messages(ALICE.owner, session, limit=10, after=None)
    assert [(item.role, item.text, item.status) for item in messages] == [
        ("user", "你好", "ok"),
        ("assistant", "豆腐", "ok"),
    ]
    assert following is None
    audit = await stores.audit.read(ALICE.owner, claim.run.id)
    assert audit["route"]["rule_id"] == "fridge/1"
    assert (audit["catalog_version"], audit["tool_calls"][0]["arguments"]) == ("c", {"q": "豆腐"})


async def test_a_follower_sees_everything_once_and_stops_at_the_end(stores: Stores) -> None:
    claim = await _claimed(stores, await _session(stores))
    log = stores.runs.attempt_log(claim)

    async def follow(after: int) -> list[int]:
        return [event.seq async for batch in stores.events.follow(claim.run.id, after) for event in batch]

    readers = [asyncio.create_task(follow(after)) for after in (0, 1, 2, 3)]
    for number in range(3):
        log.emit(delta(claim, str(number)))
        await log.flush()
    await log.finish(answer(claim))
    async with asyncio.timeout(5):
        assert await asyncio.gather(*readers) == [list(range(after + 1, 8)) for after in (0, 1, 2, 3)]
        assert await follow(6) == [7]


async def test_a_handed_over_attempt_may_not_write_and_the_next_one_says_why_it_began(stores: Stores) -> None:
    claim = await _claimed(stores, await _session(stores))
    log = stores.runs.attempt_log(claim)
    log.emit(delta(claim, "half"))
    await stores.runs.hand_over(claim, "shutdown")
    with pytest.raises(FencedOutError):
        await log.flush()
    with pytest.raises(FencedOutError):
        await log.finish(answer(claim))
    second = await stores.runs.claim(claim.run.id)
    assert second is not None
    assert (second.attempt, second.run.attempt) == (2, 2)
    last = (await stores.events.read(claim.run.id, 0))[-1]
    assert (last.type, last.attempt) == ("run.restarted", 2)
    assert b'"shutdown"' in last.data
    await stores.runs.attempt_log(second).finish(answer(second))
    assert (await stores.runs.get(ALICE.owner, claim.run.id)).status == "succeeded"


async def test_a_finished_attempt_cannot_end_the_run_again(stores: Stores) -> None:
    claim = await _claimed(stores, await _session(stores))
    log = stores.runs.attempt_log(claim)
    await log.finish(answer(claim))
    with pytest.raises(FencedOutError):
        await log.finish(Ending(event=RunCancelled(by="x", reason=""), status="cancelled"))
    events = await stores.events.read(claim.run.id, 0)
    assert [event.terminal for event in events].count(True) == 1


async def test_a_queued_run_is_cancelled_at_once_and_stays_cancelled(stores: Stores) -> None:
    session = await _session(stores)
    accepted = await stores.runs.accept(message(session), claim=False)
    cancelled = await stores.runs.request_cancel(ALICE.owner, accepted.run.id, by="alice", reason="button")
    assert cancelled.status == "cancelled"
    assert (await stores.events.read(accepted.run.id, 1))[0].data == b'{"by":"alice","reason":"button"}'
    assert await stores.runs.claim(accepted.run.id) is None
    again = await stores.runs.request_cancel(ALICE.owner, accepted.run.id, by="b", reason="")
    assert again.cancel_requested_by == "alice"
    assert (await stores.runs.accept(message(session), claim=True)).claim is not None


async def test_history_holds_the_last_turns_before_a_run_in_order(stores: Stores) -> None:
    session = await _session(stores)
    claims: list[Claim] = []
    for number in range(4):
        accepted = await stores.runs.accept(message(session, text=f"q{number}"), claim=True)
        assert accepted.claim is not None
        claims.append(accepted.claim)
        await stores.runs.attempt_log(accepted.claim).finish(answer(accepted.claim, f"a{number}"))
    found = await stores.sessions.recent(ALICE.owner, session, turns=2, before_run=claims[3].run.id)
    assert [item.text for item in found] == ["q1", "a1", "q2", "a2"]
    assert list(await stores.sessions.recent(BOB.owner, session, turns=2, before_run=claims[3].run.id)) == []
    first, cursor = await stores.sessions.messages(ALICE.owner, session, limit=3, after=None)
    rest, end = await stores.sessions.messages(ALICE.owner, session, limit=10, after=cursor)
    assert [item.text for item in (*first, *rest)] == ["q0", "a0", "q1", "a1", "q2", "a2", "q3", "a3"]
    assert end is None


async def test_a_session_is_named_by_its_first_message_and_listed_newest_first(stores: Stores) -> None:
    sessions = [await _session(stores) for _ in range(3)]
    await stores.runs.accept(message(sessions[0], text="冰箱里有什么"), claim=True)
    assert (await stores.sessions.get(ALICE.owner, sessions[0])).title == "冰箱里有什么"
    page, cursor = await stores.sessions.list(ALICE.owner, limit=2, after=None)
    rest, end = await stores.sessions.list(ALICE.owner, limit=2, after=cursor)
    assert [item.id for item in (*page, *rest)] == sessions[::-1]
    assert end is None
    assert (await stores.sessions.list(BOB.owner, limit=5, after=None)) == ([], None)


async def test_nothing_of_another_owner_is_found(stores: Stores) -> None:
    session = await _session(stores)
    claim = await _claimed(stores, session)
    stranger = replace(ALICE.owner, tenant="family-1x")
    for attempt in (
        stores.sessions.get(stranger, session),
        stores.sessions.delete(stranger, session),
        stores.sessions.messages(stranger, session, limit=1, after=None),
        stores.runs.get(stranger, claim.run.id),
        stores.runs.request_cancel(stranger, claim.run.id, by="x", reason=""),
        stores.audit.read(stranger, claim.run.id),
        stores.runs.accept(message(session, caller=BOB), claim=True),
    ):
        with pytest.raises(NotFoundError):
            await attempt


async def test_a_deleted_session_is_gone_with_its_runs(stores: Stores) -> None:
    session = await _session(stores)
    claim = await _claimed(stores, session)
    await stores.runs.attempt_log(claim).finish(answer(claim))
    await stores.sessions.delete(ALICE.owner, session)
    with pytest.raises(NotFoundError):
        await stores.sessions.get(ALICE.owner, session)
    with pytest.raises(NotFoundError):
        await stores.runs.get(ALICE.owner, claim.run.id)
    assert list(await stores.events.read(claim.run.id, 0)) == []
