"""The floors: one indexed SELECT behind FastAPI, and sse-starlette's fan-out to many readers.

    python -m benchmarks.peers.floors --port 8120 --database-url URL

`GET /incident/{id}`: the SELECT through asyncpg, no login, nothing kept; `GET /incident-psycopg/{id}`: the same through psycopg.
`GET /fan`: a reader. `POST /publish {"n", "gap_ms", "delay_ms", "text"}`: n events to every reader, then the end.
"""

import argparse
import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg  # type: ignore[import-untyped]  # has no type information
import orjson
from fastapi import FastAPI, Response
from psycopg_pool import AsyncConnectionPool
from pydantic import BaseModel
from sse_starlette import EventSourceResponse, ServerSentEvent

from benchmarks.peers.server import serve

SELECT = "select id, owner, status, report from bench_incident where id = $1 and owner = $2"
SELECT_PSYCOPG = SELECT.replace("$1", "%s").replace("$2", "%s")
OWNERS = 100


class Publication(BaseModel):
    """`n` events of `text`, `gap_ms` apart, the first after `delay_ms`."""

    n: int
    gap_ms: float
    delay_ms: float
    text: str


class Hub:
    """Every reader has a queue; None ends its stream."""

    def __init__(self) -> None:
        self._readers: set[asyncio.Queue[str | None]] = set()

    async def read(self) -> AsyncIterator[ServerSentEvent]:
        queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._readers.add(queue)
        seq = 0
        try:
            yield ServerSentEvent(data="{}", event="started", id="0")
            while (data := await queue.get()) is not None:
                seq += 1
                yield ServerSentEvent(data=data, event="text", id=str(seq))
            yield ServerSentEvent(data="{}", event="done", id=str(seq + 1))
        finally:
            self._readers.discard(queue)

    async def publish(self, publication: Publication) -> int:
        loop = asyncio.get_running_loop()
        start = loop.time() + publication.delay_ms / 1e3
        for n in range(publication.n):
            await asyncio.sleep(max(0.0, start + n * publication.gap_ms / 1e3 - loop.time()))
            self._tell(publication.text)
        readers = len(self._readers)
        self._tell(None)
        return readers

    def _tell(self, data: str | None) -> None:
        for queue in self._readers:
            queue.put_nowait(data)


class Pools:
    """The same number of connections through either driver."""

    def __init__(self, database_url: str, size: int) -> None:
        self._database_url, self._size = database_url, size
        self.quick: Any = None
        self.psycopg = AsyncConnectionPool(
            database_url, min_size=size, max_size=size, open=False, kwargs={"autocommit": True}
        )

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[None]:
        """Both pools, while the server runs; asyncpg binds its own to the loop it is made in."""
        driver: Any = asyncpg
        async with (
            driver.create_pool(self._database_url, min_size=self._size, max_size=self._size) as self.quick,
            self.psycopg,
        ):
            yield


def make_app(database_url: str, pool_size: int = 16) -> FastAPI:
    """The floors as one application."""
    hub = Hub()
    pools = Pools(database_url, pool_size)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        async with pools.opened():
            yield

    app = FastAPI(lifespan=lifespan)

    @app.get("/readyz")
    async def ready() -> dict[str, bool]:  # pyright: ignore[reportUnusedFunction]
        return {"ok": True}

    @app.get("/incident/{number}")
    async def incident(number: int) -> Response:  # pyright: ignore[reportUnusedFunction]
        row = await pools.quick.fetchrow(SELECT, number, number % OWNERS)
        body = b'{"id":%d,"status":"%b","report":%b}' % (row[0], row[2].encode(), row[3].encode())
        return Response(body, media_type="application/json")

    @app.get("/incident-psycopg/{number}")
    async def incident_psycopg(number: int) -> Response:  # pyright: ignore[reportUnusedFunction]
        async with pools.psycopg.connection() as connection:
            row = await (await connection.execute(SELECT_PSYCOPG, (number, number % OWNERS))).fetchone()
        assert row is not None, "the table is filled"
        body = {"id": row[0], "status": row[2], "report": row[3]}
        return Response(orjson.dumps(body), media_type="application/json")

    @app.get("/fan")
    async def fan() -> EventSourceResponse:  # pyright: ignore[reportUnusedFunction]
        return EventSourceResponse(hub.read(), ping=15)

    @app.post("/publish")
    async def publish(publication: Publication) -> dict[str, int]:  # pyright: ignore[reportUnusedFunction]
        return {"readers": await hub.publish(publication)}

    return app


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Serve the floors.")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--database-url", required=True)
    given = parser.parse_args()
    serve(make_app(given.database_url), given.port)
