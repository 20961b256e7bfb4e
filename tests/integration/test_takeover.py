"""A worker is killed in the middle of a run; another one finishes it (R-IDEM-04, R-RUN-02, R-RUN-03)."""

import asyncio
import sys
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.integration.heart_case import ALICE, answer, delta, heart, message, prepare, send, whole
from tests.integration.worker_process import STEPS

from yuzui.adapters.postgres.heart import Heart, HeartOptions
from yuzui.runs.dispatcher import DispatchOptions
from yuzui.runs.log import AttemptLog
from yuzui.runs.run import Claim

ROOT = Path(__file__).parents[2]


@pytest.fixture
async def dsn(migrated_dsn: str) -> str:
    await prepare(migrated_dsn)
    async with await psycopg.AsyncConnection.connect(migrated_dsn, autocommit=True) as connection:
        await connection.execute("CREATE TABLE public.effects (n integer)")
    return migrated_dsn


async def _killed_after(dsn: str, session: str, step: int) -> str:
    """Run the worker process until it has reached the step, kill it there, and return the run's id."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.integration.worker_process", dsn, session, stdout=asyncio.subprocess.PIPE, cwd=ROOT
    )
    assert process.stdout is not None
    run_id = ""
    try:
        async with asyncio.timeout(30):
            while line := (await process.stdout.readline()).decode().strip():
                run_id = line if line.startswith("run_") else run_id
                if run_id and (step < 0 or line == f"step {step}"):
                    return run_id
        raise AssertionError("the worker process ended by itself")
    finally:
        process.kill()
        await process.wait()


@pytest.mark.parametrize("step", range(-1, STEPS))
async def test_R_IDEM_04_a_killed_workers_run_is_finished_with_no_effect_lost_or_doubled(dsn: str, step: int) -> None:
    beats: Heart

    async def work(claim: Claim, log: AttemptLog) -> None:
        for number in range(STEPS):
            scope: dict[str, Any] = {"run_id": claim.run.id, "tool": "add", "owner": ALICE.owner, "arguments": {}}
            async with beats.ledger.transaction(key=f"{claim.run.id}:{number}", **scope) as ledger:
                if ledger.earlier is None:
                    await ledger.db.execute("INSERT INTO public.effects VALUES (%(n)s)", n=number)
                    await ledger.done({"n": number})
            log.emit(delta(claim, f"{number} "))
            await log.flush()
        await log.finish(answer(claim))

    async with heart(dsn, work, HeartOptions(dispatch=DispatchOptions(concurrency=2))) as beats:
        session = (await beats.sessions.create(ALICE, "home-menu")).id
        run_id = await _killed_after(dsn, session, step)
        killed = time.monotonic()
        events = await whole(beats, run_id)
        assert time.monotonic() - killed < 5.0  # found by its pid, not by the lease of 30 s
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        kinds = [event.type for event in events]
        assert kinds.count("run.restarted") == 1
        assert kinds.count("message.completed") == 1
        assert kinds[-1] == "run.completed"
        run = await beats.runs.get(ALICE.owner, run_id)
        assert (run.status, run.attempt) == ("succeeded", 2)
        async with await psycopg.AsyncConnection.connect(dsn) as connection:
            rows = await (await connection.execute("SELECT n FROM public.effects ORDER BY n")).fetchall()
        assert [row[0] for row in rows] == list(range(STEPS))
        following = await send(beats, message(session))
        assert (await whole(beats, following.run.id))[-1].type == "run.completed"


async def test_after_a_restart_stop_and_send_work_on_a_run_whose_process_is_gone(dsn: str) -> None:
    async def finish(claim: Claim, log: AttemptLog) -> None:
        await log.finish(answer(claim))

    paused = HeartOptions(sweep_s=600.0, dispatch=DispatchOptions(concurrency=0))
    async with heart(dsn, finish, paused) as beats:
        session = (await beats.sessions.create(ALICE, "home-menu")).id
        run_id = await _killed_after(dsn, session, 0)
        await beats.workers.bury_dead()
        cancelled = await beats.runs.request_cancel(ALICE.owner, run_id, by="alice", reason="button")
        assert cancelled.status == "cancelled"
        following = await send(beats, message(session))
        assert (await whole(beats, following.run.id))[-1].type == "run.completed"


async def test_R_RUN_04_a_run_that_kills_its_workers_is_given_up(dsn: str) -> None:
    async def never(claim: Claim, log: AttemptLog) -> None:
        raise AssertionError("attempts were used up")

    options = HeartOptions(dispatch=DispatchOptions(concurrency=2, max_attempts=1))
    async with heart(dsn, never, options) as beats:
        session = (await beats.sessions.create(ALICE, "home-menu")).id
        run_id = await _killed_after(dsn, session, 1)
        events = await whole(beats, run_id)
        assert b"attempts_exhausted" in events[-1].data
        assert [row["id"] for row in await beats.runs.failed(ALICE.owner)] == [run_id]
