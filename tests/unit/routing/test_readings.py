"""The ready-made readings: what is a question about an action, what is a negated action."""

import re

import pytest

from yuzui.routing.readings import NEGATED, QUESTION_ABOUT, RETRACTED
from yuzui.tools.matching import matching_copy
from yuzui.tools.patterns import compile_pattern, refuse_slow


def _asks(text: str) -> bool:
    return re.search(QUESTION_ABOUT, matching_copy(text)) is not None


def _negates(text: str) -> bool:
    return re.search(NEGATED, matching_copy(text)) is not None


@pytest.mark.parametrize(
    "text",
    [
        "昨天我吃够 2000 卡了吗",
        "我今天能不能再吃 200 克米饭？",
        "记录里昨天有米饭吗",
        "我昨天吃了多少克米饭",
        "帮我看看昨天我吃够 2000 卡了吗",
        "感觉今天吃咸了会不会水肿",
        "今天还能吃 200 克米饭么",
        "请问昨天我吃够了吗",
        "昨天吃了 300 克豆腐对不对",
        "怎么记录饮食",
        "要不要启动诊断 incident_a1",
        "启动诊断 incident_a1 安全吗？",
        "did I eat 200 g rice yesterday?",
        "can I eat 200 g of rice",
        "how much rice did I log",
        "should I log 200 g of rice?",
        "I ate 200 g of rice, right?",
        "I wonder whether 200 g of rice is ok",
    ],
)
def test_R_ROUTE_04_a_question_about_an_action_is_recognised(text: str) -> None:
    assert _asks(text)


@pytest.mark.parametrize(
    "text",
    [
        "帮我把刚刚那顿记一下，大概一碗米饭、两个鸡腿。",
        "能不能帮我记一下 200 克米饭？",
        "可以帮我记录 200 克米饭吗",
        "帮我启动诊断 incident_a1 可以吗？",
        "午饭吃了 200 克米饭",
        "今天吃了好几个包子共 300 克",
        "一杯 300 毫升什么都没加的豆浆",
        "could you log 200 g of rice?",
        "can you start a diagnosis of incident_a1?",
        "I ate 200 g of rice",
    ],
)
def test_R_ROUTE_04_a_statement_or_a_polite_request_is_no_question(text: str) -> None:
    assert not _asks(text)


@pytest.mark.parametrize(
    "text",
    [
        "不要执行恢复",
        "别启动诊断 incident_a1",
        "先不启动诊断",
        "无需恢复",
        "今天没吃 200 克米饭",
        "我没有吃米饭",
        "取消恢复 diagnostic_b2",
        "不执行恢复",
        "please don’t run that",
        "do not start a diagnosis",
        "I haven't eaten rice",
        "never recover diagnostic_b2",
        "without starting a diagnosis",
    ],
)
def test_R_ROUTE_04_a_negated_action_is_recognised(text: str) -> None:
    assert _negates(text)


@pytest.mark.parametrize(
    "text",
    [
        "没问题的话告诉我",
        "启动诊断 incident_a1 没问题",
        "不好意思，记一下 200 克米饭",
        "分别记录 200 克米饭和 100 克豆腐",
        "级别为 P1，启动诊断 incident_a1",
        "今天不小心吃了差不多 200 克米饭",
        "记一下不锈钢锅煮的 200 克面",
        "log 200 g of nonfat yogurt",
        "notify me: start diagnosis incident_a1",
    ],
)
def test_R_ROUTE_04_words_that_only_look_negative_negate_nothing(text: str) -> None:
    assert not _negates(text)


@pytest.mark.parametrize("reading", [QUESTION_ABOUT, NEGATED, RETRACTED])
def test_R_ROUTE_03_the_shipped_readings_are_quick(reading: str) -> None:
    refuse_slow(compile_pattern(reading), ["能不能帮我", "不要", "do not", "算了", "could you please ", "吗", "帮我"])
