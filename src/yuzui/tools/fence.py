"""Fences: what counts as the same call, and what a repeat may do (R-FENCE-02, R-FENCE-03, R-FENCE-08)."""

import hashlib
import json
import math
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import Any, cast
from uuid import UUID

from pydantic import BaseModel

from yuzui.model.json_values import is_items, is_mapping, is_set
from yuzui.tools.observation import Observation
from yuzui.tools.tool import Tool


def canonical(value: Any) -> Any:
    """The form in which two equal values are the same: NFKC and folded white space, 80 = 80.0, sorted keys, list order kept."""
    if type(value) is dict:  # the common shape first: asking for abstract types costs more than sorting
        return _sorted(cast("dict[str, Any]", value))
    match value:
        case Enum():
            return canonical(value.value)
        case bool() | int() | None:
            return value
        case str():
            return " ".join(unicodedata.normalize("NFKC", value).split())
        case float() | Decimal():
            number = float(value)
            return int(number) if math.isfinite(number) and number.is_integer() and abs(number) < 1e15 else str(value)
        case datetime() | date() | time():
            return value.isoformat()
        case BaseModel():
            return canonical(value.model_dump())
        case _ if is_mapping(value):
            return _sorted(value)
        case _ if is_items(value):
            return [canonical(item) for item in value]
        case _ if is_set(value):
            return sorted((canonical(item) for item in value), key=str)
        case UUID():
            return str(value)
        case _:
            return repr(value)


def _sorted(value: Mapping[str, Any]) -> dict[str, Any]:
    return {str(key): canonical(value[key]) for key in sorted(value, key=str)}


def canonical_json(value: Any) -> str:
    """Canonical JSON text of a value."""
    return json.dumps(canonical(value), ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def fingerprint(tool: Tool, arguments: BaseModel) -> str:
    """What makes a call of a tool the same call: its own key when it declares one, else all validated arguments with defaults."""
    subject: Any = tool.key(arguments) if tool.key else arguments
    return f"{tool.name}:{canonical_json(subject)}"


def tool_call_key(*, run_id: str, step: str, tool: Tool, arguments: BaseModel) -> str:
    """The stable key of a call: hash(run, logical step, tool, canonical arguments) (R-IDEM-01)."""
    return step_key(run_id=run_id, step=step, call=fingerprint(tool, arguments))


def step_key(*, run_id: str, step: str, call: str) -> str:
    """`tool_call_key` of a call whose `fingerprint` is known."""
    text = "\x1f".join((run_id, step, call))
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(kw_only=True, slots=True)
class Fence:
    """What one run has already called. A repeat reuses the observation; after a transient failure a call may be tried
    again `transient_retries` times. `forget` is called when a confirmed write changed the state in between.
    """

    transient_retries: int = 1
    _seen: dict[str, Observation] = field(default_factory=dict[str, Observation])
    _tries: dict[str, int] = field(default_factory=dict[str, int])

    def earlier(self, key: str) -> Observation | None:
        """The observation to reuse when this call would be a repeat, else None."""
        seen = self._seen.get(key)
        if seen is None:
            return None
        if seen.transient and self._tries.get(key, 0) <= self.transient_retries:
            return None
        return seen

    def remember(self, key: str, observation: Observation) -> None:
        """Record a call that was made."""
        self._seen[key] = observation
        self._tries[key] = self._tries.get(key, 0) + 1

    def forget(self) -> None:
        """The state changed: the same read is no repeat any more."""
        self._seen.clear()
        self._tries.clear()
