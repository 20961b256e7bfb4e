"""Births, idempotency, order of a session, cancellation, retries, hand-over."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from tests.integration.heart_case import ALICE, BOB, answer, delta, echo, heart, message, prepare, send, until, whole

from yuzui.adapters.postgres.births import Limits
from yuzui.adapters.postgres.heart import Heart, HeartOptions
from yuzui.adapters.postgres.workers import LeaseOptions
from yuzui.errors import (
    IdempotencyMismatchError,
    ModelError,
    ModelUnavailableError,
    NotFoundError,
    TooManyRunsError,
)
from yuzui.owner import Caller, Owner
from yuzui.runs.actions import PendingAction
from yuzui.runs.dispatcher import DispatchOptions
from yuzui.runs.ids import new_id
from yuzui.runs.log import AttemptLog
from yuzui.runs.run import Claim
from yuzui.runs.viewing import ViewingOptions

FAST_RETRY = HeartOptions(dispatch=DispatchOptions(retry_s=0.05))


@pytest.fixture
async def dsn(migrated_dsn: str) -> str:
    await prepare(migrated_dsn)
    return migrated_dsn


async def _session(beats: Heart, caller: Caller = ALICE) -> str:
    return (await beats.sessions.create(caller, "home-menu")).id


def _draft(claim: Claim) -> PendingAction:
    now = datetime.now(UTC)
    return PendingAction(
        id=new_id("act"),
        run_id=claim.run.id,
        session_id=claim.run.session_id,
        app=claim.run.app,
        owner=claim.run.owner,
        tool="add",
        arguments={"name": "豆腐"},
        summary="添加豆腐",
        digest="d",
        policy_hash="p",
        catalog_version="c",
        approval="self",
        status="pending",
        created_at=now,
        expires_at=now + timedelta(minutes=15),
    )


async def test_R_RUN_01_the_message_and_the_run_are_stored_before_any_work(dsn: str) -> None:
    async with heart(dsn, echo) as beats:
        session = await _session(beats)
        accepted = await beats.runs.accept(message(session, text="冰箱里有什么"), claim=True)
        assert accepted.created
        assert accepted.claim is not None
        stored = await beats.runs.get(ALICE.owner, accepted.run.id)
        assert (stored.status, stored.attempt, stored.text) == ("running", 1, "冰箱里有什么")
        assert replace(stored, created_at=accepted.run.created_at) == accepted.run
        messages, _ = await beats.sessions.messages(ALICE.owner, session, limit=10, after=None)
        assert [(item.role, item.text) for item in messages] == [("user", "冰箱里有什么")]
        beats.dispatcher.start(accepted.claim)
        await whole(beats, accepted.run.id)


async def test_R_RUN_03_the_answer_the_result_and_the_terminal_event_are_one_commit(dsn: str) -> None:
    async with heart(dsn, echo) as beats:
        session = await _session(beats)
        accepted = await send(beats, message(session, text="好"))
        await whole(beats, accepted.run.id)
        run = await beats.runs.get(ALICE.owner, accepted.run.id)
        assert (run.status, run.outcome, run.usage) == ("succeeded", "answered", {"model_calls": 0})
        assert run.message is not None
        assert run.message["text"] == "好"
        assert run.finished_at is not None
        messages, _ = await beats.sessions.messages(ALICE.owner, session, limit=10, after=None)
        assert [(item.role, item.id) for item in messages][1:] == [("assistant", run.message_id)]


async def test_R_IDEM_05_one_key_and_body_make_one_run_whatever_the_concurrency(dsn: str) -> None:
    async with heart(dsn, echo) as here, heart(dsn, echo) as there:
        session = await _session(here)
        news = [message(session, key="k1", body_hash="h") for _ in range(12)]
        accepted = await asyncio.gather(*(send(here if number % 2 else there, new) for number, new in enumerate(news)))
        assert len({each.run.id for each in accepted}) == 1
        assert [each.created for each in accepted].count(True) == 1
        with pytest.raises(IdempotencyMismatchError):
            await here.runs.accept(message(session, key="k1", body_hash="other"), claim=True)
        await whole(here, accepted[0].run.id)
        messages, _ = await here.sessions.messages(ALICE.owner, session, limit=10, after=None)
        assert [item.role for item in messages] == ["user", "assistant"]


async def test_a_key_belongs_to_one_session_and_so_to_one_owner(dsn: str) -> None:
    async with heart(dsn, echo) as beats:
        mine, theirs = await _session(beats), await _session(beats, BOB)
        first = await send(beats, message(mine, key="k", body_hash="h"))
        second = await send(beats, message(theirs, caller=BOB, key="k", body_hash="h"))
        assert second.created
        assert first.run.id != second.run.id
        for accepted in (first, second):
            await whole(beats, accepted.run.id)


async def test_another_owners_session_and_run_are_not_found(dsn: str) -> None:
    prefix = Caller(owner=Owner(tenant="family-1", user="ali"), name="Ali")
    async with heart(dsn, echo) as beats:
        session = await _session(beats)
        accepted = await send(beats, message(session))
        await whole(beats, accepted.run.id)
        for stranger in (BOB, prefix):
            with pytest.raises(NotFoundError):
                await beats.runs.accept(message(session, caller=stranger), claim=True)
            with pytest.raises(NotFoundError):
                await beats.runs.get(stranger.owner, accepted.run.id)
            with pytest.raises(NotFoundError):
                await beats.runs.request_cancel(stranger.owner, accepted.run.id, by="x", reason="")
            with pytest.raises(NotFoundError):
                await beats.sessions.messages(stranger.owner, session, limit=5, after=None)
            with pytest.raises(NotFoundError):
                await beats.audit.read(stranger.owner, accepted.run.id)
            with pytest.raises(NotFoundError):
                await beats.sessions.delete(stranger.owner, session)


async def test_R_RUN_05_runs_of_one_session_execute_in_order_and_other_sessions_in_parallel(dsn: str) -> None:
    order: list[str] = []
    both = asyncio.Barrier(2)

    async def noted(claim: Claim, log: AttemptLog) -> None:
        order.append(f"+{claim.run.text}")
        if claim.run.text in {"other", "0"}:
            await both.wait()
        log.emit(delta(claim, "."))
        await log.flush()
        order.append(f"-{claim.run.text}")
        await log.finish(answer(claim))

    async with heart(dsn, noted) as here, heart(dsn, noted) as there:
        session, other = await _session(here), await _session(here)
        runs = [await send((here, there)[n % 2], message(session, text=str(n))) for n in range(6)]
        assert [accepted.run.status for accepted in runs] == ["running", *["queued"] * 5]
        parallel = await send(there, message(other, text="other"))
        for accepted in (*runs, parallel):
            await whole(here, accepted.run.id)
        mine = [entry for entry in order if entry[1:] != "other"]
        assert mine == [f"{sign}{n}" for n in range(6) for sign in "+-"]


async def test_R_RUN_06_cancel_reaches_the_process_that_works(dsn: str) -> None:
    started = asyncio.Event()

    async def endless(claim: Claim, log: AttemptLog) -> None:
        await here.actions.create(_draft(claim), token=claim.token)
        started.set()
        await asyncio.Event().wait()

    async with heart(dsn, endless) as here, heart(dsn, endless) as there:
        session = await _session(here)
        accepted = await send(here, message(session))
        await started.wait()
        await there.runs.request_cancel(ALICE.owner, accepted.run.id, by="alice", reason="button")
        events = await whole(there, accepted.run.id)
        assert events[-1].type == "run.cancelled"
        assert events[-1].data == b'{"by":"alice","reason":"button"}'
        run = await here.runs.get(ALICE.owner, accepted.run.id)
        assert run.status == "cancelled"
        found, _ = await here.actions.list(ALICE.owner, status=None)
        assert [action.status for action in found] == ["cancelled"]
        again = await there.runs.request_cancel(ALICE.owner, accepted.run.id, by="bob", reason="")
        assert again.status == "cancelled"
        messages, _ = await here.sessions.messages(ALICE.owner, session, limit=5, after=None)
        assert [item.status for item in messages] == ["ok", "cancelled"]


async def test_R_RUN_06_a_queued_run_is_cancelled_at_once_and_blocks_nothing(dsn: str) -> None:
    go = asyncio.Event()

    async def wait(claim: Claim, log: AttemptLog) -> None:
        await go.wait()
        await log.finish(answer(claim))

    async with heart(dsn, wait) as beats:
        session = await _session(beats)
        first, second, third = [await send(beats, message(session)) for _ in range(3)]
        cancelled = await beats.runs.request_cancel(ALICE.owner, second.run.id, by="alice", reason="r")
        assert cancelled.status == "cancelled"
        assert (await whole(beats, second.run.id))[-1].type == "run.cancelled"
        go.set()
        assert (await whole(beats, first.run.id))[-1].type == "run.completed"
        assert (await whole(beats, third.run.id))[-1].type == "run.completed"


async def test_R_RUN_04_a_retryable_error_is_retried_and_a_terminal_one_is_not(dsn: str) -> None:
    attempts: list[int] = []

    async def flaky(claim: Claim, log: AttemptLog) -> None:
        attempts.append(claim.attempt)
        log.emit(delta(claim, "half"))
        if claim.run.text == "terminal":
            raise ModelError("the model said no")
        if claim.run.text == "always" or claim.attempt == 1:
            raise ModelUnavailableError
        await log.finish(answer(claim))

    async with heart(dsn, flaky, FAST_RETRY) as beats:
        session = await _session(beats)
        recovers = await send(beats, message(session))
        events = await whole(beats, recovers.run.id)
        assert [event.type for event in events if event.type.startswith("run.")] == [
            "run.created",
            "run.started",
            "run.restarted",
            "run.completed",
        ]
        assert [event.attempt for event in events if event.type == "run.restarted"] == [2]
        attempts.clear()
        terminal = await send(beats, message(session, text="terminal"))
        assert (await whole(beats, terminal.run.id))[-1].type == "run.failed"
        assert attempts == [1]
        always = await send(beats, message(session, text="always"))
        await whole(beats, always.run.id)
        assert attempts == [1, 1, 2, 3]
        failed = await beats.runs.failed(ALICE.owner)
        assert [row["id"] for row in failed] == [always.run.id, terminal.run.id]
        assert (await beats.runs.get(ALICE.owner, always.run.id)).error == {
            "code": "model_unavailable",
            "detail": "The model is not reachable or is overloaded.",
            "retryable": True,
        }


async def test_a_crash_of_an_app_ends_its_run_and_says_nothing_private(dsn: str) -> None:
    async def crash(claim: Claim, log: AttemptLog) -> None:
        raise KeyError("password=hunter2")

    async with heart(dsn, crash) as beats:
        accepted = await send(beats, message(await _session(beats)))
        last = (await whole(beats, accepted.run.id))[-1]
        assert last.data == b'{"code":"internal","detail":"Something went wrong.","retryable":false}'


async def test_R_RUN_07_a_caller_with_too_many_runs_is_turned_away_and_nothing_is_stored(dsn: str) -> None:
    options = HeartOptions(limits=Limits(per_caller=2, queue=3), dispatch=DispatchOptions(concurrency=0))
    async with heart(dsn, echo, options) as beats:
        session = await _session(beats)
        accepted = [await beats.runs.accept(message(session), claim=False) for _ in range(2)]
        with pytest.raises(TooManyRunsError) as refused:
            await beats.runs.accept(message(session), claim=False)
        assert refused.value.retry_after
        by_rules = await beats.runs.accept(message(await _session(beats), inline=True), claim=True)
        assert by_rules.claim is not None
        beats.dispatcher.start(by_rules.claim)
        await whole(beats, by_rules.run.id)
        bobs = await beats.runs.accept(message(await _session(beats, BOB), caller=BOB), claim=False)
        with pytest.raises(TooManyRunsError):  # the queue is full for everybody
            await beats.runs.accept(message(await _session(beats, BOB), caller=BOB), claim=False)
        messages, _ = await beats.sessions.messages(ALICE.owner, session, limit=10, after=None)
        assert [item.run_id for item in messages] == [each.run.id for each in accepted]
        assert bobs.created


async def test_R_RUN_02_an_api_process_accepts_and_a_worker_picks_up_at_once(dsn: str) -> None:
    api = HeartOptions(dispatch=DispatchOptions(concurrency=0), sweep_s=60.0)
    async with heart(dsn, echo, api) as front, heart(dsn, echo, HeartOptions(sweep_s=60.0)) as back:
        accepted = await front.runs.accept(message(await _session(front)), claim=False)
        assert accepted.claim is None
        events = await whole(front, accepted.run.id, within_s=4.0)
        assert [event.type for event in events] == ["run.created", "run.started", "message.completed", "run.completed"]
        await until(lambda: back.writer.events_written == 2)


async def test_R_OPSX_01_a_shutdown_hands_the_run_over_and_another_process_ends_it(dsn: str) -> None:
    started = asyncio.Event()

    async def slow(claim: Claim, log: AttemptLog) -> None:
        if claim.attempt == 1:
            log.emit(delta(claim, "half"))
            started.set()
            await asyncio.Event().wait()
        await log.finish(answer(claim))

    async with heart(dsn, slow) as back:
        async with heart(dsn, slow, HeartOptions(shutdown_grace_s=0.05)) as front:
            accepted = await send(front, message(await _session(front)))
            await started.wait()
        events = await whole(back, accepted.run.id)
        assert b'"shutdown"' in next(event.data for event in events if event.type == "run.restarted")
        assert events[-1].type == "run.completed"
        assert [event.seq for event in events] == list(range(1, len(events) + 1))


async def test_a_process_that_cannot_renew_its_lease_lets_its_runs_go(dsn: str) -> None:
    started = asyncio.Event()

    async def first_hangs(claim: Claim, log: AttemptLog) -> None:
        if claim.attempt == 1:
            started.set()
            await asyncio.Event().wait()
        await log.finish(answer(claim))

    frozen = HeartOptions(lease=LeaseOptions(heartbeat_s=60.0, lease_s=1.0), sweep_s=60.0)
    async with heart(dsn, first_hangs, frozen) as lapsing, heart(dsn, first_hangs) as healthy:
        accepted = await send(lapsing, message(await _session(lapsing)))
        await started.wait()
        await until(lambda: len(lapsing.dispatcher) == 0)
        events = await whole(healthy, accepted.run.id)
        assert events[-1].type == "run.completed"
        assert b"worker_lost" in next(event.data for event in events if event.type == "run.restarted")


async def test_R_RUN_06_a_lost_client_cancels_where_the_app_wants_it(dsn: str) -> None:
    options = HeartOptions(viewing=ViewingOptions(apps=frozenset({"home-menu"}), grace_s=0.05, answer_s=0.3))

    async def endless(claim: Claim, log: AttemptLog) -> None:
        await asyncio.Event().wait()

    async with heart(dsn, endless, options) as here, heart(dsn, endless, options) as there:
        await there.listener.listening.wait()
        watched = await send(here, message(await _session(here)))
        there.dispatcher.attach(watched.run.id)
        here.dispatcher.attach(watched.run.id)
        here.dispatcher.detach(watched.run.id)
        lost = await send(here, message(await _session(here)))
        there.dispatcher.attach(lost.run.id)
        there.dispatcher.detach(lost.run.id)
        events = await whole(here, lost.run.id)
        assert b"client_lost" in events[-1].data
        assert (await here.runs.get(ALICE.owner, watched.run.id)).status == "running"
        there.dispatcher.detach(watched.run.id)
        assert (await whole(here, watched.run.id))[-1].type == "run.cancelled"


async def test_a_request_that_is_cancelled_while_it_is_stored_leaves_no_stuck_run(dsn: str) -> None:
    async with heart(dsn, echo) as beats:
        session = await _session(beats)
        new = message(session)
        asking = asyncio.create_task(beats.runs.accept(new, claim=True))
        await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert (await whole(beats, new.id))[-1].type == "run.completed"


async def test_a_deleted_session_takes_its_runs_along_and_leaves_the_audit(dsn: str) -> None:
    async with heart(dsn, echo) as beats:
        session = await _session(beats)
        accepted = await send(beats, message(session))
        await whole(beats, accepted.run.id)
        await beats.sessions.delete(ALICE.owner, session)
        with pytest.raises(NotFoundError):
            await beats.runs.get(ALICE.owner, accepted.run.id)
        with pytest.raises(NotFoundError):
            await beats.runs.accept(message(session), claim=True)
        assert await beats.hub.read(accepted.run.id, 0) == []
