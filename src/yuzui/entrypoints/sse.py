"""Server-sent events: frames, heartbeats and a stream that ends with its run or with its client (R-EVT-03).

One loop sends each batch in one piece. It holds no database connection. A second task attends to the client from before the
first byte until after the last: it sends heartbeats while nothing happens and stops the loop when the client has gone.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import suppress
from typing import Any, Final, Protocol, TypeAlias

import structlog
from starlette.types import Receive, Send

from yuzui.errors import YuzuiError
from yuzui.runs.events import StoredEvent

_log = structlog.get_logger(__name__)

Frame: TypeAlias = Callable[[StoredEvent], bytes]
Batches: TypeAlias = AsyncIterator[Sequence[StoredEvent]]

HEADERS: Final[list[tuple[bytes, bytes]]] = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
]
HEARTBEAT: Final = b": heartbeat\n\n"

# Legal inside a frame, but a client that splits lines as Unicode does would cut the frame there: escaped in the JSON text.
_LINE_SEPARATOR, _PARAGRAPH_SEPARATOR, _NEXT_LINE = "\u2028".encode(), "\u2029".encode(), "\u0085".encode()


class Viewers(Protocol):
    """Who is watching which run, so that a run can end when its last viewer is gone (R-RUN-06)."""

    def attach(self, run_id: str) -> None:
        """A client begins to watch."""
        ...

    def detach(self, run_id: str) -> None:
        """A client has stopped watching, for whatever reason."""
        ...


def one_line(text: bytes) -> bytes:
    """JSON text that no reader of lines can split: white space between tokens on one line, Unicode line ends escaped."""
    if b"\n" in text or b"\r" in text:  # outside strings only: inside them JSON escapes both
        text = text.replace(b"\n", b" ").replace(b"\r", b" ")
    if _LINE_SEPARATOR in text or _PARAGRAPH_SEPARATOR in text:
        text = text.replace(_LINE_SEPARATOR, b"\\u2028").replace(_PARAGRAPH_SEPARATOR, b"\\u2029")
    if _NEXT_LINE in text:
        text = text.replace(_NEXT_LINE, b"\\u0085")
    return text


def frame(seq: int, kind: str, json_text: bytes) -> bytes:
    """One frame. `kind` is from a closed set and `seq` is a number, so neither can carry a line end."""
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (seq, kind.encode(), one_line(json_text))


class Streams:
    """The open streams of this process: counted, and ended together when it shuts down so that clients resume elsewhere."""

    def __init__(self) -> None:
        self._open: set[asyncio.Task[None]] = set()
        self.closing = False

    def __len__(self) -> int:
        return len(self._open)

    def close(self) -> None:
        """End every open stream, and each new one at once."""
        self.closing = True
        for task in self._open:
            task.cancel()

    def add(self, attendant: asyncio.Task[None]) -> None:
        """Count a stream by its attendant."""
        self._open.add(attendant)
        attendant.add_done_callback(self._open.discard)


class Stream:
    """One client watching one run. Use once."""

    def __init__(self, send: Send, receive: Receive, *, streams: Streams, heartbeat_s: float) -> None:
        self._send = send
        self._receive = receive
        self._streams = streams
        self._heartbeat_s = heartbeat_s
        self._sent_at = 0.0
        self._ended = False
        self._cut = False

    async def run(self, batches: Batches, render: Frame) -> bool:
        """Send every batch until the run ends (True), or the client leaves or the process shuts down (False)."""
        main = asyncio.current_task()
        if main is None:
            raise RuntimeError("a stream runs in a task")
        attendant = asyncio.create_task(self._attend())
        attendant.add_done_callback(lambda _: self._cut_off(main))
        self._streams.add(attendant)
        try:
            await self._send({"type": "http.response.start", "status": 200, "headers": HEADERS})
            if self._streams.closing or not await self._copy(batches, render):
                await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        except asyncio.CancelledError:
            if not self._cut:
                raise
            main.uncancel()
        except OSError:  # how some servers say that the client has gone
            self._cut = True
        except YuzuiError as error:  # too late for another status; the client resumes after the last event it has
            _log.warning("stream.cut", code=error.code)
            self._cut = True
        finally:
            self._ended = True
            attendant.cancel()
            if isinstance(batches, AsyncGenerator):
                await batches.aclose()
        if self._cut:
            with suppress(OSError):
                await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        return not self._cut

    async def _copy(self, batches: Batches, render: Frame) -> bool:
        """Send each batch in one piece; True when the last one, with the terminal event, also ended the response."""
        clock = asyncio.get_running_loop().time
        async for batch in batches:
            body = b"".join([render(event) for event in batch])
            last = batch[-1].terminal
            if body or last:
                self._sent_at = clock()
                await self._send({"type": "http.response.body", "body": body, "more_body": not last})
            if last:
                return True
        return False

    async def _attend(self) -> None:
        """Heartbeats while nothing else is sent, until the client leaves. Its end, for whatever reason, cuts the stream."""
        clock = asyncio.get_running_loop().time
        self._sent_at = clock()
        with suppress(OSError):
            while not await self._disconnected(self._sent_at + self._heartbeat_s - clock()):
                if clock() >= self._sent_at + self._heartbeat_s:
                    self._sent_at = clock()
                    await self._send({"type": "http.response.body", "body": HEARTBEAT, "more_body": True})

    def _cut_off(self, main: asyncio.Task[Any]) -> None:
        if not self._ended:
            self._cut = True
            main.cancel()

    async def _disconnected(self, within: float) -> bool:
        try:
            async with asyncio.timeout(within):
                return bool((await self._receive())["type"] == "http.disconnect")
        except TimeoutError:
            return False
