"""JSON text of events and records: one line, no NUL, no character that a reader of lines could split at."""

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from typing import Any, Final, cast

import orjson

_SPLITTERS: Final = tuple(
    (char.encode(), escape)
    for char, escape in (
        ("\u2028", b"\\u2028"),
        ("\u2029", b"\\u2029"),
        ("\u0085", b"\\u0085"),
    )
)
_OPTIONS: Final = orjson.OPT_NON_STR_KEYS


def payload(value: object) -> bytes:
    """UTF-8 JSON of a dataclass or of plain data. Lone surrogates become `?`; NUL is dropped (PostgreSQL has no text with it);
    a value JSON does not know is shown as its `str`.
    """
    try:
        text = orjson.dumps(value, default=str, option=_OPTIONS)
    except TypeError:  # orjson's JSONEncodeError is one: a lone surrogate, an integer beyond 64 bits
        text = orjson.dumps(_clean(value), default=str, option=_OPTIONS)
    if b"\\u0000" in text:
        text = orjson.dumps(_clean(orjson.loads(text)))
    for raw, escaped in _SPLITTERS:
        if raw in text:
            text = text.replace(raw, escaped)
    return text


def stamp(at: datetime | None = None) -> str:
    """RFC 3339 in UTC with microseconds and a Z, as the log's SQL writes it; now when no time is given."""
    moment = datetime.now(UTC) if at is None else at.astimezone(UTC)
    return moment.isoformat(timespec="microseconds")[:-6] + "Z"


def clean_text(text: str) -> str:
    """Text that UTF-8 and PostgreSQL can hold."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "")


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**64 else str(value)
    if isinstance(value, Mapping):
        pairs = cast("Mapping[object, object]", value)
        return {clean_text(str(key)): _clean(item) for key, item in pairs.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_clean(item) for item in cast("Iterable[object]", value)]
    if is_dataclass(value):
        return {field.name: _clean(getattr(value, field.name)) for field in fields(value)}
    return clean_text(str(value))
