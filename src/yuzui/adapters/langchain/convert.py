"""Between the neutral messages and LangChain's. LangChain is imported inside: this module itself costs nothing."""

import json
from collections.abc import Sequence
from typing import Any

from yuzui.model.arguments import ArgumentsError, parse_strict
from yuzui.model.json_values import is_items, is_mapping
from yuzui.model.messages import AssistantMessage, Message, SystemMessage, ToolCall, ToolMessage, UserMessage
from yuzui.model.port import FinishReason, ModelReply, ModelRequest, ToolSpec, Usage
from yuzui.model.splitter import ReasoningSplitter
from yuzui.model.tokens import estimate_tokens

_FINISH: dict[str, FinishReason] = {
    "tool_calls": "tool_calls",
    "tool_use": "tool_calls",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "content_filter",
    "refusal": "content_filter",
    "safety": "content_filter",
}


def to_langchain(messages: Sequence[Message]) -> list[Any]:
    """Prepared messages as LangChain's."""
    from langchain_core import messages as lc

    out: list[Any] = []
    for message in messages:
        match message:
            case SystemMessage(text=text):
                out.append(lc.SystemMessage(text))
            case UserMessage(text=text):
                out.append(lc.HumanMessage(text))
            case ToolMessage(call_id=call_id, name=name, text=text):
                out.append(lc.ToolMessage(content=text, tool_call_id=call_id, name=name))
            case AssistantMessage(text=text, tool_calls=calls, reasoning=reasoning):
                held = [lc.ToolCall(name=call.name, args=parse_strict(call.arguments), id=call.id) for call in calls]
                private = {"reasoning_content": reasoning} if reasoning else {}
                out.append(lc.AIMessage(content=text, tool_calls=held, additional_kwargs=private))
    return out


def tool_schema(tool: ToolSpec) -> dict[str, Any]:
    """A tool in the form every `bind_tools` takes."""
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


class Collected:
    """Puts a reply together from message chunks."""

    def __init__(self) -> None:
        self.finish_reason: FinishReason | None = None
        self._splitter = ReasoningSplitter()
        self._hidden: list[str] = []
        self._sum: Any = None

    def add(self, chunk: Any) -> str:
        """Take one chunk; returns its public text."""
        self._sum = chunk if self._sum is None else self._sum + chunk
        said = chunk.response_metadata
        reason = said.get("finish_reason") or said.get("stop_reason") or said.get("done_reason")
        if isinstance(reason, str):
            self.finish_reason = _FINISH.get(reason.lower(), "stop")
        hidden = chunk.additional_kwargs.get("reasoning_content")
        if isinstance(hidden, str):
            self._hidden.append(hidden)
        return self._splitter.feed(self._text(chunk.content))

    def close(self) -> str:
        """The last public text."""
        return self._splitter.finish()

    def reply(self, request: ModelRequest, name: str) -> ModelReply:
        """The finished reply."""
        calls = self._calls()
        finish = self.finish_reason or "stop"
        hidden = [part for part in ("".join(self._hidden).strip(), self._splitter.reasoning or "") if part]
        return ModelReply(
            text=self._splitter.text,
            finish_reason="tool_calls" if calls and finish == "stop" else finish,
            model=name,
            tool_calls=calls,
            reasoning="\n".join(hidden) or None,
            usage=self._usage(request),
        )

    def _text(self, content: Any) -> str:
        """The text of a content of any shape; reasoning blocks are kept apart."""
        if isinstance(content, str):
            return content
        parts: list[str] = []
        for block in content if is_items(content) else ():
            if isinstance(block, str):
                parts.append(block)
            elif is_mapping(block):
                kind, text = block.get("type"), block.get("text")
                if kind in ("thinking", "reasoning"):
                    self._hidden.append(str(block.get("thinking") or block.get("reasoning") or text or ""))
                elif isinstance(text, str):
                    parts.append(text)
        return "".join(parts)

    def _calls(self) -> tuple[ToolCall, ...]:
        out: list[ToolCall] = []
        chunks: list[Any] = list(getattr(self._sum, "tool_call_chunks", None) or ())
        if not chunks:
            whole = getattr(self._sum, "tool_calls", None) or ()
            chunks = [{"id": c["id"], "name": c["name"], "args": json.dumps(c["args"])} for c in whole]
        for n, chunk in enumerate(chunks, start=1):
            arguments = chunk.get("args") or ""
            cut = self.finish_reason == "length" and not _whole(arguments)
            name = chunk.get("name") or ""
            out.append(ToolCall(id=f"{chunk.get('id') or 'call'}_{n}", name=name, arguments=arguments, truncated=cut))
        return tuple(out)

    def _usage(self, request: ModelRequest) -> Usage:
        counted = getattr(self._sum, "usage_metadata", None)
        if counted:
            return Usage(tokens_in=int(counted["input_tokens"]), tokens_out=int(counted["output_tokens"]))
        read = sum(estimate_tokens(message.text) + 4 for message in request.messages)
        written = self._splitter.text + "".join(call.arguments for call in self._calls())
        return Usage(tokens_in=read, tokens_out=estimate_tokens(written), estimated=True)


def _whole(arguments: str) -> bool:
    try:
        return bool(parse_strict(arguments))
    except ArgumentsError:
        return False
