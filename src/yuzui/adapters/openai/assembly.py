"""Puts a reply together from the deltas of a stream, or from one whole message."""

from dataclasses import dataclass, field
from typing import Any

import orjson

from yuzui.adapters.openai.errors import error_of
from yuzui.errors import ModelStreamCutError
from yuzui.model.arguments import ArgumentsError, parse_strict
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
            chunk = orjson.loads(payload)
        except orjson.JSONDecodeError:
            raise ModelStreamCutError("the model's stream holds something that is not JSON") from None
        if not isinstance(chunk, dict):
            raise ModelStreamCutError("the model's stream holds something that is not a chunk")
        if chunk.get("error"):
            code = chunk["error"].get("code") if isinstance(chunk["error"], dict) else None
            raise error_of(code if isinstance(code, int) else 500, payload, {})
        self._usage(chunk)
        for choice in chunk.get("choices") or ():
            self._delta(choice.get("delta") or choice.get("message") or {})
            reason = choice.get("finish_reason")
            if reason:
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

    def _usage(self, chunk: dict[str, Any]) -> None:
        if not self.model and isinstance(chunk.get("model"), str):
            self.model = chunk["model"]
        usage = chunk.get("usage")
        if isinstance(usage, dict):
            read, written = usage.get("prompt_tokens"), usage.get("completion_tokens")
            self.tokens_in = read if isinstance(read, int) else self.tokens_in
            self.tokens_out = written if isinstance(written, int) else self.tokens_out

    def _delta(self, delta: dict[str, Any]) -> None:
        content = delta.get("content")
        if isinstance(content, str):
            if content:
                self._pieces.append(content)
        elif content:
            self._parts(content)
        for name in ("reasoning_content", "reasoning", "thinking"):
            hidden = delta.get(name)
            if isinstance(hidden, str) and hidden:
                self._reasoning.append(hidden)
                break
        refusal = delta.get("refusal")
        if isinstance(refusal, str):
            self._pieces.append(refusal)
        for call in delta.get("tool_calls") or ():
            self._call(call)

    def _parts(self, parts: list[Any]) -> None:
        for part in parts:
            if isinstance(part, dict) and isinstance(part.get("text"), str):
                self._pieces.append(part["text"])

    def _call(self, delta: dict[str, Any]) -> None:
        function = delta.get("function") or {}
        name, call_id, index = function.get("name") or "", delta.get("id") or "", delta.get("index")
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


def _whole(arguments: str) -> bool:
    try:
        return bool(arguments.strip()) and bool(parse_strict(arguments))
    except ArgumentsError:
        return False
