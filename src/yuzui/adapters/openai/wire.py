"""A `ModelRequest` as the body of POST /chat/completions."""

from typing import Any

import orjson

from yuzui.model.messages import AssistantMessage, Message, SystemMessage, ToolMessage, UserMessage
from yuzui.model.port import Capabilities, ModelRequest, ToolSpec
from yuzui.model.validator import prepare


def encode_request(request: ModelRequest, *, model: str, capabilities: Capabilities, usage: bool) -> bytes:
    """The JSON body. The message list is validated first (decision 7); options the server lacks are left out."""
    body: dict[str, Any] = {
        "model": model,
        "messages": [encode_message(message) for message in prepare(request.messages, capabilities)],
        "stream": True,
    }
    if usage:
        body["stream_options"] = {"include_usage": True}
    if request.tools and capabilities.native_tools:
        body["tools"] = [encode_tool(tool) for tool in request.tools]
    if request.max_tokens is not None:
        body["max_tokens"] = request.max_tokens
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.json_object and capabilities.json_mode:
        body["response_format"] = {"type": "json_object"}
    return orjson.dumps(body)


def encode_tool(tool: ToolSpec) -> dict[str, Any]:
    """A tool as the server reads it."""
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def encode_message(message: Message) -> dict[str, Any]:
    """One message. `content` is always a text, since some servers refuse their own null."""
    match message:
        case SystemMessage(text=text):
            return {"role": "system", "content": text}
        case UserMessage(text=text):
            return {"role": "user", "content": text}
        case ToolMessage(call_id=call_id, text=text):
            return {"role": "tool", "tool_call_id": call_id, "content": text}
        case AssistantMessage(text=text, tool_calls=calls, reasoning=reasoning):
            encoded: dict[str, Any] = {"role": "assistant", "content": text}
            if calls:
                encoded["tool_calls"] = [
                    {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                    for call in calls
                ]
            if reasoning:
                encoded["reasoning_content"] = reasoning
            return encoded
