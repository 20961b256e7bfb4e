"""RFC 9457 problems: every error of the HTTP interface, in one shape, without a stack trace."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

import orjson
from starlette.responses import Response

from yuzui.errors import InvalidInputError, YuzuiError

CONTENT_TYPE: Final = "application/problem+json"
_CODES: Final[Mapping[int, str]] = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    406: "not_acceptable",
    409: "conflict",
    413: "body_too_large",
    415: "unsupported_media_type",
    422: "invalid_request",
    429: "too_many_requests",
    503: "unavailable",
}
_RETRY_AFTER_S: Final = 1.0


class BodyTooLargeError(YuzuiError):
    """The request body is too large."""

    code = "body_too_large"
    status = 413


class UnsupportedMediaTypeError(YuzuiError):
    """The request body is not JSON."""

    code = "unsupported_media_type"
    status = 415


class BadCursorError(YuzuiError):
    """The cursor is not one that this server gave."""

    code = "bad_cursor"
    status = 400


class BadHeaderError(YuzuiError):
    """A request header is not valid."""

    code = "bad_header"
    status = 400


@dataclass(frozen=True, kw_only=True, slots=True)
class FieldError:
    """What is wrong with one field; `field` is its path with dots."""

    field: str
    message: str


class InvalidBodyError(InvalidInputError):
    """The request body is not valid."""

    def __init__(self, errors: tuple[FieldError, ...]) -> None:
        self.errors = errors
        first = errors[0]
        super().__init__(f"{first.field or 'body'}: {first.message}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """One problem. `retry_after` is in seconds; `code` is stable, `detail` is for people."""

    status: int
    code: str
    title: str
    detail: str
    retry_after: float | None = None
    errors: tuple[FieldError, ...] = ()

    def body(self) -> bytes:
        """The JSON text."""
        content: dict[str, Any] = {
            "type": f"urn:yuzui:problem:{self.code}",
            "title": self.title,
            "status": self.status,
            "code": self.code,
            "detail": self.detail,
        }
        if self.retry_after is not None:
            content["retry_after"] = self.retry_after
        if self.errors:
            content["errors"] = [{"field": item.field, "message": item.message} for item in self.errors]
        return orjson.dumps(content)

    def headers(self) -> dict[str, str]:
        """Headers that go with it."""
        headers = {"content-type": CONTENT_TYPE, "cache-control": "no-store"}
        if self.retry_after is not None:
            headers["retry-after"] = str(max(1, round(self.retry_after)))
        if self.status == HTTPStatus.UNAUTHORIZED:
            headers["www-authenticate"] = 'Bearer realm="yuzui"'
        return headers


def from_error(error: YuzuiError) -> Problem:
    """The problem of a platform error. A retryable one says when to come back."""
    retry_after = error.retry_after
    if retry_after is None and error.retryable and error.status in (429, 503):
        retry_after = _RETRY_AFTER_S
    detail = error.detail if error.status < 500 or error.code != "internal" else error.title
    return Problem(
        status=error.status,
        code=error.code,
        title=_plain(error.title),
        detail=detail,
        retry_after=retry_after,
        errors=error.errors if isinstance(error, InvalidBodyError) else (),
    )


def from_status(status: int, detail: str | None = None) -> Problem:
    """The problem of a bare HTTP status."""
    phrase = HTTPStatus(status).phrase
    return Problem(
        status=status, code=_CODES.get(status, f"http_{status}"), title=phrase, detail=detail or f"{phrase}."
    )


def from_validation(errors: Sequence[Mapping[str, Any]]) -> Problem:
    """422 with one entry a field; pydantic's messages, without the input they were about."""
    items = tuple(
        FieldError(
            field=".".join(str(part) for part in _path(error.get("loc", ()))), message=str(error.get("msg", "invalid"))
        )
        for error in errors[:50]
    )
    first = f"{items[0].field or 'body'}: {items[0].message}" if items else "The request is not valid."
    return Problem(status=422, code="invalid_request", title="The request is not valid", detail=first, errors=items)


INTERNAL: Final = Problem(
    status=500,
    code="internal",
    title="Something went wrong",
    detail="The server could not do this. The fault was logged; nothing about it is in this answer.",
)


def response(problem: Problem) -> Response:
    """The problem as a response."""
    return Response(problem.body(), status_code=problem.status, headers=problem.headers())


def _path(loc: Sequence[Any]) -> Sequence[Any]:
    return loc[1:] if len(loc) > 1 and loc[0] in ("body", "query", "path", "header") else loc


def _plain(title: str) -> str:
    return title.removesuffix(".")
