"""A small client of a running server, for the commands that talk to one."""

import json
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Self, cast

import httpx2

from yuzui.errors import YuzuiError


class ServerError(YuzuiError):
    """The server refused the request."""

    code = "server_refused"


class ServerUnreachableError(YuzuiError):
    """The server cannot be reached."""

    code = "server_unreachable"


class Client:
    """Bearer token, JSON in and out; a problem becomes `ServerError` with its detail."""

    def __init__(self, url: str, token: str, language: str = "") -> None:
        headers = {"Authorization": f"Bearer {token}"} | ({"Accept-Language": language} if language else {})
        self._url = url.rstrip("/")
        self._http = httpx2.Client(base_url=self._url, headers=headers, timeout=httpx2.Timeout(40.0), trust_env=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def json(self, method: str, path: str, body: Any = None) -> Any:
        """One request and its JSON."""
        with self._reached():
            response = self._http.request(method, path, json=body)
        self._accepted(response)
        return response.json() if response.content else None

    def events(self, method: str, path: str, body: Any = None) -> Iterator[dict[str, Any]]:
        """The events of a stream, each as its JSON object, until the server ends it."""
        headers = {"Accept": "text/event-stream"}
        timeout = httpx2.Timeout(10.0, read=60.0)
        with self._reached(), self._http.stream(method, path, json=body, headers=headers, timeout=timeout) as response:
            if response.status_code >= 400:
                response.read()
                self._accepted(response)
            for line in _lines(response.iter_bytes()):
                if line.startswith(b"data: "):
                    yield json.loads(line[6:])

    @contextmanager
    def _reached(self) -> Generator[None]:
        try:
            yield
        except httpx2.TransportError as error:
            raise ServerUnreachableError(
                f"No server answers at {self._url} ({error}). Start one with 'yuzui serve', or name it with --url."
            ) from error

    def _accepted(self, response: httpx2.Response) -> None:
        if response.status_code < 400:
            return
        problem: Any = None
        with suppress(ValueError):
            problem = response.json()
        detail = cast("dict[str, Any]", problem).get("detail") if isinstance(problem, dict) else None
        raise ServerError(f"{detail or response.reason_phrase} (HTTP {response.status_code})")


def _lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Lines that end at LF only: text may hold other line ends."""
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines
