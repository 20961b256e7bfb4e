"""A model server over a raw socket, so that tests decide what each network write holds."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

Reply = Callable[["Exchange"], Awaitable[None]]


@dataclass(kw_only=True)
class Exchange:
    """One request and the connection to answer it on."""

    body: dict[str, Any]
    headers: dict[str, str]
    writer: asyncio.StreamWriter

    async def head(self, status: str = "200 OK", **headers: str) -> None:
        """Send the response's head; the body is what is written until the connection closes."""
        lines = [
            f"HTTP/1.1 {status}",
            "connection: close",
            *(f"{k.replace('_', '-')}: {v}" for k, v in headers.items()),
        ]
        self.writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
        await self.writer.drain()

    async def events(self, *chunks: dict[str, Any] | str) -> None:
        """Send events in one write."""
        frames = (chunk if isinstance(chunk, str) else json.dumps(chunk, ensure_ascii=False) for chunk in chunks)
        self.writer.write("".join(f"data: {frame}\n\n" for frame in frames).encode())
        await self.writer.drain()

    async def refuse(self, status: str, message: str, **headers: str) -> None:
        """Answer with an error body."""
        await self.head(status, content_type="application/json", **headers)
        self.writer.write(json.dumps({"error": {"message": message}}).encode())
        await self.writer.drain()


@dataclass(kw_only=True)
class Server:
    """Replies in order, the last one for ever; `exchanges` holds what came in."""

    replies: list[Reply]
    url: str = ""
    exchanges: list[Exchange] = field(default_factory=list[Exchange])
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, one request."""
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
            body = json.loads(await reader.readexactly(int(headers["content-length"])))
            exchange = Exchange(body=body, headers=headers, writer=writer)
            self.exchanges.append(exchange)
            await self.replies[min(len(self.exchanges), len(self.replies)) - 1](exchange)
        except (ConnectionError, asyncio.IncompleteReadError):
            self.gone.set()
        finally:
            writer.close()


@asynccontextmanager
async def serving(*replies: Reply) -> AsyncGenerator[Server]:
    """A server on a free port."""
    server = Server(replies=list(replies))
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1"
    try:
        yield server
    finally:
        listener.close()


def delta(content: str | None = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """A chunk of a stream."""
    held = {"content": content, **more} if content is not None else more
    return {"model": "m-1", "choices": [{"index": 0, "delta": held, "finish_reason": finish}]}


USAGE: dict[str, Any] = {"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 7}}


def says(*chunks: dict[str, Any] | str) -> Reply:
    """A reply that sends these events in one write."""

    async def reply(exchange: Exchange) -> None:
        await exchange.head(content_type="text/event-stream")
        await exchange.events(*chunks)

    return reply


def refuses(status: str, message: str = "no", **headers: str) -> Reply:
    """A reply that is an error."""

    async def reply(exchange: Exchange) -> None:
        await exchange.refuse(status, message, **headers)

    return reply
