"""Request bodies, strictly: bounded in size, valid UTF-8, one JSON value without duplicate keys, NaN or deep nesting (decision 2)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NoReturn, cast
from urllib.parse import unquote_to_bytes

from starlette.types import Receive, Scope

from yuzui.entrypoints.http.problems import BodyTooLargeError, UnsupportedMediaTypeError
from yuzui.errors import BadEncodingError, BadJsonError

_OPENERS: Final = ("[", "{")


class ClientGoneError(Exception):
    """The client left while it was sending; there is nobody to answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BodyLimits:
    """`max_bytes` of a body, `max_depth` of its nesting."""

    max_bytes: int = 1_048_576
    max_depth: int = 32


async def read_body(scope: Scope, receive: Receive, max_bytes: int) -> bytes:
    """The whole body. Raises `BodyTooLargeError` as soon as it is known to be too large, `ClientGoneError` when nobody is there."""
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit() and int(value) > max_bytes:
            raise BodyTooLargeError(f"The body has {int(value)} bytes; {max_bytes} are allowed.")
    message = await receive()
    if message["type"] == "http.disconnect":
        raise ClientGoneError
    body: bytes = message.get("body", b"")
    if not message.get("more_body", False):
        return _bounded(body, max_bytes)
    parts = [_bounded(body, max_bytes)]
    size = len(body)
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGoneError
        part: bytes = message.get("body", b"")
        size += len(part)
        if size > max_bytes:
            raise BodyTooLargeError(f"The body has more than the {max_bytes} bytes that are allowed.")
        parts.append(part)
        more = message.get("more_body", False)
    return b"".join(parts)


def _bounded(body: bytes, max_bytes: int) -> bytes:
    if len(body) > max_bytes:
        raise BodyTooLargeError(f"The body has more than the {max_bytes} bytes that are allowed.")
    return body


def parse_json(body: bytes, max_depth: int = 32) -> Any:
    """One JSON value. Raises `BadEncodingError` (bytes that are not UTF-8, NUL, lone surrogates) or `BadJsonError`."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadEncodingError(f"The body is not UTF-8 (byte {error.start}).") from error
    if text.count("[") + text.count("{") > max_depth:
        _check_depth(text, max_depth)
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        if "\x00" in text:
            raise BadEncodingError("The body holds a NUL character.") from error
        raise BadJsonError(
            f"The body is not valid JSON: {error.msg} (line {error.lineno}, column {error.colno})."
        ) from error
    except RecursionError as error:
        raise BadJsonError("The body is nested too deeply.") from error
    except BadJsonError:
        raise
    except ValueError as error:  # an integer of thousands of digits
        raise BadJsonError("The body holds a number that is too long.") from error
    if "\\u" in text:
        _check_text(value)
    return value


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise BadJsonError(f"The key {key[:80]!r} stands twice in one object.")
            seen.add(key)
    return result


def _no_constant(name: str) -> NoReturn:
    raise BadJsonError(f"{name} is not JSON.")


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise BadJsonError("The body holds a number that is too large.")
    return value


def _check_depth(text: str, max_depth: int) -> None:
    depth, inside, escaped = 0, False, False
    for char in text:
        if inside:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                inside = False
        elif char == '"':
            inside = True
        elif char in _OPENERS:
            depth += 1
            if depth > max_depth:
                raise BadJsonError(f"The body is nested deeper than {max_depth} levels.")
        elif char in ("]", "}"):
            depth -= 1


def _check_text(value: Any) -> None:
    match value:
        case str():
            if "\x00" in value:
                raise BadEncodingError("The body holds a NUL character.")
            try:
                value.encode("utf-8")
            except UnicodeEncodeError as error:
                raise BadEncodingError("The body holds half of a surrogate pair.") from error
        case dict():
            for key, item in cast("dict[str, Any]", value).items():
                _check_text(key)
                _check_text(item)
        case list():
            for item in cast("Sequence[Any]", value):
                _check_text(item)
        case _:
            return


def check_target(scope: Scope) -> None:
    """Refuse a path or query that is not UTF-8 text without NUL. Raises `BadEncodingError`."""
    path: str = scope["path"]
    if "\x00" in path or "\ufffd" in path:
        raise BadEncodingError("The path is not UTF-8 text without NUL.")
    query: bytes = scope.get("query_string", b"")
    if b"%" in query:
        try:
            text = unquote_to_bytes(query).decode("utf-8")
        except UnicodeDecodeError as error:
            raise BadEncodingError("The query is not UTF-8.") from error
        if "\x00" in text:
            raise BadEncodingError("The query holds a NUL character.")


def check_media_type(scope: Scope) -> None:
    """A body is JSON; one that says nothing about itself is taken for it. Raises `UnsupportedMediaTypeError`."""
    for name, value in scope["headers"]:
        if name == b"content-type":
            media = value.split(b";", 1)[0].strip().lower()
            if media in (b"", b"application/json") or (media.startswith(b"application/") and media.endswith(b"+json")):
                return
            raise UnsupportedMediaTypeError("Send the body as 'Content-Type: application/json'.")
    scope["headers"] = [*scope["headers"], (b"content-type", b"application/json")]
