"""Clauses: the reach of a negation or a question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuzui.routing.clauses import clauses, covering
from yuzui.tools.matching import matching_copy


def _parts(text: str) -> list[str]:
    matching = matching_copy(text)
    return [matching[start:end] for start, end in clauses(matching)]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("不要执行恢复，只看 incident_a1 的状态", ["不要执行恢复,", "只看 incident_a1 的状态"]),
        ("不要执行恢复只看 incident_a1", ["不要执行恢复", "只看 incident_a1"]),
        ("别重启但诊断一下", ["别重启", "但诊断一下"]),
        ("先不恢复。启动诊断！好吗？", ["先不恢复。", "启动诊断!", "好吗?"]),
        ("don't recover; show incident_a1", ["don't recover; ", "show incident_a1"]),
        ("do not recover but show it", ["do not recover ", "but show it"]),
        ("吃了 1,200.5 克", ["吃了 1,200.5 克"]),
        ("我对花生不过敏", ["我对花生不过敏"]),
        ("不要只看状态", ["不要只看状态"]),
        ("一行\n二行", ["一行\n", "二行"]),
    ],
)
def test_R_ROUTE_04_clauses_end_at_punctuation_and_before_connectors(text: str, parts: list[str]) -> None:
    assert _parts(text) == parts


@given(st.text(st.sampled_from("不要恢复但只看,。.?!;1a \n"), min_size=1, max_size=40))
def test_R_ROUTE_04_clauses_cover_the_text_without_gap_or_overlap(text: str) -> None:
    spans = clauses(text)
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(start < end for start, end in spans)


@given(st.text(st.sampled_from("不要但只看,。 a"), min_size=1, max_size=30), st.data())
def test_R_ROUTE_04_a_match_lies_within_the_clauses_that_cover_it(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    left, right = covering(clauses(text), start, end)
    assert left <= start < end <= right
