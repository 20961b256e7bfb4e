"""Numerals as people write them."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuzui_apps.home_menu.amounts import NUMBER, UNIT_EN, amount_of, number_of, written


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("半", 0.5), ("一半", 0.5), ("两", 2), ("兩", 2), ("俩", 2), ("零", 0), ("十", 10), ("十二", 12), ("二十", 20),
        ("二十三", 23), ("一百", 100), ("一百五", 150), ("一百五十", 150), ("一百零五", 105), ("一百〇五", 105), ("两百二十", 220),
        ("一千二", 1200), ("一千零五", 1005), ("一千二百五", 1250), ("一千零五十", 1050), ("两个半", 2.5), ("三個半", 3.5),
        ("0.5", 0.5), ("１２", 12), ("1,500", 1500), ("1/2", 0.5), ("½", 0.5), ("two", 2), ("An", 1), ("half a", 0.5),
        ("a dozen", 12), ("half a dozen", 6),
    ],
)  # fmt: skip
def test_a_numeral_has_its_value(text: str, value: float) -> None:
    assert number_of(unicodedata.normalize("NFKC", text)) == value


@pytest.mark.parametrize(
    "text",
    ["", "x", "盒", "百", "三两", "两两", "二三", "十百", "零五", "一百零", "3.", ".5", "-1", "1/0", "9" * 8, "1e5", "nan", "inf", "半个半", "banana"],
)  # fmt: skip
def test_what_is_no_numeral_has_no_value(text: str) -> None:
    assert number_of(text) is None


@given(st.integers(min_value=1, max_value=9999))
def test_every_whole_number_can_be_said_in_chinese(number: int) -> None:
    digits, said, gap = "零一二三四五六七八九", "", False
    for size, sign in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // size % 10
        if digit:
            said += ("零" if gap else "") + digits[digit] + sign
            gap = False
        elif said:
            gap = True
    assert number_of(said) == number
    assert re.fullmatch(NUMBER, said)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("apples", None), ("banana", None), ("tenderloin", None), ("三两", "三"), ("第二盒", None), ("-5克", None),
        ("10-20克", None), ("1,500克", "1,500"), ("12345678克", None), ("2.5公斤", "2.5"), ("an apple", "an"),
    ],
)  # fmt: skip
def test_a_numeral_is_found_whole_or_not_at_all(text: str, found: str | None) -> None:
    match = re.search(NUMBER, text)
    assert (match[0] if match else None) == found


@pytest.mark.parametrize("word", ["lemons", "grapes", "boxer", "gl"])
def test_a_word_that_begins_like_a_unit_is_none(word: str) -> None:
    assert re.match(UNIT_EN, word) is None


def test_an_amount_is_positive_and_counts_pieces_without_a_unit() -> None:
    assert amount_of("0", "盒") is None
    assert amount_of("几", "盒") is None
    pieces, weighed = amount_of("三", None), amount_of("两", "斤", and_half=True)
    assert pieces is not None
    assert weighed is not None
    assert (pieces.number, pieces.unit) == (3, "个")
    assert (weighed.number, weighed.unit) == (2.5, "斤")


@pytest.mark.parametrize(("number", "text"), [(2.0, "2"), (0.5, "0.5"), (1_000_000.0, "1000000"), (12345.678, "12345.678"), (0.1 + 0.2, "0.3"), (100.0, "100")])  # fmt: skip
def test_a_number_is_written_in_full(number: float, text: str) -> None:
    assert written(number) == text
