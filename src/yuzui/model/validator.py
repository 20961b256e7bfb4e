"""The message-list validator: runs before every provider call, so that one bad message cannot poison a session (decision 7).

`prepare` is a pure function of the list and the server's capabilities: it drops what is empty, completes pairs of call and
result, makes ids unique, makes arguments an object string, keeps private reasoning only where the server needs it, and turns
tool messages into plain text for a server without tool calls.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import replace

from yuzui.model.arguments import ArgumentsError, parse_strict
from yuzui.model.messages import AssistantMessage, Message, SystemMessage, ToolCall, ToolMessage, UserMessage
from yuzui.model.port import Capabilities

_NAME = re.compile(r"[^A-Za-z0-9_-]")
_RAW_SHOWN = 500


def prepare(messages: Sequence[Message], capabilities: Capabilities) -> tuple[Message, ...]:
    """The list as it may be sent. Never raises; the same list gives the same result, and preparing twice changes nothing."""
    systems: list[str] = []
    out: list[Message] = []
    loop_from = max((at for at, message in enumerate(messages) if message.role == "user"), default=0)
    number = 0
    at = 0
    while at < len(messages):
        message = messages[at]
        at += 1
        match message:
            case SystemMessage(text=text):
                if clean(text).strip():
                    systems.append(clean(text))
            case UserMessage(text=text):
                if clean(text).strip():
                    out.append(UserMessage(text=clean(text)))
            case AssistantMessage():
                results: list[ToolMessage] = []
                while at < len(messages) and isinstance(found := messages[at], ToolMessage):
                    results.append(found)
                    at += 1
                keep = capabilities.wants_reasoning_back and at > loop_from
                group = _group(message, results, number, keep_reasoning=keep)
                number += sum(isinstance(item, ToolMessage) for item in group)
                out.extend(group if capabilities.native_tools else _as_text(group))
            case ToolMessage():
                continue  # a result without its call: nothing may refer to it
    head: list[Message] = [SystemMessage(text="\n\n".join(systems))] if systems else []
    return (*head, *out)


def clean(text: str) -> str:
    """The text without NUL and unpaired surrogates, which no wire format or store can hold."""
    if text.isascii():
        return text.replace("\0", "")
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def _group(
    message: AssistantMessage, results: Sequence[ToolMessage], number: int, *, keep_reasoning: bool
) -> list[Message]:
    """One assistant message with the results of its calls, paired by id in order, under ids of our own."""
    left = list(results)
    calls: list[ToolCall] = []
    answers: list[Message] = []
    for call in message.tool_calls:
        result = next((item for item in left if item.call_id == call.id), None)
        if result is None:
            continue  # a call that nobody answered makes the provider refuse the list
        left.remove(result)
        number += 1
        name = _NAME.sub("_", call.name)[:64] or "unknown"
        arguments = _object_text(call)
        calls.append(ToolCall(id=f"call_{number}", name=name, arguments=arguments))
        answers.append(ToolMessage(call_id=f"call_{number}", name=name, text=clean(result.text).strip() or "(empty)"))
    text = clean(message.text).strip()
    if not text and not calls:
        return []
    reasoning = clean(message.reasoning) if keep_reasoning and message.reasoning else None
    return [replace(message, text=text, tool_calls=tuple(calls), reasoning=reasoning), *answers]


def _object_text(call: ToolCall) -> str:
    """The arguments as the text of one object. What cannot be read is kept as a quotation, so that its error still makes sense."""
    try:
        value = parse_strict(call.arguments)
    except ArgumentsError:
        value = {"_unreadable": clean(call.arguments)[:_RAW_SHOWN]}
    return json.dumps(value, ensure_ascii=False)


def _as_text(group: Sequence[Message]) -> list[Message]:
    """A call and its results for a server that knows no tool calls."""
    out: list[Message] = []
    for message in group:
        match message:
            case AssistantMessage(text=text, tool_calls=calls):
                actions = [f'{{"action":"tool","tool":{json.dumps(c.name)},"arguments":{c.arguments}}}' for c in calls]
                out.append(AssistantMessage(text="\n".join([text, *actions] if text else actions)))
            case ToolMessage(name=name, text=text):
                out.append(UserMessage(text=f"Result of {name}:\n{text}"))
            case _:
                out.append(message)
    return out
