"""Shared by the tests of the durable heart: an open heart over a fresh database, callers, and endings."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import psycopg

from yuzui.adapters.postgres.heart import Heart, HeartOptions, beating
from yuzui.adapters.postgres.jobs import migrate_jobs
from yuzui.adapters.postgres.pool import PoolOptions, open_pool
from yuzui.owner import Caller, Owner
from yuzui.runs.events import ContentDelta, MessageCompleted, RunCompleted, StoredEvent
from yuzui.runs.ids import new_id
from yuzui.runs.log import AttemptLog
from yuzui.runs.run import Accepted, Claim, Ending, NewRun

ALICE = Caller(owner=Owner(tenant="family-1", user="alice"), name="Alice")
BOB = Caller(owner=Owner(tenant="family-2", user="bob"), name="Bob")
Execute = Callable[[Claim, AttemptLog], Awaitable[None]]


async def prepare(dsn: str) -> None:
    """The queue's tables, beside the core's schema."""
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
        await migrate_jobs(connection)


@asynccontextmanager
async def heart(dsn: str, execute: Execute, options: HeartOptions | None = None) -> AsyncGenerator[Heart]:
    """One process's heart with its own pool."""
    pool = await open_pool(dsn, PoolOptions(min_size=1, max_size=5))
    try:
        async with beating(pool, dsn, execute, options) as beats:
            yield beats
    finally:
        await pool.close()


def message(session_id: str, *, caller: Caller = ALICE, text: str = "你好", **changes: Any) -> NewRun:
    """A new run."""
    values: dict[str, Any] = {
        "id": new_id("run"),
        "session_id": session_id,
        "app": "home-menu",
        "caller": caller,
        "text": text,
        "message_id": new_id("msg"),
        "user_message_id": new_id("msg"),
        **changes,
    }
    return NewRun(**values)


def answer(claim: Claim, text: str = "好") -> Ending:
    """A run that succeeded."""
    completed = MessageCompleted(
        message_id=claim.run.message_id,
        text=text,
        html=f"<p>{text}</p>",
        cards=(),
        citations=(),
        source="direct",
        explanation="none",
        grounded=True,
        truncated=None,
        provenance=(),
    )
    return Ending(
        event=RunCompleted(outcome="answered", usage={"model_calls": 0}),
        status="succeeded",
        message=completed,
        outcome="answered",
        usage={"model_calls": 0},
    )


def delta(claim: Claim, text: str) -> ContentDelta:
    """A piece of the answer."""
    return ContentDelta(message_id=claim.run.message_id, text=text)


async def echo(claim: Claim, log: AttemptLog) -> None:
    """Answers at once."""
    await log.finish(answer(claim, claim.run.text))


async def send(beats: Heart, new: NewRun, *, claim: bool = True) -> Accepted:
    """Accept and start, as the HTTP interface does."""
    accepted = await beats.runs.accept(new, claim=claim)
    if accepted.claim is not None:
        beats.dispatcher.start(accepted.claim)
    return accepted


async def whole(beats: Heart, run_id: str, after: int = 0, *, within_s: float = 20.0) -> list[StoredEvent]:
    """Everything a follower sees until the end."""
    seen: list[StoredEvent] = []
    async with asyncio.timeout(within_s):
        async for batch in beats.hub.follow(run_id, after):
            seen += batch
    return seen


async def until(condition: Callable[[], Awaitable[bool]] | Callable[[], bool], *, within_s: float = 15.0) -> None:
    """Wait for a condition by a bounded poll."""
    async with asyncio.timeout(within_s):
        while True:
            result = condition()
            if (await result) if isinstance(result, Awaitable) else result:
                return
            await asyncio.sleep(0.02)
