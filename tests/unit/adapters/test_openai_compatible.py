"""The lean client against a real socket: framing, deadlines, tool-call deltas, refusals, retries (R-REACT-04)."""

import asyncio
import email.utils
import time
from typing import Any

import pytest
from tests.unit.adapters.openai_server import USAGE, Exchange, Reply, Server, delta, refuses, says, serving

from yuzui.adapters.openai.errors import retry_after
from yuzui.adapters.openai.sse import SseParser
from yuzui.adapters.openai_compatible import OpenAICompatibleModel, Price
from yuzui.budget import Deadline
from yuzui.errors import (
    DeadlineExceededError,
    ModelError,
    ModelOverflowError,
    ModelRefusedError,
    ModelStreamCutError,
    ModelUnavailableError,
)
from yuzui.model.fallback import FallbackModel
from yuzui.model.messages import AssistantMessage, SystemMessage, ToolCall, ToolMessage, UserMessage
from yuzui.model.port import Capabilities, ModelReply, ModelRequest, ToolSpec, ToolsUnsupportedError
from yuzui.model.retrying import RetryingModel

TOOL = ToolSpec(name="find", description="Find.", parameters={"type": "object", "properties": {}})
DONE = "[DONE]"


def request(*, seconds: float = 5, tools: tuple[ToolSpec, ...] = ()) -> ModelRequest:
    return ModelRequest(
        messages=(SystemMessage(text="规则"), UserMessage(text="问题")),
        purpose="react",
        deadline=Deadline.after(seconds),
        tools=tools,
        max_tokens=50,
    )


async def ask(server: Server, asked: ModelRequest | None = None, **options: Any) -> tuple[ModelReply, list[str]]:
    pieces: list[str] = []
    model = OpenAICompatibleModel("m", base_url=server.url, **options)
    try:
        return await model.complete(asked or request(), pieces.append), pieces
    finally:
        await model.aclose()


async def test_text_is_pushed_as_it_arrives_and_usage_is_the_providers() -> None:
    async with serving(says(delta("你"), delta("好"), delta("", "stop"), USAGE, DONE)) as server:
        reply, pieces = await ask(server, api_key="k-1", price=Price(tokens_in=1_000_000, tokens_out=2_000_000))
    assert (reply.text, reply.finish_reason, reply.model) == ("你好", "stop", "m-1")
    assert pieces == ["你好"]  # all that one network read brought, in one call
    assert (reply.usage.tokens_in, reply.usage.tokens_out, reply.usage.estimated) == (11, 7, False)
    assert reply.usage.cost == 25
    body, headers = server.exchanges[0].body, server.exchanges[0].headers
    assert body["stream_options"] == {"include_usage": True}
    assert body["max_tokens"] == 50
    assert "tools" not in body
    assert headers["authorization"] == "bearer k-1"


async def test_text_in_several_writes_is_pushed_in_several_pieces_even_when_a_character_is_cut() -> None:
    raw = 'data: {"choices":[{"delta":{"content":"锁"}}]}\n\n'.encode()

    async def reply(exchange: Exchange) -> None:
        await exchange.head(content_type="text/event-stream")
        at = raw.index("锁".encode()) + 1
        for part in (b": ping\r\n\r\n", raw[:at], raw[at:], raw.replace(b"\n", b"\r\n")):
            exchange.writer.write(part)
            await exchange.writer.drain()
            await asyncio.sleep(0.02)
        await exchange.events(delta("", "stop"))

    async with serving(reply) as server:
        got, pieces = await ask(server)
    assert got.text == "锁锁"
    assert pieces == ["锁", "锁"]
    assert got.usage.estimated
    assert got.usage.tokens_in > 0


def test_the_parser_takes_reads_of_any_size() -> None:
    raw = b'event: x\ndata: {"a":\ndata: 1}\n\n:c\n\ndata:2\r\n\r\ndata: 3'
    for size in range(1, len(raw)):
        parser, out = SseParser(), list[bytes]()
        for at in range(0, len(raw), size):
            out += parser.feed(raw[at : at + size])
        assert out + parser.finish() == [b'{"a":\n1}', b"2", b"3"]


