"""A tool's result as JSON and as text for a model."""

import dataclasses
import json
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import Any, Final
from uuid import UUID

import orjson
from pydantic import BaseModel

from yuzui.model.json_values import is_items, is_mapping, is_set

LINE_SEPARATORS = {0x2028: "\n", 0x2029: "\n", 0x85: "\n", 0: ""}


MAX_DEPTH: Final = 100
MAX_INT_BITS: Final = 1024
MAX_DECIMAL_DIGITS: Final = 300
CUT: Final = "…"


def as_json(value: Any) -> Any:
    """The value in JSON types; NUL and Unicode line separators in strings are replaced, so every store and stream can hold it.

    Whatever a tool gives has such a form: a value inside itself or deeper than `MAX_DEPTH` is cut, an integer of more than
    `MAX_INT_BITS` is its hexadecimal text. Raises only what the value's own methods raise.
    """
    return _ready(value, frozenset())


def _ready(value: Any, above: frozenset[int]) -> Any:
    match value:
        case int() if value.bit_length() > MAX_INT_BITS:
            return hex(value)
        case None | bool() | int() | float():
            return value
        case str():
            return value.translate(LINE_SEPARATORS)
        case datetime() | date() | time():
            return value.isoformat()
        case Decimal():
            return _decimal(value)
        case UUID():
            return str(value)
        case _:
            return CUT if id(value) in above or len(above) >= MAX_DEPTH else _parts(value, above | {id(value)})


def _parts(value: Any, above: frozenset[int]) -> Any:
    match value:
        case Enum():
            return _ready(value.value, above)
        case BaseModel():
            return {
                name: _ready(getattr(value, name), above)
                for name in (*type(value).model_fields, *(value.model_extra or ()))
            }
        case _ if is_mapping(value):
            return {_ready(str(key), above): _ready(item, above) for key, item in value.items()}
        case _ if is_items(value) or is_set(value):
            return [_ready(item, above) for item in value]
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {f.name: _ready(getattr(value, f.name), above) for f in dataclasses.fields(value)}
        case _:
            return str(value).translate(LINE_SEPARATORS)


def _decimal(value: Decimal) -> int | float:
    if not value.is_finite():
        return float(value)
    whole = value == value.to_integral_value() and abs(value.adjusted()) < MAX_DECIMAL_DIGITS
    return int(value) if whole else float(value)


def as_text(value: Any) -> str:
    """The value as compact text: strings as they are, everything else as JSON."""
    return json_text(as_json(value))


def json_text(ready: Any) -> str:
    """A JSON-ready value as text; integers of any size and non-finite numbers as the standard library writes them."""
    if isinstance(ready, str):
        return ready
    try:
        return orjson.dumps(ready).decode()
    except TypeError:
        return json.dumps(ready, ensure_ascii=False)
