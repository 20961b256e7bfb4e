"""The message-list validator: whatever history holds, the next provider call is well-formed (decision 7)."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from yuzui.budget import Deadline
from yuzui.model.messages import AssistantMessage, Message, SystemMessage, ToolCall, ToolMessage, UserMessage
from yuzui.model.port import Capabilities, ModelRequest
from yuzui.model.validator import prepare
from yuzui.testing.models import assert_sendable

NATIVE = Capabilities()


def called(call_id: str, arguments: str = "{}", name: str = "find") -> AssistantMessage:
    return AssistantMessage(text="", tool_calls=(ToolCall(id=call_id, name=name, arguments=arguments),))


def answered(call_id: str, text: str = "结果") -> ToolMessage:
    return ToolMessage(call_id=call_id, name="find", text=text)


def test_a_broken_call_in_history_is_sent_as_a_valid_object_with_its_result() -> None:
    out = prepare([UserMessage(text="问"), called("a", '{"query":"deadl'), answered("a", "读不懂")], NATIVE)
    assistant = out[1]
    assert isinstance(assistant, AssistantMessage)
    assert json.loads(assistant.tool_calls[0].arguments) == {"_unreadable": '{"query":"deadl'}
    assert isinstance(out[2], ToolMessage)


def test_a_call_without_result_and_a_result_without_call_are_dropped() -> None:
    out = prepare([answered("x"), UserMessage(text="问"), called("a"), UserMessage(text="再问")], NATIVE)
    assert out == (UserMessage(text="问"), UserMessage(text="再问"))


def test_ids_are_unique_over_the_whole_list_and_pairs_stay_together() -> None:
    messages: list[Message] = [called("call_1"), answered("call_1", "一"), called("call_1"), answered("call_1", "二")]
    out = prepare([UserMessage(text="问"), *messages], NATIVE)
    calls = [call.id for m in out if isinstance(m, AssistantMessage) for call in m.tool_calls]
    results = [(m.call_id, m.text) for m in out if isinstance(m, ToolMessage)]
    assert results == [(calls[0], "一"), (calls[1], "二")]
    assert calls[0] != calls[1]


def test_nothing_empty_is_sent() -> None:
    out = prepare(
        [SystemMessage(text=" "), UserMessage(text=""), AssistantMessage(text=" \n"), UserMessage(text="问")], NATIVE
    )
    assert out == (UserMessage(text="问"),)


def test_a_tool_name_no_provider_takes_is_made_harmless() -> None:
    out = prepare([UserMessage(text="问"), called("a", name="default_api:查 询"), answered("a")], NATIVE)
    assert isinstance(out[1], AssistantMessage)
    assert out[1].tool_calls[0].name == "default_api____"


def test_a_server_without_tool_calls_gets_plain_text() -> None:
    out = prepare([UserMessage(text="问"), called("a"), answered("a")], Capabilities(native_tools=False))
    assert [message.role for message in out] == ["user", "assistant", "user"]
    assert out[1].text == '{"action":"tool","tool":"find","arguments":{}}'


def test_reasoning_goes_back_only_within_the_current_tool_loop_of_a_server_that_wants_it() -> None:
    def thought(text: str) -> AssistantMessage:
        return AssistantMessage(text=text, reasoning="秘密")

    messages: list[Message] = [UserMessage(text="一"), thought("旧"), UserMessage(text="二"), thought("新")]
    kept = [
        m.reasoning
        for m in prepare(messages, Capabilities(wants_reasoning_back=True))
        if isinstance(m, AssistantMessage)
    ]
    assert kept == [None, "秘密"]
    assert [m.reasoning for m in prepare(messages, NATIVE) if isinstance(m, AssistantMessage)] == [None, None]


def test_text_that_no_wire_format_holds_is_cleaned() -> None:
    assert prepare([UserMessage(text="a\0b\ud800c")], NATIVE) == (UserMessage(text="ab?c"),)


IDS = st.sampled_from(["", "a", "b", "call_1"])
ARGUMENTS = st.sampled_from(["", "{}", '{"a":1}', '{"a', "null", "\0", '{"a":1,"a":2}'])
CALLS = st.lists(
    st.builds(ToolCall, id=IDS, name=st.sampled_from(["find", "", "x:y"]), arguments=ARGUMENTS), max_size=3
)
MESSAGES = st.one_of(
    st.builds(SystemMessage, text=st.sampled_from(["", "规则"])),
    st.builds(UserMessage, text=st.sampled_from(["", "问", "\ud800"])),
    st.builds(AssistantMessage, text=st.sampled_from(["", "答"]), tool_calls=CALLS.map(tuple)),
    st.builds(ToolMessage, call_id=IDS, name=st.just("find"), text=st.sampled_from(["", "果"])),
)


@given(st.lists(MESSAGES, max_size=9), st.booleans())
def test_any_list_becomes_sendable_and_preparing_twice_changes_nothing(messages: list[Message], native: bool) -> None:
    capabilities = Capabilities(native_tools=native)
    request: Any = ModelRequest(messages=tuple(messages), purpose="react", deadline=Deadline.after(9))
    assert_sendable(request, capabilities)
    once = prepare(messages, capabilities)
    assert prepare(once, capabilities) == once
