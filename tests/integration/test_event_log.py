"""The durable log: order, fencing, resumption, lost notices, lost database."""

import asyncio
import json

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from tests.integration.heart_case import ALICE, answer, delta, echo, heart, message, prepare, send, until, whole

from yuzui.adapters.postgres.heart import Heart, HeartOptions
from yuzui.errors import FencedOutError
from yuzui.runs.audit import ToolCallRecord
from yuzui.runs.dispatcher import DispatchOptions
from yuzui.runs.events import ContentDelta, ToolFinished, ToolStarted
from yuzui.runs.log import AttemptLog
from yuzui.runs.run import Claim

MANY = HeartOptions(dispatch=DispatchOptions(concurrency=200))


@pytest.fixture
async def dsn(migrated_dsn: str) -> str:
    await prepare(migrated_dsn)
    return migrated_dsn


async def talk(claim: Claim, log: AttemptLog) -> None:
    """Twelve events of several kinds, some stored alone and some together."""
    for number in range(4):
        log.emit(ToolStarted(call_id=f"c{number}", tool="fridge", arguments={"q": "\u2028 a\x00b"}))
        log.emit(delta(claim, f"第{number}步"))
        if number % 2:
            await log.flush()
    await log.finish(answer(claim))


async def _session(beats: Heart) -> str:
    return (await beats.sessions.create(ALICE, "home-menu")).id


async def test_R_EVT_01_a_cut_after_any_event_resumes_without_gap_or_duplicate_on_every_replica(dsn: str) -> None:
    async with heart(dsn, talk) as here, heart(dsn, talk) as there:
        accepted = await send(here, message(await _session(here)))
        full = await whole(here, accepted.run.id)
        assert [event.seq for event in full] == list(range(1, len(full) + 1))
        assert full[-1].type == "run.completed"
        for replica in (here, there):
            for cut in range(len(full)):
                assert await whole(replica, accepted.run.id, cut) == full[cut:]
        assert await there.hub.read(accepted.run.id, len(full)) == []


async def test_R_EVT_01_live_readers_elsewhere_see_what_replay_shows(dsn: str) -> None:
    go = asyncio.Event()

    async def paced(claim: Claim, log: AttemptLog) -> None:
        await go.wait()
        for number in range(30):
            log.emit(delta(claim, f"{number} "))
            await log.flush()
        await log.finish(answer(claim))

    async with heart(dsn, paced) as here, heart(dsn, paced) as there:
        await there.listener.listening.wait()
        accepted = await send(here, message(await _session(here)))
        run_id = accepted.run.id
        readers = [asyncio.create_task(whole(beats, run_id, after)) for beats in (here, there) for after in (0, 1, 7)]
        await asyncio.sleep(0)
        go.set()
        seen = await asyncio.gather(*readers)
        replay = await there.hub.read(run_id, 0)
        for live, after in zip(seen, (0, 1, 7, 0, 1, 7), strict=True):
            assert live == replay[after:]


async def test_R_EVT_01_the_log_has_no_gap_under_concurrent_runs_and_readers(dsn: str) -> None:
    async with heart(dsn, talk, MANY) as here, heart(dsn, talk, MANY) as there:
        sessions = [await _session(here) for _ in range(12)]

        async def client(number: int) -> None:
            beats, other = (here, there) if number % 2 else (there, here)
            for _ in range(3):
                accepted = await send(beats, message(sessions[number], inline=True))
                live = await whole(other, accepted.run.id)
                assert [event.seq for event in live] == list(range(1, len(live) + 1))
                assert [event.type for event in live].count("run.completed") == 1

        await asyncio.gather(*(client(number) for number in range(12)))


