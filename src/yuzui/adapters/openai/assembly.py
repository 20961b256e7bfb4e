"""Puts a reply together from the deltas of a stream, or from one whole message."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from yuzui.adapters.openai.errors import error_of
from yuzui.errors import ModelStreamCutError
from yuzui.model.arguments import ArgumentsError, parse_strict
from yuzui.model.json_values import is_items, is_mapping
from yuzui.model.messages import ToolCall
from yuzui.model.port import FinishReason
from yuzui.model.splitter import ReasoningSplitter

_FINISH: dict[str, FinishReason] = {
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "content_filter",
}


@dataclass(kw_only=True, slots=True)
class _Slot:
    """One tool call that is still coming in."""

    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list[str])


class Assembly:
    """The state of one reply. `add` takes payloads in order; `take` gives the public text that came since the last take."""

    def __init__(self) -> None:
        self.finish_reason: FinishReason | None = None
        self.model = ""
        self.tokens_in: int | None = None
        self.tokens_out: int | None = None
        self._pieces: list[str] = []
        self._splitter = ReasoningSplitter()
        self._reasoning: list[str] = []
        self._slots: list[_Slot] = []
        self._by_index: dict[int, _Slot] = {}

    def add(self, payload: bytes) -> bool:
        """Take one payload of the stream; True when it was the end mark. Raises a `ModelError` for an error payload."""
        if payload == b"[DONE]":
            return True
        try:
            chunk: Any = orjson.loads(payload)
        except orjson.JSONDecodeError:
            raise ModelStreamCutError("the model's stream holds something that is not JSON") from None
        if not is_mapping(chunk):
            raise ModelStreamCutError("the model's stream holds something that is not a chunk")
        if problem := chunk.get("error"):
            code = problem.get("code") if is_mapping(problem) else None
            raise error_of(code if isinstance(code, int) else 500, payload, {})
        self._usage(chunk)
        for choice in _objects(chunk.get("choices")):
            delta = choice.get("delta") or choice.get("message")
            if is_mapping(delta):
                self._delta(delta)
            reason = choice.get("finish_reason")
            if isinstance(reason, str) and reason:
                self.finish_reason = _FINISH.get(reason, "stop")
        return False

    def take(self) -> str:
        """Public text since the last take."""
        if not self._pieces:
            return ""
        text = "".join(self._pieces)
        self._pieces.clear()
        return self._splitter.feed(text)

    def close(self) -> str:
        """The last public text; call once, after the stream's end."""
        return self.take() + self._splitter.finish()

    @property
    def text(self) -> str:
        """The whole public text."""
        return self._splitter.text

    @property
    def reasoning(self) -> str | None:
        """Everything hidden: the provider's own field and what was split off."""
        parts = ["".join(self._reasoning).strip(), self._splitter.reasoning or ""]
        return "\n".join(part for part in parts if part) or None

    def calls(self) -> tuple[ToolCall, ...]:
        """The proposed calls under unique ids. After a stop at the token limit only arguments that parse are whole."""
        out: list[ToolCall] = []
        used: set[str] = set()
        for slot in self._slots:
            arguments = "".join(slot.arguments)
            if not slot.name and not arguments.strip():
                continue
            call_id = slot.id if slot.id and slot.id not in used else f"call_{len(out) + 1}_{len(used)}"
            used.add(call_id)
            cut = self.finish_reason == "length" and not _whole(arguments)
            out.append(ToolCall(id=call_id, name=slot.name, arguments=arguments, truncated=cut))
        return tuple(out)

    def _usage(self, chunk: Mapping[str, Any]) -> None:
        if not self.model and isinstance(chunk.get("model"), str):
            self.model = chunk["model"]
        usage = chunk.get("usage")
        if is_mapping(usage):
            read, written = usage.get("prompt_tokens"), usage.get("completion_tokens")
            self.tokens_in = read if isinstance(read, int) else self.tokens_in
            self.tokens_out = written if isinstance(written, int) else self.tokens_out

    def _delta(self, delta: Mapping[str, Any]) -> None:
        content = delta.get("content")
        if isinstance(content, str):
            if content:
                self._pieces.append(content)
        else:
            self._pieces.extend(part["text"] for part in _objects(content) if isinstance(part.get("text"), str))
        for name in ("reasoning_content", "reasoning", "thinking"):
            hidden = delta.get(name)
            if isinstance(hidden, str) and hidden:
                self._reasoning.append(hidden)
                break
        refusal = delta.get("refusal")
        if isinstance(refusal, str):
            self._pieces.append(refusal)
        for call in _objects(delta.get("tool_calls")):
            self._call(call)

    def _call(self, delta: Mapping[str, Any]) -> None:
        held = delta.get("function")
        function: Mapping[str, Any] = held if is_mapping(held) else {}
        name, call_id, index = str(function.get("name") or ""), str(delta.get("id") or ""), delta.get("index")
        slot = self._slot(index if isinstance(index, int) else None, call_id, name)
        slot.id = slot.id or call_id
        if name and slot.name != name:
            slot.name += name
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            slot.arguments.append(arguments)
        elif arguments is not None:
            slot.arguments.append(orjson.dumps(arguments).decode())

    def _slot(self, index: int | None, call_id: str, name: str) -> _Slot:
        """Where a delta belongs. Without an index: the same id, else a new call when it has an id or a name, else the last one."""
        if index is not None:
            slot = self._by_index.get(index)
            if slot is None or (call_id and slot.id and call_id != slot.id):
                slot = self._by_index[index] = self._new()
            return slot
        known = next((slot for slot in self._slots if call_id and slot.id == call_id), None)
        if known is not None:
            return known
        return self._new() if call_id or name or not self._slots else self._slots[-1]

    def _new(self) -> _Slot:
        slot = _Slot()
        self._slots.append(slot)
        return slot


def _objects(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a list; whatever else a server put there is passed over."""
    return [item for item in value if is_mapping(item)] if is_items(value) else []


def _whole(arguments: str) -> bool:
    try:
        return bool(arguments.strip()) and bool(parse_strict(arguments))
    except ArgumentsError:
        return False
