"""Small readings of an ASGI request that the lean routes share: headers, query, answers."""

import re
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl

import orjson
from starlette.types import Scope, Send

from yuzui.entrypoints.http.problems import BadCursorError, BadHeaderError, Problem
from yuzui.errors import InvalidInputError

_KEY: Final = re.compile(rb"[\x21-\x7e]{1,255}")
_WAIT: Final = re.compile(r"(?:^|,|;)\s*wait\s*=\s*\"?(\d{1,9})\"?\s*(?=$|,|;)", re.IGNORECASE)
_CURSOR: Final = re.compile(r"[0-9]{1,40}")
_FAR: Final = 2**53
_JSON: Final = (b"content-type", b"application/json")
_COMMON: Final = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """What the client asks of a run's answer. `wait_s` is None without `Prefer: wait`; `key` is the Idempotency-Key."""

    stream: bool
    wait_s: float | None
    key: str | None
    last_event_id: str | None


def wanted(scope: Scope, max_wait_s: float) -> Wanted:
    """Read the headers. Raises `BadHeaderError` for an Idempotency-Key that is not 1–255 printable ASCII characters."""
    stream, wait, key, last = False, None, None, None
    for name, value in scope["headers"]:
        match name:
            case b"accept":
                stream = b"text/event-stream" in value.lower()
            case b"prefer":
                found = _WAIT.search(value.decode("latin-1"))
                wait = min(float(found[1]), max_wait_s) if found else wait
            case b"idempotency-key":
                if not _KEY.fullmatch(value):
                    raise BadHeaderError("Idempotency-Key: 1 to 255 printable ASCII characters.")
                key = value.decode("ascii")
            case b"last-event-id":
                last = value.decode("latin-1")
            case _:
                continue
    return Wanted(stream=stream, wait_s=wait, key=key, last_event_id=last)


def query(scope: Scope) -> dict[str, str]:
    """The query parameters; the last of a name counts."""
    raw: bytes = scope.get("query_string", b"")
    return dict(parse_qsl(raw.decode("latin-1"), keep_blank_values=True)) if raw else {}


def cursor(text: str | None) -> int:
    """A sequence number; None is the beginning. Raises `BadCursorError` for anything but digits."""
    if text is None:
        return 0
    if not _CURSOR.fullmatch(text):
        raise BadCursorError("'after' and 'Last-Event-ID' are sequence numbers, such as 12.")
    return min(int(text), _FAR)


def view(parameters: dict[str, str]) -> str:
    """`full` or `simple`. Raises `InvalidInputError`."""
    name = parameters.get("view", "full")
    if name not in ("full", "simple"):
        raise InvalidInputError("view is 'full' or 'simple'")
    return name


def route_path(scope: Scope) -> str:
    """The path below the point where the application is mounted."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    return path[len(root) :] if root and path.startswith(root) else path


async def answer(send: Send, status: int, content: Any, *headers: tuple[bytes, bytes]) -> None:
    """A JSON answer."""
    await answer_bytes(send, status, orjson.dumps(content), _JSON, *headers)


async def answer_problem(send: Send, problem: Problem, *headers: tuple[bytes, bytes]) -> None:
    """A problem as an answer."""
    own = [(name.encode(), value.encode()) for name, value in problem.headers().items() if name != "cache-control"]
    await answer_bytes(send, problem.status, problem.body(), *own, *headers)


async def answer_bytes(send: Send, status: int, body: bytes, *headers: tuple[bytes, bytes]) -> None:
    """An answer with its length and the headers that every answer has."""
    length = (b"content-length", b"%d" % len(body))
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length, *_COMMON]})
    await send({"type": "http.response.body", "body": body})
