"""The lean transport against real sockets: plain, TLS, a server that goes away."""

import asyncio
import ssl
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import httpcore2
import httpx2
import pytest

from yuzui.adapters.openai.transport import LeanBackend, LeanTransport

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 5\r\n\r\nhello"


async def answering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer every request on the connection."""
    while await reader.read(4096):
        writer.write(ANSWER)
        await writer.drain()
    writer.close()


@pytest.fixture
async def plain() -> AsyncIterator[int]:
    server = await asyncio.start_server(answering, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    key, crt = tmp_path / "key.pem", tmp_path / "crt.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    names = ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(crt)]
    try:
        subprocess.run([*command, *names], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("openssl is missing; install it with: apt-get install -y openssl")
    return key, crt


async def test_a_connection_is_kept_and_used_again(plain: int) -> None:
    async with httpx2.AsyncClient(transport=LeanTransport(limits=httpx2.Limits(max_connections=1))) as client:
        for _ in range(3):
            assert (await client.get(f"http://127.0.0.1:{plain}/")).text == "hello"


async def test_tls_is_verified_against_the_given_authorities(certificate: tuple[Path, Path]) -> None:
    key, crt = certificate
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    served.load_cert_chain(crt, key)
    server = await asyncio.start_server(answering, "127.0.0.1", 0, ssl=served)
    async with server:
        port = server.sockets[0].getsockname()[1]
        stream = await LeanBackend().connect_tcp("127.0.0.1", port, timeout=5.0)
        trusting = ssl.create_default_context(cafile=str(crt))
        secured = await stream.start_tls(trusting, server_hostname="localhost", timeout=5.0)
        assert secured.get_extra_info("ssl_object") is not None
        await secured.write(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
        assert b"hello" in await secured.read(4096)
        await secured.aclose()
        other = await LeanBackend().connect_tcp("127.0.0.1", port, timeout=5.0)
        with pytest.raises(httpcore2.ConnectError):
            await other.start_tls(ssl.create_default_context(), server_hostname="localhost", timeout=5.0)


async def test_a_refused_connection_and_a_silent_server_are_the_librarys_own_errors(plain: int) -> None:
    client = httpx2.AsyncClient(transport=LeanTransport(limits=httpx2.Limits()))
    with pytest.raises(httpx2.ConnectError):
        await client.get("http://127.0.0.1:9/")
    await client.aclose()
    stream = await LeanBackend().connect_tcp("127.0.0.1", plain, timeout=5.0)
    with pytest.raises(httpcore2.ReadTimeout):
        await stream.read(10, timeout=0.01)
    assert stream.get_extra_info("is_readable") is False
    await stream.aclose()


async def test_a_connection_that_the_server_closed_is_seen_before_it_is_used() -> None:
    async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(4096)
        writer.write(ANSWER)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(once, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        async with httpx2.AsyncClient(transport=LeanTransport(limits=httpx2.Limits(max_connections=1))) as client:
            for _ in range(5):
                assert (await client.get(f"http://127.0.0.1:{port}/")).text == "hello"
