"""The simple view for plain front ends: `start → step* → message → done`, or `error` (R-EVT-02). Ids are those of the log."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import orjson

from yuzui.entrypoints.sse import frame
from yuzui.owner import Locale
from yuzui.runs.events import StoredEvent

SimpleType: TypeAlias = Literal["start", "step", "message", "done", "error"]

_TEXT: Final[Mapping[Locale, Mapping[str, str]]] = {
    "zh": {
        "understood": "理解请求",
        "restarted": "重新开始",
        "confirm": "等待确认",
        "cancelled": "已取消。",
    },
    "en": {
        "understood": "Understanding the request",
        "restarted": "Starting again",
        "confirm": "Waiting for confirmation",
        "cancelled": "Cancelled.",
    },
}


@dataclass(frozen=True, kw_only=True, slots=True)
class SimpleEvent:
    """One event of the simple view; `data` is flat."""

    seq: int
    type: SimpleType
    data: dict[str, Any]

    def json_text(self) -> bytes:
        """`{"type", "seq", …data}` as JSON text."""
        return orjson.dumps({"type": self.type, "seq": self.seq, **self.data})


class SimpleView:
    """The projection for one viewer. `labels` maps tool names to what the viewer reads. Stateless but for the words used."""

    def __init__(self, locale: Locale, labels: Mapping[str, str]) -> None:
        self._text = _TEXT[locale]
        self._labels = labels

    def project(self, event: StoredEvent) -> SimpleEvent | None:
        """The simple event, or None for one that a plain front end does not need."""
        found = self._translate(event.type, event)
        return None if found is None else SimpleEvent(seq=event.seq, type=found[0], data=found[1])

    def frame(self, event: StoredEvent) -> bytes:
        """The server-sent event, or nothing."""
        simple = self.project(event)
        return b"" if simple is None else frame(simple.seq, simple.type, simple.json_text())

    def _translate(self, kind: str, event: StoredEvent) -> tuple[SimpleType, dict[str, Any]] | None:
        match kind:
            case "run.created":
                return "start", {"run_id": event.run_id}
            case "run.restarted":
                return "step", {"label": self._text["restarted"], "state": "running"}
            case "route.decided":
                return "step", {"label": self._text["understood"], "state": "done"}
            case "tool.started":
                return "step", {"label": self._label(event), "state": "running"}
            case "tool.finished":
                ok = _data(event).get("outcome") in ("ok", "repeat")
                return "step", {"label": self._label(event), "state": "done" if ok else "failed"}
            case "confirmation.required":
                waiting = {"label": self._text["confirm"], "state": "waiting"}
                return "step", waiting | {"action_id": _data(event).get("action_id")}
            case "message.completed":
                data = _data(event)
                return "message", {key: data.get(key) for key in ("text", "html", "cards", "citations", "source")}
            case "run.completed":
                return "done", {"outcome": _data(event).get("outcome")}
            case "run.failed":
                data = _data(event)
                return "error", {"code": data.get("code"), "detail": data.get("detail")}
            case "run.cancelled":
                return "error", {"code": "cancelled", "detail": self._text["cancelled"]}
            case _:
                return None

    def _label(self, event: StoredEvent) -> str:
        tool = str(_data(event).get("tool", ""))
        return self._labels.get(tool, tool.replace("_", " "))


def _data(event: StoredEvent) -> dict[str, Any]:
    value: dict[str, Any] = orjson.loads(event.data)
    return value
