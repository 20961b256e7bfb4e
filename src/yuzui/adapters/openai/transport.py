"""An HTTP transport whose reads cost little: a model's stream is read thousands of times a second.

The library's own network stream opens a cancel scope for each read, also when there is no time-out to watch. The run's one
deadline covers every read here, so a read without a time-out of its own is just a read.
"""

import select
import ssl
from collections.abc import Iterable
from typing import Any

import anyio
import anyio.abc
import httpcore2
import httpx2
from anyio.streams.tls import TLSAttribute, TLSStream
from httpcore2 import AsyncNetworkBackend, AsyncNetworkStream, ConnectError, ConnectTimeout, ReadError, WriteError
from typing_extensions import override

_BROKEN = (anyio.BrokenResourceError, anyio.ClosedResourceError)
_ATTRIBUTES = {
    "ssl_object": TLSAttribute.ssl_object,
    "client_addr": anyio.abc.SocketAttribute.local_address,
    "server_addr": anyio.abc.SocketAttribute.remote_address,
    "socket": anyio.abc.SocketAttribute.raw_socket,
}


class LeanStream(AsyncNetworkStream):
    """A connected stream. Raises the library's `ReadError`, `WriteError`, `ConnectError`, and `TimeoutError` kinds."""

    def __init__(self, stream: anyio.abc.ByteStream) -> None:
        self._stream = stream

    @override
    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            if timeout is None:
                return await self._stream.receive(max_bytes)
            with anyio.fail_after(timeout):
                return await self._stream.receive(max_bytes)
        except anyio.EndOfStream:
            return b""
        except _BROKEN as error:
            raise ReadError(str(error)) from error
        except TimeoutError as error:
            raise httpcore2.ReadTimeout(str(error)) from error

    @override
    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if not buffer:
            return
        try:
            with anyio.fail_after(timeout):
                await self._stream.send(buffer)
        except (*_BROKEN, anyio.EndOfStream) as error:
            raise WriteError(str(error)) from error
        except TimeoutError as error:
            raise httpcore2.WriteTimeout(str(error)) from error

    @override
    async def aclose(self) -> None:
        await self._stream.aclose()

    @override
    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> AsyncNetworkStream:
        try:
            with anyio.fail_after(timeout):
                secured = await TLSStream.wrap(
                    self._stream,
                    ssl_context=ssl_context,
                    hostname=server_hostname,
                    standard_compatible=False,
                    server_side=False,
                )
        except TimeoutError as error:
            await self.aclose()
            raise ConnectTimeout(str(error)) from error
        except (*_BROKEN, anyio.EndOfStream, ssl.SSLError) as error:
            await self.aclose()
            raise ConnectError(str(error)) from error
        return LeanStream(secured)

    @override
    def get_extra_info(self, info: str) -> Any:
        if info == "is_readable":
            raw = self._stream.extra(anyio.abc.SocketAttribute.raw_socket, None)  # noqa: S610  a typed attribute
            return raw is None or _is_readable(raw.fileno())
        attribute = _ATTRIBUTES.get(info)
        return None if attribute is None else self._stream.extra(attribute, None)  # noqa: S610  a typed attribute


class LeanBackend(AsyncNetworkBackend):
    """Connects over TCP."""

    @override
    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> AsyncNetworkStream:
        try:
            with anyio.fail_after(timeout):
                stream = await anyio.connect_tcp(host, port, local_host=local_address)
        except TimeoutError as error:
            raise ConnectTimeout(str(error)) from error
        except OSError as error:
            raise ConnectError(str(error)) from error
        raw = stream.extra(anyio.abc.SocketAttribute.raw_socket)  # noqa: S610  a typed attribute
        for option in socket_options or ():
            raw.setsockopt(*option)
        return LeanStream(stream)

    @override
    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)


class LeanTransport(httpx2.AsyncHTTPTransport):
    """The library's transport over `LeanBackend`."""

    def __init__(self, *, limits: httpx2.Limits) -> None:
        super().__init__(limits=limits)
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=httpx2.create_ssl_context(),
            max_connections=limits.max_connections,
            max_keepalive_connections=limits.max_keepalive_connections,
            keepalive_expiry=limits.keepalive_expiry,
            network_backend=LeanBackend(),
        )


def _is_readable(descriptor: int) -> bool:
    """Whether a connection that should be quiet has something to say: it was closed by the other side."""
    if descriptor < 0:
        return True
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    return bool(poller.poll(0))
