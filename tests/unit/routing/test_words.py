"""Words that confirm, and words that must not."""

import pytest

from yuzui.routing.words import is_confirmation
from yuzui.tools.matching import matching_copy


@pytest.mark.parametrize(
    "text", ["确认", "确认！", "我确认", "好的，确认", "确认执行", "确定", "Confirm", "yes, confirm.", "I confirm"]
)
def test_R_CONF_05_a_plain_word_of_confirmation_is_one(text: str) -> None:
    assert is_confirmation(matching_copy(text))


@pytest.mark.parametrize(
    "text",
    [
        "please don’t run that",
        "nope, carry on then",
        "no, go ahead",
        "嗯…算了吧",
        "确认？",
        "确认了吗",
        "不确认",
        "先别确认",
        "确认一下 incident_a1 的状态",
        "确认 act_123",
        "好的",
        "ok",
        "confirm that I ate rice yesterday",
        "don't confirm",
        "unconfirmed",
    ],
)
def test_R_CONF_05_small_talk_questions_and_mixed_answers_confirm_nothing(text: str) -> None:
    assert not is_confirmation(matching_copy(text))