@pytest.mark.parametrize(
    "chunks",
    [
        (delta("半句"),),
        (delta("半句"), DONE),
        (delta("半句"), "not json"),
        (delta("半句"), {"error": {"message": "boom"}}),
    ],
)
async def test_a_stream_without_a_finish_reason_is_never_an_answer(chunks: tuple[Any, ...]) -> None:
    async with serving(says(*chunks)) as server:
        with pytest.raises((ModelStreamCutError, ModelUnavailableError)):
            await ask(server)


async def test_a_server_that_drips_is_cut_at_the_deadline_and_its_connection_closed() -> None:
    async def drip(exchange: Exchange) -> None:
        await exchange.head(content_type="text/event-stream")
        while True:
            await exchange.events(delta("滴"))
            await asyncio.sleep(0.02)

    async with serving(drip) as server:
        pieces: list[str] = []
        model = OpenAICompatibleModel("m", base_url=server.url)
        began = time.monotonic()
        with pytest.raises(DeadlineExceededError):
            await model.complete(request(seconds=0.3), pieces.append)
        assert 0.25 < time.monotonic() - began < 1.0
        assert len(pieces) > 3
        await asyncio.wait_for(server.gone.wait(), 5)
        await model.aclose()


@pytest.mark.parametrize("head_first", [True, False])
async def test_the_deadline_covers_the_first_token(head_first: bool) -> None:
    async def hang(exchange: Exchange) -> None:
        if head_first:
            await exchange.head(content_type="text/event-stream")
        await asyncio.sleep(3)

    async with serving(hang) as server:
        with pytest.raises(DeadlineExceededError):
            await ask(server, request(seconds=0.15))


async def test_a_long_pause_within_the_deadline_is_no_fault() -> None:
    async def think(exchange: Exchange) -> None:
        await exchange.head(content_type="text/event-stream")
        await asyncio.sleep(0.4)
        await exchange.events(delta("好", "stop"), DONE)

    async with serving(think) as server:
        reply, _ = await ask(server, request(seconds=5))
    assert reply.text == "好"


async def test_cancelling_closes_the_connection() -> None:
    started = asyncio.Event()

    async def drip(exchange: Exchange) -> None:
        await exchange.head(content_type="text/event-stream")
        while True:
            await exchange.events(delta("滴"))
            started.set()
            await asyncio.sleep(0.02)

    async with serving(drip) as server:
        task = asyncio.create_task(ask(server))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(server.gone.wait(), 5)


def piece(arguments: str, *, index: int | None = None, call_id: str = "", name: str = "") -> dict[str, Any]:
    held: dict[str, Any] = {"function": {"arguments": arguments, **({"name": name} if name else {})}}
    held |= {"index": index} if index is not None else {}
    return held | ({"id": call_id} if call_id else {})


@pytest.mark.parametrize(
    "deltas",
    [
        [piece("", index=0, call_id="a", name="find"), piece('{"q":', index=0), piece('"锁"}', index=0)],
        [piece("", name="find", call_id="a"), piece('{"q":'), piece('"锁"}')],
        [piece("", index=1, call_id="a", name="find"), piece('{"q":"锁"}', index=1)],
        [piece('{"q":', name="find"), piece('"锁"}')],
        [piece('{"q":', index=0, call_id="a", name="find"), piece('"锁"}', index=0, call_id="a", name="find")],
    ],
)
async def test_tool_call_deltas_become_one_call(deltas: list[dict[str, Any]]) -> None:
    chunks = [delta(None, None, tool_calls=[held]) for held in deltas]
    async with serving(says(*chunks, delta(None, "tool_calls"), DONE)) as server:
        reply, pieces = await ask(server, request(tools=(TOOL,)))
    (call,) = reply.tool_calls
    assert (call.name, call.arguments, call.truncated) == ("find", '{"q":"锁"}', False)
    assert call.id
    assert pieces == []
    assert reply.finish_reason == "tool_calls"
    assert server.exchanges[0].body["tools"][0]["function"]["name"] == "find"


async def test_parallel_calls_with_one_index_or_one_id_stay_two_calls() -> None:
    two = [piece("{}", index=0, call_id="a", name="find"), piece('{"q":1}', index=0, call_id="b", name="find")]
    same = [piece("{}", index=0, call_id="x", name="find"), piece('{"q":1}', index=1, call_id="x", name="find")]
    for deltas in (two, same):
        async with serving(says(delta(None, "stop", tool_calls=deltas), DONE)) as server:
            reply, _ = await ask(server)
        assert [call.arguments for call in reply.tool_calls] == ["{}", '{"q":1}']
        assert len({call.id for call in reply.tool_calls}) == 2
        assert reply.finish_reason == "tool_calls"


