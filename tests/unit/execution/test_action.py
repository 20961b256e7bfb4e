"""Drift of JSON actions is recognised in one place (R-REACT-02)."""

import pytest

from yuzui.execution.action import Broken, FinalAction, Prose, ToolAction, parse_action, resolve_name
from yuzui.execution.answer_stream import JsonAnswerStream

ALLOWED = ("find", "get_incident")
FIND = '{"action":"tool","tool":"find","arguments":{"query":"锁"}}'


@pytest.mark.parametrize(
    "text",
    [
        FIND,
        f"好的，我来查。\n{FIND}\n请稍等。",
        f"```json\n{FIND}\n```",
        f"示例：```sql\nselect 1;\n```\n结论：```json\n{FIND}\n```",
        f"<think>要不要 {{查}}？</think>{FIND}",
        FIND.replace('"find"', '"functions.find"'),
        FIND.replace('"find"', '"find(query)"'),
        '{"tool":"find","args":{"query":"锁"}}',
        '{"name":"find","arguments":"{\\"query\\":\\"锁\\"}"}',
        '{"action":"find","action_input":{"query":"锁"}}',
        "{'action': 'tool', 'tool': 'find', 'arguments': {'query': '锁'}}",
        "{“action”：“tool”，“tool”：“find”，“arguments”：{“query”：“锁”}}",
        FIND[:-1],
        FIND + "\n" + FIND,
    ],
)
def test_every_kind_of_drift_is_read_as_the_one_call(text: str) -> None:
    action = parse_action(text, ALLOWED)
    assert isinstance(action, ToolAction)
    assert (action.tool, action.arguments) == ("find", {"query": "锁"})


def test_backticks_inside_a_string_are_no_fence() -> None:
    action = parse_action('{"tool":"find","args":{"query":"解释 `SELECT ... FOR UPDATE` 的锁"}}', ALLOWED)
    assert isinstance(action, ToolAction)
    assert action.arguments == {"query": "解释 `SELECT ... FOR UPDATE` 的锁"}
    final = parse_action('按 `runbook` 的说法：{"answer":"先看阻塞链"}', ALLOWED)
    assert final == FinalAction(answer="先看阻塞链", degraded=True)


@pytest.mark.parametrize(("text", "exact"), [(FIND, True), (f"好 {FIND}", False), (FIND.replace('"', "'"), False)])
def test_only_a_whole_strict_reply_is_exact(text: str, exact: bool) -> None:
    action = parse_action(text, ALLOWED)
    assert isinstance(action, ToolAction)
    assert action.exact is exact


@pytest.mark.parametrize("text", ["", "你好。", "用 {x} 表示集合", "`{` 是左花括号"])
def test_plain_prose_is_prose(text: str) -> None:
    assert parse_action(text, ALLOWED) == Prose(text=text.strip())


@pytest.mark.parametrize(
    "text",
    [
        '{"foo": 1}',
        '{"action":"tool"}',
        '{"action":"dance"}',
        '{"action": "tool", "tool": find, query: 锁}',
        '例如 {"name":"find","arguments":{}} 这样',
    ],
)
def test_what_only_looks_like_an_action_runs_nothing(text: str) -> None:
    assert isinstance(parse_action(text, ALLOWED), Broken)


@pytest.mark.parametrize("arguments", ["[1]", '"x"', "7", '{"a":1,"a":2}'])
def test_R_FENCE_06_arguments_that_are_no_object_are_none(arguments: str) -> None:
    action = parse_action('{"action":"tool","tool":"find","arguments":' + arguments + "}", ALLOWED)
    assert isinstance(action, Broken) or (isinstance(action, ToolAction) and action.arguments is None)


def test_a_call_cut_at_the_token_limit_is_never_repaired() -> None:
    action = parse_action('{"action":"tool","tool":"find","arguments":{"query":"锁"}', ALLOWED, cut=True)
    assert isinstance(action, Broken)
    assert action.cut


def test_a_cut_answer_shows_what_is_readable_and_is_marked() -> None:
    text = '{"action":"final","answer":"步骤一，查看锁。\\n步骤二: 终止'
    assert parse_action(text, ALLOWED, cut=True) == FinalAction(answer="步骤一，查看锁。\n步骤二: 终止", degraded=True)


def test_bare_quotes_inside_an_answer_do_not_lose_its_end() -> None:
    action = parse_action('{"action":"final","answer":"他说"你好"就走了"}', ALLOWED)
    assert action == FinalAction(answer='他说"你好"就走了', degraded=True)


def test_a_decorated_name_resolves_only_to_an_allowed_tool() -> None:
    assert resolve_name("default_api:find", ALLOWED) == "find"
    assert resolve_name("creating:get_incident", ALLOWED) == "get_incident"
    assert resolve_name("functions.recovery_execute", ALLOWED) == "functions.recovery_execute"
    assert resolve_name("(" * 50_000, ALLOWED) == "(" * 50_000


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize(
    "head", ['{"action":"final","answer":"', '```json\n{ "action" : "final",\n "answer" : "', '{"answer":"']
)
def test_the_answer_is_readable_while_it_arrives(head: str, size: int) -> None:
    body = '他说\\"好\\"\\n\\u9501\\ud83d\\ude00\\\\末尾'
    stream, text = JsonAnswerStream(), head + body + '","cards":[]}'
    shown = "".join(stream.feed(text[at : at + size]) for at in range(0, len(text), size))
    assert shown == '他说"好"\n锁😀\\末尾'


@pytest.mark.parametrize("text", [FIND, "一句散文，很长" * 50, '{"foo":"final","answer":1}'])
def test_nothing_is_streamed_of_what_is_no_answer(text: str) -> None:
    stream = JsonAnswerStream()
    assert "".join(stream.feed(char) for char in text) == ""


def test_reasoning_hidden_in_escapes_of_an_answer_stays_hidden() -> None:
    stream = JsonAnswerStream()
    text = '{"action":"final","answer":"\\u003cthink\\u003e秘密\\u003c/think\\u003e好"}'
    assert "".join(stream.feed(char) for char in text) == "好"
    assert parse_action(text, ALLOWED) == FinalAction(answer="好", degraded=False)
