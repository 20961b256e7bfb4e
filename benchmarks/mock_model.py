"""A scripted model server that speaks the OpenAI chat-completions protocol, cheap enough never to be the bottleneck.

    python -m benchmarks.mock_model --port 9100

`POST /v1/chat/completions` (streamed or not, see `benchmarks.script`), `GET /v1/models`, `GET /stats` (calls by kind since
the last reset), `POST /reset` with `{"options": "ttft=300;tok=20"}` (zero the counters, set the defaults of the options).

Time is absolute: piece i leaves at arrival + ttft + i·tok, so a late wake-up delays one piece and not all later ones, and the
model's own time for a task is known exactly (`Script.own_ms`). Without delays a whole reply leaves in one write.
"""

import argparse
import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import httptools
import orjson
import uvloop
from typing_extensions import override

from benchmarks.script import Reply, Script, parse_options, reply_to, usage_of

STREAM_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n"
FAULTS = {"err500": b"500 Internal Server Error", "err429": b"429 Too Many Requests"}


@dataclass(slots=True)
class Counters:
    """Calls since the last reset."""

    calls: int = 0
    tool: int = 0
    answer: int = 0
    errors: int = 0


@dataclass(slots=True)
class State:
    """What all connections share."""

    defaults: Script = field(default_factory=Script)
    counters: Counters = field(default_factory=Counters)
    open: set["Connection"] = field(default_factory=set["Connection"])


class Connection(asyncio.Protocol):
    """One client connection; requests on it are answered in order, one at a time."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._parser = httptools.HttpRequestParser(self)
        self._url = b""
        self._body = bytearray()
        self._transport: asyncio.Transport
        self.lost = asyncio.Event()

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  # uvloop's transports are no subclasses

        self._state.open.add(self)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._state.open.discard(self)
        self.lost.set()

    def close(self) -> None:
        """Close the connection, whatever is still to be sent."""
        self._transport.abort()

    @override
    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_body(self, body: bytes) -> None:
        self._body += body

    def on_message_complete(self) -> None:
        url, body = self._url, bytes(self._body)
        self._url, self._body = b"", bytearray()
        match url.partition(b"?")[0]:
            case b"/v1/chat/completions":
                self._complete(orjson.loads(body), asyncio.get_running_loop().time())
            case b"/v1/models":
                self._send({"object": "list", "data": [{"id": "mock", "object": "model"}]})
            case b"/stats":
                self._send(asdict(self._state.counters))
            case b"/reset":
                self._state.counters = Counters()
                options = orjson.loads(body)["options"] if body else ""
                self._state.defaults = parse_options(f"mock;{options}" if options else "mock", Script())
                self._send({})
            case _:
                self._send({"error": {"message": "not found"}}, b"404 Not Found")

    def _complete(self, request: dict[str, Any], arrival: float) -> None:
        counters = self._state.counters
        counters.calls += 1
        try:
            script = parse_options(request.get("model", "mock"), self._state.defaults)
        except ValueError as error:
            counters.errors += 1
            self._send({"error": {"message": str(error), "type": "invalid_request_error"}}, b"400 Bad Request")
            return
        if fault := FAULTS.get(script.behaviour):
            counters.errors += 1
            self._send({"error": {"message": "scripted failure", "type": "server_error"}}, fault)
        elif script.behaviour != "hang":
            reply = reply_to(request, script)
            setattr(counters, reply.kind, getattr(counters, reply.kind) + 1)
            if reply.message is None:
                self._stream(reply.frames, script, arrival)
            else:
                at = arrival + (script.ttft + (reply.pieces - 1) * script.tok) / 1e3
                asyncio.get_running_loop().call_at(at, self._send, _completion(reply))

    def _send(self, content: object, status: bytes = b"200 OK") -> None:
        body = orjson.dumps(content)
        head = b"HTTP/1.1 %b\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
        self._transport.write(head % (status, len(body)) + body)

    def _stream(self, frames: tuple[bytes, ...], script: Script, arrival: float) -> None:
        cut = script.behaviour == "cut"
        if cut:
            frames = frames[: max(1, len(frames) // 2)]
        if not script.ttft and not script.tok:
            self._transport.write(STREAM_HEAD + _chunked(b"".join(frames), last=not cut))
            if cut:
                self._transport.close()
            return
        self._transport.write(STREAM_HEAD)
        loop, start, step = asyncio.get_running_loop(), arrival + script.ttft / 1e3, script.tok / 1e3

        def send(n: int) -> None:
            if self._transport.is_closing():
                return
            last = n == len(frames) - 1
            self._transport.write(_chunked(frames[n], last=last and not cut))
            if not last:
                loop.call_at(start + (n + 1) * step, send, n + 1)
            elif cut:
                self._transport.close()

        loop.call_at(start, send, 0)


def _chunked(data: bytes, *, last: bool) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data) + (b"0\r\n\r\n" if last else b"")


def _completion(reply: Reply) -> dict[str, Any]:
    finish = "tool_calls" if reply.kind == "tool" and reply.message and reply.message.get("tool_calls") else "stop"
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "mock",
        "choices": [{"index": 0, "message": reply.message, "finish_reason": finish, "logprobs": None}],
        "usage": usage_of(reply.pieces),
    }


@asynccontextmanager
async def mock_server(port: int = 0, defaults: Script | None = None) -> AsyncGenerator[int]:
    """Serve in the running loop while the block runs; yields the port (0 picks a free one). Ends with all its connections."""
    state = State(defaults=defaults or Script())
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(state), "127.0.0.1", port, backlog=2048)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for connection in tuple(state.open):
            connection.close()
        await asyncio.gather(*(connection.lost.wait() for connection in tuple(state.open)))


async def _serve(port: int) -> None:
    async with mock_server(port=port):
        await asyncio.Event().wait()


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description="A scripted OpenAI-compatible model server.")
    arguments.add_argument("--port", type=int, default=9100)
    uvloop.run(_serve(arguments.parse_args().port))
