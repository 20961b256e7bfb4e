"""The one PostgreSQL of all contestants: the product's own embedded server with its defaults, or a local one by address."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import psycopg

from benchmarks.driver import PostgresClock
from benchmarks.script import WORDS
from yuzui.adapters.embedded_postgres import EmbeddedPostgres

ROWS = 100_000
BACKGROUND_S = 3.0

TABLE = """
create table if not exists bench_incident (
    id bigint primary key, owner bigint not null, status text not null, report jsonb not null
)
"""
FILL = """
insert into bench_incident
select n, n %% 100, 'open', jsonb_build_object('mode', 'manual', 'approved', false, 'evidence', array['e1', 'e2'],
                                               'text', repeat(%(word)s, 20))
from generate_series(1, %(rows)s) as n
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cluster:
    """Where the database is, and the process at the root of it (on this machine, so that its CPU can be read)."""

    url: str
    pid: int

    async def clock(self) -> PostgresClock:
        """A clock that knows what the cluster spends while nobody asks: measured now, with all servers idle."""
        clock = PostgresClock(pid=self.pid)
        before = clock.seconds()
        await asyncio.sleep(BACKGROUND_S)
        return PostgresClock(pid=self.pid, background=(clock.seconds() - before) / BACKGROUND_S)


@asynccontextmanager
async def cluster(data_dir: Path, url: str | None = None) -> AsyncGenerator[Cluster]:
    """The database with `bench_incident` filled; the embedded server is stopped when the block ends."""
    if url is not None:
        yield await _prepared(url)
        return
    async with EmbeddedPostgres(data_dir) as server:
        yield await _prepared(server.dsn)


async def _prepared(url: str) -> Cluster:
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await connection.execute(TABLE)
        held = await (await connection.execute("select 1 from bench_incident limit 1")).fetchone()
        if held is None:
            await connection.execute(FILL, {"rows": ROWS, "word": "".join(WORDS[:4])})
            await connection.execute("vacuum analyze bench_incident")
        backend = connection.info.backend_pid
        return Cluster(url=url, pid=psutil.Process(backend).ppid())