@pytest.mark.parametrize(("arguments", "cut"), [('{"a":"重启 pay', True), ("", True), ('{"a":1}', False)])
async def test_after_a_stop_at_the_token_limit_only_whole_arguments_count(arguments: str, cut: bool) -> None:
    calls = [piece(arguments, index=0, call_id="a", name="find")]
    async with serving(says(delta(None, "length", tool_calls=calls), DONE)) as server:
        reply, _ = await ask(server)
    assert [call.truncated for call in reply.tool_calls] == [cut]


async def test_R_REACT_05_reasoning_fields_and_blocks_are_private() -> None:
    chunks: list[dict[str, Any] | str] = [
        delta(None, None, reasoning_content="秘密一"),
        delta("<think>秘密二</th"),
        delta("ink>好", "stop"),
        DONE,
    ]
    async with serving(says(*chunks)) as server:
        reply, pieces = await ask(server)
    assert reply.text == "".join(pieces) == "好"
    assert reply.reasoning == "秘密一\n秘密二"


async def test_a_server_that_does_not_stream_is_read_whole() -> None:
    async def whole(exchange: Exchange) -> None:
        await exchange.head(content_type="application/json")
        exchange.writer.write(b'{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}')

    async with serving(whole) as server:
        reply, pieces = await ask(server)
    assert (reply.text, pieces) == ("ok", ["ok"])


async def test_a_server_that_keeps_the_connection_open_after_the_reply_holds_nobody() -> None:
    async def linger(exchange: Exchange) -> None:
        await exchange.head(content_type="text/event-stream")
        await exchange.events(delta("完", "stop"))
        await asyncio.sleep(30)

    async with serving(linger) as server:
        began = time.monotonic()
        reply, _ = await ask(server, request(seconds=20))
        assert reply.text == "完"
        assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("reply", "error", "says_so"),
    [
        (refuses("401 Unauthorized", "bad key sk-abcdefghijklmnopqrstuv"), ModelRefusedError, "YUZUI_MODEL_API_KEY"),
        (refuses("404 Not Found"), ModelRefusedError, "YUZUI_MODEL_BASE_URL"),
        (refuses("400 Bad Request", "maximum context length is 4096 tokens"), ModelOverflowError, "context"),
        (refuses("413 Too Large"), ModelOverflowError, "no"),
        (refuses("400 Bad Request", "temperature"), ModelRefusedError, "temperature"),
        (refuses("429 Too Many", "slow"), ModelUnavailableError, "429"),
        (refuses("500 Oops"), ModelUnavailableError, "500"),
    ],
)
async def test_a_refusal_is_named_for_what_it_is(reply: Reply, error: type[ModelError], says_so: str) -> None:
    async with serving(reply) as server:
        with pytest.raises(error, match=says_so) as caught:
            await ask(server)
    assert "sk-abc" not in caught.value.detail


async def test_an_unreachable_server_is_unavailable() -> None:
    async with serving(says()) as server:
        url = server.url
    model = OpenAICompatibleModel("m", base_url=url)
    with pytest.raises(ModelUnavailableError, match="YUZUI_MODEL_BASE_URL"):
        await model.complete(request())
    await model.aclose()


async def test_a_server_without_tools_is_remembered() -> None:
    async with serving(refuses("400 Bad Request", "this model does not support tools")) as server:
        model = OpenAICompatibleModel("m", base_url=server.url)
        with pytest.raises(ToolsUnsupportedError):
            await model.complete(request(tools=(TOOL,)))
        assert not model.capabilities.native_tools
        await model.aclose()


async def test_a_server_that_knows_no_stream_options_is_asked_without_from_then_on() -> None:
    async with serving(
        refuses("400 Bad Request", "stream_options: unknown field"), says(delta("好", "stop"), DONE)
    ) as server:
        model = OpenAICompatibleModel("m", base_url=server.url)
        for _ in range(2):
            assert (await model.complete(request())).text == "好"
        await model.aclose()
    assert ["stream_options" in exchange.body for exchange in server.exchanges] == [True, False, False]


