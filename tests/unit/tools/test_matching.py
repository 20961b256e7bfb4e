"""The matching copy: what a reader sees, in one form."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuzui.tools.matching import matching_copy, visible

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@pytest.mark.parametrize(
    ("text", "copy"),
    [
        ("ＩＮＣＩＤＥＮＴ＿Ａ１", "incident_a1"),
        ("inci\u200bdent\u2060_a1\ufeff", "incident_a1"),
        ("\u202eabc\u202c", "abc"),
        ("a\u0007b\u001bc", "abc"),
        ("don’t “run” that", 'don\'t "run" that'),
        ("２０００　卡？", "2000 卡?"),
        ("一行\r\n二行\u2028三行", "一行\n二行\n三行"),
        ("  你好\t", "你好"),
        ("tag\U000e0041\U000e0042s", "tags"),
        ("\u3164\u2800", ""),
        ("Ｅ\u0301", "é"),
    ],
)
def test_R_SAFE_01_forms_that_look_alike_have_one_matching_copy(text: str, copy: str) -> None:
    assert matching_copy(text) == copy


def test_R_SAFE_01_visible_keeps_the_case() -> None:
    assert visible("Ｋung Ｐao\u200b") == "Kung Pao"


@given(ANY_TEXT)
def test_R_SAFE_01_the_matching_copy_of_a_matching_copy_is_itself(text: str) -> None:
    copy = matching_copy(text)
    assert matching_copy(copy) == copy


@given(ANY_TEXT)
def test_R_SAFE_01_no_control_or_format_character_survives(text: str) -> None:
    left = {char for char in matching_copy(text) if unicodedata.category(char) == "Cc"}
    assert left <= {"\n"}
    assert not set(matching_copy(text)) & set("\u200b\u200c\u200d\u200e\u200f\u202a\u202e\u2066\u2069\ufeff\u00ad")
