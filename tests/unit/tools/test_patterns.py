"""Declared patterns: what is refused at load, and why."""

import time

import pytest

from yuzui.errors import DeclarationError
from yuzui.tools.patterns import compile_pattern, refuse_slow


@pytest.mark.parametrize("source", [r"\bincident\b", r"a\\\bcd", r"x\B"])
def test_R_ROUTE_03_a_word_boundary_is_refused_because_it_fails_next_to_han(source: str) -> None:
    with pytest.raises(DeclarationError, match="汉字"):
        compile_pattern(source)


def test_R_ROUTE_03_an_escaped_backslash_before_b_is_no_word_boundary() -> None:
    assert compile_pattern(r"c:\\bin").search("c:\\bin")


@pytest.mark.parametrize("source", ["", "a*", "(?:x|)", "^"])
def test_R_ROUTE_03_a_pattern_that_matches_the_empty_text_is_refused(source: str) -> None:
    with pytest.raises(DeclarationError, match="empty text"):
        compile_pattern(source)


def test_R_ROUTE_03_a_broken_expression_is_refused_by_name() -> None:
    with pytest.raises(DeclarationError, match=r"'\(a' is not a regular expression"):
        compile_pattern("(a")


def test_R_SAFE_01_full_width_characters_of_a_pattern_match_the_normalised_copy() -> None:
    assert compile_pattern("吗？").search("吃了吗?")
    assert compile_pattern("[，？]").search("a,")
    assert not compile_pattern("吗？").search("吗")


@pytest.mark.parametrize(
    ("source", "example"),
    [
        (r"(a+)+$", "aaa"),
        (r"(?:[a-z]+\s?)*!", "hello world"),
        (r"(?:[一-龥]+)+吗", "今天好吗"),
        (r"(?:a|a)*b", "aab"),
        (r".*.*.*.*结束", "开始结束"),
    ],
)
def test_R_ROUTE_03_a_pattern_that_backtracks_without_bound_is_refused_before_it_hangs(
    source: str, example: str
) -> None:
    started = time.thread_time()
    with pytest.raises(DeclarationError, match="bound its repetitions"):
        refuse_slow(compile_pattern(source), [example])
    assert time.thread_time() - started < 20


@pytest.mark.parametrize(
    "source", [r"[算查看].{0,4}bmi", r"记录饮食.{0,40}", r"(?P<grams>\d+)\s*克(?P<food>[一-龥]{1,8})"]
)
def test_R_ROUTE_03_a_bounded_pattern_is_accepted(source: str) -> None:
    refuse_slow(compile_pattern(source), ["记录饮食 200 克米饭", "算下BMI"])


def test_R_ROUTE_03_what_is_quick_in_a_command_may_be_too_slow_for_a_whole_message() -> None:
    pattern = compile_pattern(r"\d+\s*克")
    refuse_slow(pattern, ["200 克"], chars=1_000)
    with pytest.raises(DeclarationError, match="bound its repetitions"):
        refuse_slow(pattern, ["200 克"], chars=8_000)