async def test_decision_4_an_attempt_that_lost_its_token_writes_nothing_and_is_told(dsn: str) -> None:
    told = asyncio.Event()
    errors: list[Exception] = []

    async def stubborn(claim: Claim, log: AttemptLog) -> None:
        try:
            await taken.wait()
            log.emit(delta(claim, "zu spät"))
            await log.flush()
        except FencedOutError as error:
            errors.append(error)
            raise
        finally:
            told.set()

    taken = asyncio.Event()
    async with heart(dsn, stubborn) as beats:
        accepted = await send(beats, message(await _session(beats)))
        async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as other:
            await other.execute("UPDATE yuzui.run_heads SET token = 'another'")
        taken.set()
        await told.wait()
        await until(lambda: len(beats.dispatcher) == 0)
        stored = await beats.hub.read(accepted.run.id, 0)
        assert [event.type for event in stored] == ["run.created", "run.started"]
        assert (await beats.runs.get(ALICE.owner, accepted.run.id)).status == "running"
        assert len(errors) <= 1  # either the flush raised it, or the task was stopped before


async def test_R_EVT_01_neighbouring_deltas_are_one_event_and_keep_their_text(dsn: str) -> None:
    pieces = ["1. 查锁", "\n", "\n", "  - pid", "\u2028", "尾"]

    async def stream(claim: Claim, log: AttemptLog) -> None:
        log.emit(ToolStarted(call_id="c", tool="t", arguments={}))
        for piece in pieces:
            log.emit(delta(claim, piece))
        await log.finish(answer(claim))

    async with heart(dsn, stream) as beats:
        accepted = await send(beats, message(await _session(beats)))
        events = await whole(beats, accepted.run.id)
        deltas = [event for event in events if event.type == ContentDelta.type]
        assert len(deltas) == 1
        assert json.loads(deltas[0].data)["text"] == "".join(pieces)
        assert "\u2028".encode() not in deltas[0].data


async def test_a_lost_listener_comes_back_and_loses_nothing(dsn: str) -> None:
    go = asyncio.Event()

    async def later(claim: Claim, log: AttemptLog) -> None:
        await go.wait()
        await log.finish(answer(claim))

    async with heart(dsn, later) as here, heart(dsn, later) as there:
        await there.listener.listening.wait()
        accepted = await send(here, message(await _session(here)))
        reading = asyncio.create_task(whole(there, accepted.run.id))
        async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as other:
            await other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'yuzui-listener'"
            )
        go.set()
        assert (await reading)[-1].type == "run.completed"
        await until(lambda: there.listener.reconnects >= 1 and there.listener.listening.is_set())


async def test_the_slow_poll_finds_what_no_notice_announced(dsn: str) -> None:
    async with heart(dsn, echo, HeartOptions(poll_s=0.1)) as beats:
        session = await _session(beats)
        stuck = await beats.runs.accept(message(session), claim=True)
        assert stuck.claim is not None
        reading = asyncio.create_task(whole(beats, stuck.run.id))
        await asyncio.sleep(0)
        async with await psycopg.AsyncConnection.connect(dsn) as other:  # a writer that forgets its notice
            await other.execute(
                "INSERT INTO yuzui.events VALUES (%s, 3, 'run.cancelled', now(), 1, '{}')", (stuck.run.id,)
            )
            await other.execute("UPDATE yuzui.run_heads SET last_seq = 3 WHERE run_id = %s", (stuck.run.id,))
            await other.commit()
        assert [event.seq for event in await reading] == [1, 2, 3]
        beats.runs.release(stuck.claim)


async def test_a_listener_that_cannot_connect_does_not_spin(dsn: str) -> None:
    async with heart(dsn, echo) as beats:
        await beats.listener.listening.wait()
        before = beats.listener.reconnects
        async with _closed(dsn):
            await until(lambda: not beats.listener.listening.is_set())
            await asyncio.sleep(0.5)
            assert beats.listener.reconnects == before
        await until(beats.listener.listening.is_set)


class _closed:  # noqa: N801  reads as a block: while the database is closed
    """Nobody can reach the database inside the block; every connection to it was cut."""

    def __init__(self, dsn: str) -> None:
        self._name = str(conninfo_to_dict(dsn)["dbname"])
        self._server = dsn.rsplit("/", 1)[0] + "/postgres"

    async def _allow(self, allowed: bool) -> None:
        async with await psycopg.AsyncConnection.connect(self._server, autocommit=True) as connection:
            statement = sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS {}")
            await connection.execute(statement.format(sql.Identifier(self._name), sql.Literal(allowed)))
            if not allowed:
                await connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (self._name,)
                )

    async def __aenter__(self) -> None:
        await self._allow(False)

    async def __aexit__(self, *_: object) -> None:
        await self._allow(True)


