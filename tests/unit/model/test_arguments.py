"""The two parsers of arguments: strict for effects, one repair for reads (decision 2)."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuzui.model.arguments import MAX_CHARS, ArgumentsError, parse_lenient, parse_strict

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text("ab{}\"',:“”锁\\\n"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab锁\"'", max_size=4), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("text", [None, "", " ", "\n"])
def test_nothing_is_an_empty_object(text: str | None) -> None:
    assert parse_strict(text) == parse_lenient(text) == {}


@pytest.mark.parametrize("parse", [parse_strict, parse_lenient])
@pytest.mark.parametrize(
    "text",
    [
        '{"food":"米饭","grams":150,"grams":1500}',
        '{"a":{"b":[{"c":1,"c":2}]}}',
        '{"n":NaN}',
        '{"n":-Infinity}',
        '{"n":1e999}',
        '{"a":' * 21 + "1" + "}" * 21,
        "[" * 5000,
        '{"a":"\\u0000"}',
        '{"\\u0000":1}',
        '{"a":"\\ud800"}',
        "[1]",
        '"x"',
        "null",
        "7",
        '"\\"{}\\""',
        '{"q":"' + "x" * MAX_CHARS + '"}',
    ],
)
def test_what_is_no_plain_object_is_refused_by_both(parse: Any, text: str) -> None:
    with pytest.raises(ArgumentsError):
        parse(text)


def test_an_object_encoded_twice_is_unwrapped_once() -> None:
    assert parse_strict(json.dumps('{"task_id":"d"}')) == {"task_id": "d"}
    with pytest.raises(ArgumentsError):
        parse_strict(json.dumps(json.dumps('{"task_id":"d"}')))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"query":"what\'s a lock timeout?"}', {"query": "what's a lock timeout?"}),
        ("{'query': 'db locks', 'top_k': None, 'strict': True}", {"query": "db locks", "top_k": None, "strict": True}),
        ("{“intent”：“知识”，“confidence”：0.82，“id”：null}", {"intent": "知识", "confidence": 0.82, "id": None}),
        ("{'a': 'it\\'s', 'b': [1, -2,],}", {"a": "it's", "b": [1, -2]}),
        ('{query: "x", n: 3}', {"query": "x", "n": 3}),
        ('{"a":1,}', {"a": 1}),
        ('{"text":"第一行\n第二行"}', {"text": "第一行\n第二行"}),
        ('{"tool":"c","args":{"text":"x"}', {"tool": "c", "args": {"text": "x"}}),
        ('{"tool":"c","args":{"text":"x"})', {"tool": "c", "args": {"text": "x"}}),
        ('{"food":"米饭","grams":200}{"food":"米饭","grams":200}', {"food": "米饭", "grams": 200}),
    ],
)
def test_a_read_gets_one_repair_that_adds_nothing(text: str, value: dict[str, Any]) -> None:
    assert parse_lenient(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "{'tags', 'db'}",
        '{"n": 3+4j}',
        'b"x"',
        "{'a': b'x'}",
        '{"final":"步骤一，查看锁。步骤二: 终止',
        '{"task_id":"diagnostic_ab12","reason":"重启 pay',
        '{"grams": 15',
        '{"id": incident_a1"}',
        '{"incident_id":"incident_a1"}{"incident_id":"incident_b2"}',
        "{'a': 1, 'a': 2}",
        "__import__('os').system('true')",
        "只是一句话: 没有对象",
    ],
)
def test_what_would_have_to_be_invented_is_refused(text: str) -> None:
    with pytest.raises(ArgumentsError):
        parse_lenient(text)


def test_a_bare_quote_inside_a_value_stays_one_value_or_is_refused() -> None:
    text = '{"备注":"她写的是“燕麦、牛奶”和"加餐"两项"}'
    try:
        value = parse_lenient(text)
    except ArgumentsError:
        return
    assert value == {"备注": '她写的是“燕麦、牛奶”和"加餐"两项'}


@given(st.dictionaries(st.text("ab锁\"'", max_size=4), JSON, max_size=4))
def test_valid_json_is_never_changed(value: dict[str, Any]) -> None:
    for text in (json.dumps(value, ensure_ascii=False), json.dumps(value)):
        assert parse_strict(text) == parse_lenient(text) == value


@given(
    st.dictionaries(st.text("ab", min_size=1, max_size=4), st.text("xy:锁，。 ", max_size=9), min_size=1, max_size=3),
    st.data(),
)
def test_a_text_cut_anywhere_gains_no_key_and_no_value(value: dict[str, str], data: st.DataObject) -> None:
    whole = json.dumps(value, ensure_ascii=False)
    cut = whole[: data.draw(st.integers(1, len(whole) - 1))]
    with pytest.raises(ArgumentsError):
        parse_lenient(cut)


@pytest.mark.parametrize(
    "text", ["{'a': " + "x" * 90_000 + "}", "{“" + "x" * 90_000, '{"a" "b" ' * 9_000, "{" * 90_000]
)
def test_hostile_text_costs_little_time(text: str) -> None:
    began = time.process_time()
    with pytest.raises(ArgumentsError):
        parse_lenient(text)
    assert time.process_time() - began < 1.0
