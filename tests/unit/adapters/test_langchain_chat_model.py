"""Models of other providers through LangChain: the same port, private reasoning, a required finish reason (R-REACT-04)."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk
from typing_extensions import override

from yuzui.adapters.langchain.chat_model import LangChainModel
from yuzui.budget import Deadline
from yuzui.errors import (
    DeadlineExceededError,
    ModelOverflowError,
    ModelStreamCutError,
    ModelUnavailableError,
    SettingsError,
)
from yuzui.model.messages import AssistantMessage, ToolCall, ToolMessage, UserMessage
from yuzui.model.port import ModelRequest, ToolSpec

TOOL = ToolSpec(name="find", description="Find.", parameters={"type": "object", "properties": {}})
STOP = AIMessageChunk(content="", response_metadata={"stop_reason": "end_turn"})


class Chat:
    """What `init_chat_model` gives, as far as it is used."""

    def __init__(self, chunks: Sequence[AIMessageChunk | Exception]) -> None:
        self.chunks = chunks
        self.messages: list[Any] = []
        self.tools: list[Any] = []

    def bind_tools(self, tools: list[Any]) -> "Chat":
        self.tools = tools
        return self

    async def astream(self, messages: list[Any]) -> AsyncIterator[AIMessageChunk]:
        self.messages = messages
        for chunk in self.chunks:
            if isinstance(chunk, Exception):
                raise chunk
            yield chunk


def model_of(chat: Chat) -> LangChainModel:
    return LangChainModel("anthropic:some-model", make=lambda *_: chat)


def request(*messages: Any, tools: tuple[ToolSpec, ...] = ()) -> ModelRequest:
    held = messages or (UserMessage(text="问"),)
    return ModelRequest(messages=held, purpose="react", deadline=Deadline.after(5), tools=tools)


async def test_text_blocks_are_pushed_and_reasoning_stays_private() -> None:
    chat = Chat(
        [
            AIMessageChunk(content=[{"type": "thinking", "thinking": "秘密"}]),
            AIMessageChunk(content=[{"type": "text", "text": "你"}]),
            AIMessageChunk(content="好<think>更秘密</think>"),
            STOP,
        ]
    )
    pieces: list[str] = []
    reply = await model_of(chat).complete(request(), pieces.append)
    assert reply.text == "".join(pieces) == "你好"
    assert reply.reasoning == "秘密\n更秘密"
    assert (reply.model, reply.finish_reason, reply.usage.estimated) == ("some-model", "stop", True)


async def test_tool_calls_keep_their_raw_arguments() -> None:
    parts = [("find", '{"q":', "a"), (None, '"锁"}', None)]
    chunks = [
        AIMessageChunk(
            content="",
            tool_call_chunks=[{"name": name, "args": args, "id": call_id, "index": 0, "type": "tool_call_chunk"}],
        )
        for name, args, call_id in parts
    ]
    chat = Chat([*chunks, AIMessageChunk(content="", response_metadata={"finish_reason": "tool_calls"})])
    reply = await model_of(chat).complete(request(tools=(TOOL,)))
    (call,) = reply.tool_calls
    assert (call.name, call.arguments, reply.finish_reason) == ("find", '{"q":"锁"}', "tool_calls")
    assert chat.tools[0]["function"]["name"] == "find"


async def test_history_goes_out_paired() -> None:
    chat = Chat([AIMessageChunk(content="好"), STOP])
    asked = AssistantMessage(text="", tool_calls=(ToolCall(id="x", name="find", arguments='{"q":1}'),))
    await model_of(chat).complete(
        request(UserMessage(text="问"), asked, ToolMessage(call_id="x", name="find", text="果"))
    )
    sent = chat.messages[1]
    assert isinstance(sent, AIMessage)
    assert sent.tool_calls[0]["args"] == {"q": 1}
    assert chat.messages[2].tool_call_id == sent.tool_calls[0]["id"]


async def test_a_stream_without_a_finish_reason_is_never_an_answer() -> None:
    with pytest.raises(ModelStreamCutError):
        await model_of(Chat([AIMessageChunk(content="半句")])).complete(request())


class FakeStatusError(Exception):
    """An error of a provider's package."""

    def __init__(self, status_code: int, text: str) -> None:
        super().__init__(text)
        self.status_code = status_code


class FakeConnectError(Exception):
    """A network error of a provider's package."""


@pytest.mark.parametrize(
    ("raised", "error"),
    [
        (FakeStatusError(529, "overloaded"), ModelUnavailableError),
        (FakeStatusError(400, "prompt is too long"), ModelOverflowError),
        (FakeConnectError("refused"), ModelUnavailableError),
        (ConnectionResetError(), ModelUnavailableError),
        (TimeoutError(), ModelUnavailableError),
    ],
)
async def test_errors_of_a_providers_package_become_ours(raised: Exception, error: type[Exception]) -> None:
    with pytest.raises(error):
        await model_of(Chat([raised])).complete(request())


async def test_the_deadline_covers_the_whole_stream() -> None:
    class Hanging(Chat):
        @override
        async def astream(self, messages: list[Any]) -> AsyncIterator[AIMessageChunk]:
            await asyncio.Event().wait()
            yield STOP

    asked = ModelRequest(messages=(UserMessage(text="问"),), purpose="react", deadline=Deadline.after(0.1))
    with pytest.raises(DeadlineExceededError):
        await model_of(Hanging([])).complete(asked)


async def test_a_provider_that_is_not_installed_is_a_settings_error() -> None:
    with pytest.raises(SettingsError, match="YUZUI_MODEL"):
        await LangChainModel("no-such-provider:x").complete(request())
