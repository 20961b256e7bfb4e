"""The rulebook: examples are promises, checked when the app loads; a reading holds for a clause."""

import pytest
from tests.unit.routing.sample import OPERATIONS, said

from yuzui.errors import DeclarationError
from yuzui.routing.intents import IntentMode, RoutableIntent
from yuzui.routing.readings import NEGATED, QUESTION_ABOUT
from yuzui.routing.rulebook import RULE_CHARS, Rulebook
from yuzui.routing.rules import Rule


def _intent(name: str, *rules: Rule, mode: IntentMode = "direct_read") -> RoutableIntent:
    return RoutableIntent(name=name, description=name, mode=mode, rules=rules)


def _claimed(book: Rulebook, text: str) -> list[str]:
    return [verdict.rule.id for verdict in book.claims(said(text).matching)]


def test_R_ROUTE_03_a_rule_that_misses_its_example_is_refused() -> None:
    with pytest.raises(DeclarationError, match="rule 'bmi/1' does not match its example '记录体重'"):
        Rulebook([_intent("bmi", Rule("算.{0,4}bmi", yes=["记录体重"]))])


def test_R_ROUTE_03_a_rule_that_matches_its_counter_example_is_refused() -> None:
    with pytest.raises(DeclarationError, match="rule 'bmi/1' matches its counter-example 'BMI 是什么'"):
        Rulebook([_intent("bmi", Rule("bmi", no=["BMI 是什么"]))])


def test_R_ROUTE_03_a_counter_example_kept_out_by_a_reading_is_fine() -> None:
    assert _claimed(Rulebook([_intent("bmi", Rule("bmi", no=["BMI 是什么"], unless=[QUESTION_ABOUT]))]), "BMI") == [
        "bmi/1"
    ]


def test_R_ROUTE_03_two_rules_that_claim_one_example_are_refused_and_both_are_named() -> None:
    status = _intent("status", Rule("状态", yes=["查看状态"], id="status/word"))
    report = _intent("report", Rule("查看", yes=["查看报告"], id="report/word"))
    with pytest.raises(DeclarationError) as refused:
        Rulebook([status, report])
    for part in ("'status/word'", "'report/word'", "'查看状态'", "'status'", "'report'"):
        assert part in refused.value.detail


def test_R_ROUTE_03_an_example_that_a_stronger_rule_takes_away_is_refused_too() -> None:
    weak = _intent("status", Rule("状态", yes=["查看状态"]))
    strong = _intent("report", Rule("查看", priority=5))
    with pytest.raises(DeclarationError, match=r"priority 0.*priority 5"):
        Rulebook([weak, strong])


def test_R_ROUTE_03_priority_settles_a_catch_all() -> None:
    catch_all = _intent("query", Rule("incident_", yes=["incident_a1"], priority=-1))
    start = _intent("start", Rule("启动诊断", yes=["启动诊断 incident_a1"]))
    book = Rulebook([catch_all, start])
    assert _claimed(book, "启动诊断 incident_a1") == ["start/1"]
    assert _claimed(book, "incident_a1") == ["query/1"]


def test_R_ROUTE_03_two_rules_of_one_intent_may_share_an_example() -> None:
    book = Rulebook([_intent("bmi", Rule("bmi", yes=["算下BMI"]), Rule("算下", yes=["算下BMI"]))])
    assert _claimed(book, "算下BMI") == ["bmi/1", "bmi/2"]


def test_R_ROUTE_03_two_rules_with_one_id_are_refused() -> None:
    with pytest.raises(DeclarationError, match="two rules have the id 'same'"):
        Rulebook([_intent("a", Rule("甲", id="same")), _intent("b", Rule("乙", id="same"))])


def test_R_ROUTE_03_a_bad_pattern_names_its_rule_and_intent() -> None:
    with pytest.raises(DeclarationError, match=r"rule 'a/x' of intent 'a': pattern .* uses \\b"):
        Rulebook([_intent("a", Rule(r"\bincident", id="a/x"))])


def test_R_ROUTE_03_a_rule_that_could_hang_is_refused() -> None:
    with pytest.raises(DeclarationError, match="bound its repetitions"):
        Rulebook([_intent("a", Rule("(?:查+)+!", yes=["查查!"]))])


def test_R_ROUTE_03_a_reading_that_could_hang_is_refused() -> None:
    with pytest.raises(DeclarationError, match="bound its repetitions"):
        Rulebook([_intent("a", Rule("查", yes=["查查"], unless=["(?:查+)+!"]))])


def test_R_ROUTE_04_rules_of_a_write_have_both_readings_without_asking_for_them() -> None:
    book = Rulebook([_intent("log", Rule("吃了?.{0,12}米饭", yes=["吃了 200 克米饭"]), mode="confirmation_required")])
    assert _claimed(book, "吃了 200 克米饭") == ["log/1"]
    assert _claimed(book, "我今天能不能再吃 200 克米饭？") == []
    assert _claimed(book, "不要记我吃了 200 克米饭") == []


def test_R_ROUTE_04_a_write_may_give_up_one_reading() -> None:
    rule = Rule("取消提醒", yes=["取消提醒"], no=["能取消提醒吗"], despite=["negated"])
    assert _claimed(Rulebook([_intent("cancel", rule, mode="confirmation_required")]), "取消提醒") == ["cancel/1"]


def test_R_ROUTE_04_an_example_that_reads_as_a_question_is_refused_with_the_reason() -> None:
    rule = Rule("启动诊断", yes=["要不要启动诊断"])
    with pytest.raises(DeclarationError, match=r"'要不要启动诊断'.*kept out by 'question'"):
        Rulebook([_intent("start", rule, mode="confirmation_required")])


@pytest.mark.parametrize(
    ("text", "claimed"),
    [
        ("不要启动诊断 incident_a1，启动诊断 incident_b2", True),
        ("启动诊断 incident_a1，不要恢复", True),
        ("启动诊断 incident_a1，没问题的话告诉我", True),
        ("不要启动诊断", False),
        ("不要启动诊断，也别启动诊断 incident_b2", False),
        ("先不启动诊断。谢谢", False),
        ("启动诊断 incident_a1，算了", False),
        ("启动诊断 incident_a1，还是不要了吧。", False),
        ("启动诊断 incident_a1, never mind", False),
        ("算了，启动诊断 incident_a1", True),
    ],
)
def test_R_ROUTE_04_a_negation_holds_for_its_own_clause_only(text: str, claimed: bool) -> None:
    book = Rulebook([_intent("start", Rule("启动诊断.{0,40}", unless=[NEGATED]))])
    assert bool(_claimed(book, text)) is claimed


def test_R_ROUTE_01_named_groups_become_slots() -> None:
    book = Rulebook([_intent("log", Rule(r"(?P<grams>\d+)\s?克(?P<food>米饭|豆腐)?(?P<when>昨天)?"))])
    verdict = book.claims(said("吃了２００克豆腐").matching)[0]
    assert verdict.slots == {"grams": "200", "food": "豆腐"}


def test_R_ROUTE_01_a_long_text_is_no_command() -> None:
    book = Rulebook(OPERATIONS)
    assert _claimed(book, "启动诊断 incident_a1" + "啊" * (RULE_CHARS - 16))
    assert not _claimed(book, "启动诊断 incident_a1" + "啊" * RULE_CHARS)
