"""A tool's result as JSON and as text for a model."""

import dataclasses
import json
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

import orjson
from pydantic import BaseModel

from yuzui.model.json_values import is_items, is_mapping, is_set

LINE_SEPARATORS = {0x2028: "\n", 0x2029: "\n", 0x85: "\n", 0: ""}


def as_json(value: Any) -> Any:
    """The value in JSON types; NUL and Unicode line separators in strings are replaced, so every store and stream can hold it."""
    match value:
        case None | bool() | int() | float():
            return value
        case str():
            return value.translate(LINE_SEPARATORS)
        case Enum():
            return as_json(value.value)
        case BaseModel():
            return as_json(value.model_dump())
        case _ if is_mapping(value):
            return {as_json(str(key)): as_json(item) for key, item in value.items()}
        case _ if is_items(value) or is_set(value):
            return [as_json(item) for item in value]
        case datetime() | date() | time():
            return value.isoformat()
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case UUID():
            return str(value)
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {f.name: as_json(getattr(value, f.name)) for f in dataclasses.fields(value)}
        case _:
            return str(value)


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
