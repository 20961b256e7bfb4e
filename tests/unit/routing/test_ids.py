"""Resource ids: found in whatever surroundings, validated, each once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuzui.errors import DeclarationError
from yuzui.routing.ids import IdBook
from yuzui.routing.rules import ResourceId
from yuzui.tools.matching import matching_copy

BOOK = IdBook(
    [ResourceId("incident", r"incident_[a-z0-9]{2,12}"), ResourceId("diagnostic", r"diagnostic_[a-z0-9]{2,12}")]
)


@pytest.mark.parametrize(
    ("text", "incident"),
    [
        ("帮我看incident_a1b2的状态", "incident_a1b2"),
        ("诊断1下incident_a1", "incident_a1"),
        ("ｉｎｃｉｄｅｎｔ＿ａ１", "incident_a1"),
        ("INCIDENT_A1。", "incident_a1"),
        ("（incident_a1）", "incident_a1"),
        ("`incident_a1`,", "incident_a1"),
        ("incident_a1.", "incident_a1"),
        ("incident_a1-", "incident_a1"),
        ("状态-incident_a1", "incident_a1"),
        ("inci\u200bdent_a1", "incident_a1"),
        ("incident_a1?!", "incident_a1"),
    ],
)
def test_R_ROUTE_02_an_id_is_found_whatever_touches_it(text: str, incident: str) -> None:
    found = BOOK.find(matching_copy(text))
    assert found.targets == {"incident": incident}
    assert found.malformed == ()


def test_R_ROUTE_02_two_forms_of_one_id_count_once() -> None:
    found = BOOK.find(matching_copy("单号INCIDENT_A1，还有Incident_a1。"))
    assert found.ids == {"incident": ("incident_a1",)}
    assert found.ambiguous == {}


def test_R_ROUTE_02_different_ids_of_one_kind_are_ambiguous_and_of_two_kinds_are_not() -> None:
    found = BOOK.find("比较 incident_a1 和 incident_b2, 依据 diagnostic_c3")
    assert found.ambiguous == {"incident": ("incident_a1", "incident_b2")}
    assert found.targets == {"diagnostic": "diagnostic_c3"}


@pytest.mark.parametrize(
    "word", ["incident_", "incident_a", "incident_abcdefghijklmn", "incident_a1_b2", "incident_a1-b2"]
)
def test_R_ROUTE_02_what_begins_like_an_id_and_is_none_is_reported_not_guessed(word: str) -> None:
    found = BOOK.find(f"看 {word} 的状态")
    assert found.ids == {}
    assert found.malformed == (word,)


@pytest.mark.parametrize("text", ["my_incident_a1", "xincident_a1", "1incident_a1", "log-incident_a1"])
def test_R_ROUTE_02_part_of_a_longer_word_is_no_id(text: str) -> None:
    assert BOOK.find(text).ids == {}


def test_R_ROUTE_02_only_canonical_ids_of_the_kind_are_valid() -> None:
    assert BOOK.valid("incident", "incident_a1")
    assert not BOOK.valid("incident", "INCIDENT_A1")
    assert not BOOK.valid("incident", "incident_a1; drop table")
    assert not BOOK.valid("incident", "diagnostic_a1")
    assert not BOOK.valid("recipe", "incident_a1")


@pytest.mark.parametrize("pattern", ["(", "incident_([a-z]+)", "[a-z]*"])
def test_R_ROUTE_02_a_format_that_cannot_work_is_refused(pattern: str) -> None:
    with pytest.raises(DeclarationError, match="id format"):
        IdBook([ResourceId("incident", pattern)])


def test_R_ROUTE_02_two_formats_of_one_kind_are_refused() -> None:
    with pytest.raises(DeclarationError, match="same kind"):
        IdBook([ResourceId("incident", "a1"), ResourceId("incident", "b1")])


@given(
    st.text(st.sampled_from("看的状态，。？！（ 》、"), max_size=6),
    st.from_regex(r"incident_[a-z0-9]{2,12}", fullmatch=True),
    st.text(st.sampled_from("的状态，。？！） 《、"), max_size=6),
    st.booleans(),
)
def test_R_ROUTE_02_any_valid_id_between_chinese_text_is_found(before: str, word: str, after: str, upper: bool) -> None:
    written = word.upper() if upper else word
    assert BOOK.find(matching_copy(f"{before}{written}{after}")).targets == {"incident": word}


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_R_ROUTE_02_whatever_is_found_is_valid_and_stands_in_the_text(text: str) -> None:
    matching = matching_copy(text)
    for kind, ids in BOOK.find(matching).ids.items():
        assert all(BOOK.valid(kind, value) and value in matching for value in ids)