async def test_R_DEG_04_an_outage_of_the_database_loses_no_event_and_doubles_none(dsn: str) -> None:
    away, back = asyncio.Event(), asyncio.Event()

    async def through(claim: Claim, log: AttemptLog) -> None:
        log.emit(ToolStarted(call_id="a", tool="t", arguments={}))
        await log.flush()
        away.set()
        for number in range(50):
            log.emit(delta(claim, f"{number};"))
            log.emit(
                ToolFinished(call_id=str(number), tool="t", outcome="ok", observation="x", duration_ms=1, reused=False)
            )
            log.record(
                ToolCallRecord(key=str(number), tool="t", effect="read", arguments={}, outcome="ok", ms=1, reused=False)
            )
            if number == 25:
                await back.wait()
        await log.finish(answer(claim))

    async with heart(dsn, through) as beats:
        accepted = await send(beats, message(await _session(beats)))
        reading = asyncio.create_task(whole(beats, accepted.run.id))
        await away.wait()
        async with _closed(dsn):
            await asyncio.sleep(2.0)
            back.set()
            await asyncio.sleep(0.5)
        events = await reading
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert [event.type for event in events].count("tool.finished") == 50
        assert len((await beats.audit.read(ALICE.owner, accepted.run.id))["tool_calls"]) == 50
        assert (await beats.runs.get(ALICE.owner, accepted.run.id)).status == "succeeded"


async def test_idle_readers_hold_no_connection(dsn: str) -> None:
    end = asyncio.Event()

    async def wait(claim: Claim, log: AttemptLog) -> None:
        await end.wait()
        await log.finish(answer(claim))

    async with heart(dsn, wait) as beats:
        accepted = await send(beats, message(await _session(beats)))
        readers = [asyncio.create_task(whole(beats, accepted.run.id, number % 2)) for number in range(40)]
        await until(lambda: beats.hub.followers == 40)
        for _ in range(20):
            await beats.sessions.get(ALICE.owner, accepted.run.session_id)
        async with await psycopg.AsyncConnection.connect(dsn) as other:
            cursor = await other.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'"
            )
            row = await cursor.fetchone()
        assert row == (0,)
        end.set()
        assert {events[-1].type for events in await asyncio.gather(*readers)} == {"run.completed"}


async def test_R_EVT_05_a_reader_that_does_not_read_slows_nobody_and_misses_nothing(dsn: str) -> None:
    async def long(claim: Claim, log: AttemptLog) -> None:
        for number in range(1500):
            log.emit(ToolStarted(call_id=str(number), tool="t", arguments={}))
            if number % 50 == 0:
                await log.flush()
        await log.finish(answer(claim))

    async with heart(dsn, long) as beats:
        accepted = await send(beats, message(await _session(beats)))
        slow = aiter(beats.hub.follow(accepted.run.id, 0))
        first = await anext(slow)
        quick = await whole(beats, accepted.run.id)
        rest = [event async for batch in slow for event in batch]
        assert [*first, *rest] == quick
        assert len(quick) == 1504


async def test_one_statement_stores_the_events_of_many_streaming_runs(dsn: str) -> None:
    async def stream(claim: Claim, log: AttemptLog) -> None:
        for number in range(20):
            log.emit(delta(claim, f"{number} "))
            await asyncio.sleep(0.01)
        await log.finish(answer(claim))

    async with heart(dsn, stream, MANY) as beats:
        sessions = [await _session(beats) for _ in range(64)]
        runs = [await send(beats, message(session, inline=True)) for session in sessions]
        await asyncio.gather(*(whole(beats, accepted.run.id) for accepted in runs))
        assert beats.writer.events_written / beats.writer.flushes >= 8
