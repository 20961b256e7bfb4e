"""A small HTTP/1.1 client that notes when the first piece of an answer arrived."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import httptools
import orjson
from typing_extensions import override


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """A finished exchange. Seconds since the request began; `first` is None when the mark never came."""

    status: int
    body: bytes
    seconds: float
    first: float | None = None

    def json(self) -> dict[str, object]:
        """The body as a JSON object."""
        return orjson.loads(self.body)  # type: ignore[no-any-return]


@dataclass(frozen=True, kw_only=True, slots=True)
class SseEvent:
    """One event of a stream; `data` is the parsed JSON."""

    type: str
    data: dict[str, object]


class HttpFailedError(Exception):
    """The connection ended before the reply did."""


def request(
    method: str, path: str, *, headers: Mapping[str, str] | None = None, json: object = None, keep_alive: bool = False
) -> bytes:
    """The bytes of a request."""
    body = b"" if json is None else orjson.dumps(json)
    fields = {
        "host": "127.0.0.1",
        "content-type": "application/json",
        "content-length": str(len(body)),
        "connection": "keep-alive" if keep_alive else "close",
        **(headers or {}),
    }
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def sse_events(body: bytes) -> Sequence[SseEvent]:
    """The events of a finished stream; comments and retry hints are left out."""
    events: list[SseEvent] = []
    for block in body.replace(b"\r\n", b"\n").split(b"\n\n"):
        lines = [line.partition(b": ") for line in block.split(b"\n") if line and not line.startswith(b":")]
        fields = {name: value for name, _, value in lines}
        if b"event" in fields and b"data" in fields:
            events.append(SseEvent(type=fields[b"event"].decode(), data=orjson.loads(fields[b"data"])))
    return events


class Wire(asyncio.Protocol):
    """One connection; one exchange at a time."""

    def __init__(self) -> None:
        self._waiting: asyncio.Future[Reply] | None = None
        self._transport: asyncio.Transport | None = None
        self._begun, self._lost = asyncio.Event(), asyncio.Event()
        self._begin(b"", 0.0)

    @classmethod
    async def connect(cls, port: int) -> "Wire":
        """Connect to the local port."""
        _, wire = await asyncio.get_running_loop().create_connection(cls, "127.0.0.1", port)
        return wire

    async def ask(self, data: bytes, *, mark: bytes = b"", started: float | None = None) -> Reply:
        """Send a request and wait for the whole reply. `mark` is looked for in the body; `started` counts from earlier."""
        self._begin(mark, time.perf_counter() if started is None else started)
        self._waiting = asyncio.get_running_loop().create_future()
        self.send(data)
        return await self._waiting

    def send(self, data: bytes) -> None:
        """Send more bytes."""
        assert self._transport is not None, "not connected"
        self._transport.write(data)

    async def close(self) -> None:
        """Close the connection and wait until it is closed."""
        if self._transport is not None:
            self._transport.close()
            await self._lost.wait()

    async def begun(self) -> None:
        """Wait until the first bytes of a reply have come (once a connection)."""
        await self._begun.wait()

    def _begin(self, mark: bytes, started: float) -> None:
        self._mark, self._started = mark, started
        self._first: float | None = None
        self._parts: list[bytes] = []
        self._parser = httptools.HttpResponseParser(self)

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  # uvloop's transports are no subclasses

    @override
    def data_received(self, data: bytes) -> None:
        self._begun.set()
        self._parser.feed_data(data)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._lost.set()
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(HttpFailedError("the server closed the connection in the middle of a reply"))

    def on_body(self, body: bytes) -> None:
        if self._mark and self._first is None:
            joined = self._parts[-1][-len(self._mark) :] + body if self._parts else body
            if self._mark in joined:
                self._first = time.perf_counter() - self._started
        self._parts.append(body)

    def on_message_complete(self) -> None:
        if self._waiting is None or self._waiting.done():
            return
        seconds = time.perf_counter() - self._started
        self._waiting.set_result(
            Reply(
                status=self._parser.get_status_code(),
                body=b"".join(self._parts),
                seconds=seconds,
                first=self._first,
            )
        )


async def call(port: int, data: bytes) -> Reply:
    """One request on its own connection."""
    wire = await Wire.connect(port)
    try:
        return await wire.ask(data)
    finally:
        await wire.close()
