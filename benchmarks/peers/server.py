"""One peer behind FastAPI and sse-starlette, as people put it there: `POST /run {"message"}` answers with the stream.

python -m benchmarks.peers.server --peer sdk --port 8110 --model-url URL --database-url URL
"""

import argparse
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager

import orjson
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from sse_starlette import EventSourceResponse, ServerSentEvent

from benchmarks.peers.peer import Peer, Place


def _sdk(place: Place) -> Peer:
    from benchmarks.peers.sdk import SdkLoop

    return SdkLoop(place)


def _limited(place: Place) -> Peer:
    from benchmarks.peers.langchain_agent import LimitedAgent

    return LimitedAgent(place)


def _saved(place: Place) -> Peer:
    from benchmarks.peers.langchain_agent import SavedAgent

    return SavedAgent(place)


def _pydantic(place: Place) -> Peer:
    from benchmarks.peers.pydantic_agent import PydanticAgent

    return PydanticAgent(place)


PEERS: dict[str, Callable[[Place], Peer]] = {
    "sdk": _sdk,
    "agent_limits": _limited,
    "agent_saver": _saved,
    "pydantic_ai": _pydantic,
}


class Question(BaseModel):
    """The body of a run."""

    message: str


def make_app(peer: Peer) -> FastAPI:
    """The HTTP side of a peer."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        await peer.open()
        yield

    app = FastAPI(lifespan=lifespan)

    @app.get("/readyz")
    async def ready() -> dict[str, bool]:  # pyright: ignore[reportUnusedFunction]
        return {"ok": True}

    @app.post("/run")
    async def run(question: Question) -> EventSourceResponse:  # pyright: ignore[reportUnusedFunction]
        return EventSourceResponse(_frames(peer, question.message), ping=15)

    return app


async def _frames(peer: Peer, question: str) -> AsyncIterator[ServerSentEvent]:
    seq = 1
    yield ServerSentEvent(data="{}", event="started", id="1")
    async for kind, value in peer.events(question):
        seq += 1
        yield ServerSentEvent(data=orjson.dumps({"v": value}).decode(), event=kind, id=str(seq))
    yield ServerSentEvent(data="{}", event="done", id=str(seq + 1))


def serve(app: FastAPI, port: int) -> None:
    """Run an application as production does: uvloop, httptools, no access log."""
    uvicorn.run(
        app, host="127.0.0.1", port=port, loop="uvloop", http="httptools", log_level="warning", access_log=False
    )


def main() -> None:
    """Serve one peer until killed."""
    parser = argparse.ArgumentParser(description="Serve one peer.")
    parser.add_argument("--peer", choices=sorted(PEERS), required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--model", default="mock")
    parser.add_argument("--model-url", required=True)
    parser.add_argument("--database-url", required=True)
    given = parser.parse_args()
    place = Place(model=given.model, model_url=given.model_url, database_url=given.database_url)
    serve(make_app(PEERS[given.peer](place)), given.port)


if __name__ == "__main__":
    main()