async def test_messages_go_out_with_text_content_and_object_arguments() -> None:
    asked = ModelRequest(
        messages=(
            UserMessage(text="问"),
            AssistantMessage(text="", tool_calls=(ToolCall(id="x", name="find", arguments=""),), reasoning="想"),
            ToolMessage(call_id="x", name="find", text="果"),
        ),
        purpose="react",
        deadline=Deadline.after(5),
    )
    async with serving(says(delta("好", "stop"), DONE)) as server:
        await ask(server, asked, capabilities=Capabilities(wants_reasoning_back=True))
    sent = server.exchanges[0].body["messages"]
    assert sent[1]["content"] == ""
    assert sent[1]["reasoning_content"] == "想"
    assert sent[1]["tool_calls"][0]["function"]["arguments"] == "{}"
    assert sent[2]["tool_call_id"] == sent[1]["tool_calls"][0]["id"]


def test_retry_after_is_read_in_both_forms() -> None:
    now = 1_700_000_000.0
    assert retry_after({"retry-after": "2"}) == 2.0
    assert retry_after({"retry-after": email.utils.formatdate(now + 30, usegmt=True)}, now) == pytest.approx(30, abs=1)
    assert retry_after({"retry-after": "soon"}) is None
    assert retry_after({}) is None


class Waits:
    """Records waits instead of sleeping."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


async def test_there_is_exactly_one_retry_layer() -> None:
    waits = Waits()
    async with serving(refuses("503 Busy")) as server:
        inner = OpenAICompatibleModel("m", base_url=server.url)
        with pytest.raises(ModelUnavailableError):
            await RetryingModel(inner, tries=3, sleep=waits).complete(request())
        await inner.aclose()
    assert len(server.exchanges) == 3
    assert len(waits.seconds) == 2


async def test_retry_after_is_waited_for_when_it_fits_the_deadline_and_else_the_call_fails_at_once() -> None:
    for asked, waited in (("2", 1), ("600", 0)):
        waits = Waits()
        async with serving(refuses("429 Slow", "x", retry_after=asked), says(delta("好", "stop"), DONE)) as server:
            model = OpenAICompatibleModel("m", base_url=server.url)
            retrying = RetryingModel(model, sleep=waits)
            if waited:
                assert (await retrying.complete(request())).text == "好"
                assert 2 <= waits.seconds[0] <= 2.2
            else:
                with pytest.raises(ModelUnavailableError) as caught:
                    await retrying.complete(request())
                assert caught.value.retryable
            assert len(waits.seconds) == waited
            await model.aclose()


async def test_nothing_is_retried_once_text_was_shown_nor_after_a_refusal() -> None:
    for first, error in ((says(delta("半")), ModelStreamCutError), (refuses("400 Bad Request"), ModelRefusedError)):
        async with serving(first, says(delta("好", "stop"), DONE)) as server:
            model = OpenAICompatibleModel("m", base_url=server.url)
            with pytest.raises(error):
                await RetryingModel(model, sleep=Waits()).complete(request(), list[str]().append)
            await model.aclose()
        assert len(server.exchanges) == 1


async def test_back_off_has_jitter_and_a_cap() -> None:
    drawn: set[float] = set()
    for _ in range(5):
        waits = Waits()
        async with serving(refuses("503 Busy")) as server:
            model = OpenAICompatibleModel("m", base_url=server.url)
            with pytest.raises(ModelUnavailableError):
                await RetryingModel(model, tries=4, base=1, cap=2, sleep=waits).complete(request(seconds=60))
            await model.aclose()
        assert all(0 <= wait <= 2 for wait in waits.seconds)
        drawn.update(waits.seconds)
    assert len(drawn) == 15


async def test_R_REACT_04_the_next_model_answers_when_one_is_down() -> None:
    async with serving(refuses("503 Busy")) as down, serving(says(delta("好", "stop"), DONE)) as up:
        models = [OpenAICompatibleModel(name, base_url=server.url) for name, server in (("a", down), ("b", up))]
        chain = FallbackModel(models)
        reply = await chain.complete(request())
        assert (reply.text, chain.name) == ("好", "a")
        for model in models:
            await model.aclose()


async def test_when_no_model_answers_the_first_error_is_raised() -> None:
    async with serving(refuses("503 Busy", "first")) as one, serving(refuses("401 No", "second")) as two:
        models = [OpenAICompatibleModel("m", base_url=server.url) for server in (one, two)]
        with pytest.raises(ModelUnavailableError, match="first"):
            await FallbackModel(models).complete(request())
        for model in models:
            await model.aclose()
