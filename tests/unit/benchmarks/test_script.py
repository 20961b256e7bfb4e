"""What the scripted model says to which request."""

from typing import Any

import orjson
import pytest
from benchmarks.script import (
    CALL_PIECES,
    QUERY,
    Script,
    action_pieces,
    answer_pieces,
    answer_text,
    parse_options,
    reply_to,
)

USER: dict[str, Any] = {"role": "user", "content": "什么是死锁？"}
TOOLS: list[dict[str, Any]] = [{"type": "function", "function": {"name": "knowledge_search", "parameters": {}}}]
CALLED: list[dict[str, Any]] = [
    {"role": "assistant", "content": None, "tool_calls": [{"id": "call_1"}]},
    {"role": "tool", "tool_call_id": "call_1", "content": "事实"},
]


def request(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": "mock", "messages": [USER, *messages], "stream": True, **more}


def deltas(frames: tuple[bytes, ...]) -> list[dict[str, Any]]:
    lines = b"".join(frames).decode().split("\n\n")
    parts = [orjson.loads(line.removeprefix("data: ")) for line in lines if line and not line.endswith("[DONE]")]
    return [part["choices"][0]["delta"] for part in parts if part["choices"]]


def test_options_in_the_name_override_the_defaults() -> None:
    script = parse_options("mock;ttft=300;tok=20;n=7;hops=2;b=json;call=look", Script(tokens=50))
    assert script == Script(ttft=300, tok=20, tokens=7, hops=2, behaviour="json", call="look")
    assert parse_options("mock", Script(tokens=50)) == Script(tokens=50)


@pytest.mark.parametrize("name", ["mock;b=clever", "mock;speed=3", "mock;n=many"])
def test_an_option_that_does_not_exist_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"no option|invalid literal"):
        parse_options(name, Script())


def test_own_time_counts_every_piece_of_every_call() -> None:
    script = Script(ttft=300, tok=20, tokens=200, hops=1)
    assert script.own_ms == 4720
    assert script.to_answer_ms == 740
    assert Script(ttft=100, tok=0, tokens=10, hops=0).own_ms == 100


def test_an_offered_tool_is_called_first_and_then_the_answer_follows() -> None:
    first = reply_to(request(tools=TOOLS), Script())
    parts = [part["tool_calls"][0] for part in deltas(first.frames) if "tool_calls" in part]
    assert first.kind == "tool"
    assert len(parts) == CALL_PIECES
    assert parts[0]["function"]["name"] == "knowledge_search"
    assert orjson.loads("".join(part["function"]["arguments"] for part in parts)) == {"query": QUERY}
    second = reply_to(request(*CALLED, tools=TOOLS), Script(tokens=30))
    assert second.kind == "answer"
    assert len(second.frames) == 30
    assert "".join(part.get("content") or "" for part in deltas(second.frames)) == answer_text(30)


def test_more_hops_mean_more_tool_rounds() -> None:
    assert reply_to(request(*CALLED, tools=TOOLS), Script(hops=2)).kind == "tool"
    assert reply_to(request(*CALLED, *CALLED, tools=TOOLS), Script(hops=2)).kind == "answer"


def test_json_actions_come_as_text_when_no_tools_are_offered() -> None:
    script = Script(behaviour="json", tokens=30)
    first = reply_to(request(), script)
    action = "".join(part.get("content") or "" for part in deltas(first.frames))
    assert first.kind == "tool"
    assert orjson.loads(action) == {"action": "tool", "tool": "knowledge_search", "arguments": {"query": QUERY}}
    observed = ({"role": "assistant", "content": action}, {"role": "user", "content": "观察：事实"})
    second = reply_to(request(*observed), script)
    final = "".join(part.get("content") or "" for part in deltas(second.frames))
    assert second.kind == "answer"
    assert len(second.frames) == 30
    assert orjson.loads(final) == {"action": "final", "answer": answer_text(30)}


def test_json_behaviour_speaks_natively_when_tools_are_offered_or_were_used() -> None:
    script = Script(behaviour="json")
    assert "tool_calls" in deltas(reply_to(request(tools=TOOLS), script).frames)[0]
    last = deltas(reply_to(request(*CALLED), script).frames)
    assert "".join(part.get("content") or "" for part in last) == answer_text(200)


def test_a_plain_answer_in_history_is_no_tool_round() -> None:
    history = ({"role": "assistant", "content": "{不是动作}"}, USER)
    assert reply_to(request(*history, tools=TOOLS), Script()).kind == "tool"


def test_without_tools_the_answer_comes_at_once() -> None:
    assert reply_to(request(), Script()).kind == "answer"


def test_a_loop_calls_for_ever_and_broken_calls_come_once() -> None:
    loop = reply_to(request(*CALLED, *CALLED, *CALLED, tools=TOOLS), Script(behaviour="loop"))
    assert loop.kind == "tool"
    broken = reply_to(request(tools=TOOLS, stream=False), Script(behaviour="badjson"))
    assert broken.message is not None
    with pytest.raises(orjson.JSONDecodeError):
        orjson.loads(broken.message["tool_calls"][0]["function"]["arguments"])
    assert reply_to(request(*CALLED, tools=TOOLS), Script(behaviour="badjson")).kind == "answer"


def test_usage_is_told_when_it_is_asked_for() -> None:
    asked = reply_to(request(stream_options={"include_usage": True}), Script(tokens=30))
    assert b'"completion_tokens":30' in asked.frames[-1]
    assert b"usage" not in reply_to(request(), Script(tokens=30)).frames[-1]


def test_wrapping_an_answer_adds_no_piece_and_loses_no_text() -> None:
    assert len(answer_pieces(200, as_action=True)) == len(answer_pieces(200)) == 200
    assert len(action_pieces("knowledge_search")) == CALL_PIECES
