"""Which entry a word means: never decided by the order in which a server answers (R-PROV-02)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuzui_apps.home_menu.matching import Entry, best, entry_of


def row(name: str, kcal: float, *aliases: str, category: str = "其他", **more: Any) -> dict[str, Any]:
    """A server's row."""
    return {
        "name": name,
        "kcal": kcal,
        "aliases": list(aliases),
        "category": category,
        "per": "100 g",
        "source": "table",
    } | more


ROWS = [
    row("猪肉（肥）", 816, "肥猪肉", "pork fat", category="畜肉"),
    row("猪肉（肥瘦，代表值）", 395, "猪肉", "pork", category="畜肉"),
    row("猪肉（瘦）", 143, "瘦猪肉", "lean pork", category="畜肉"),
    row("牛肉（肥瘦，代表值）", 190, "牛肉", "beef", category="畜肉"),
    row("牛肉（瘦）", 106, "瘦牛肉", category="畜肉"),
    row("羊肉（肥瘦，代表值）", 198, "羊肉", "lamb", category="畜肉"),
    row("猪小排", 278, "排骨", "pork ribs", category="畜肉"),
    row("鸡蛋（白皮，代表值）", 138, "鸡蛋", "egg", "eggs", category="蛋类"),
    row("鸡蛋（油煎）", 196, "荷包蛋", category="蛋类"),
    row("鸡蛋白", 60, "蛋清", category="蛋类"),
    row("水果软糖", 396, "煎蛋", "煎蛋糖", category="零食"),
    row("豆腐（代表值）", 81, "豆腐", "tofu", category="豆类"),
    row("豆腐干（代表值）", 142, "豆腐干", category="豆类"),
    row("杏", 38, "apricot", category="水果"),
    row("杏干", 338, "dried apricot", category="水果"),
    row("苹果（代表值）", 54, "苹果", "apple", category="水果"),
    row("稻米（代表值）", 346, "大米", "米", category="谷类"),
    row("米饭（蒸，代表值）", 116, "米饭", "cooked rice", category="谷类"),
    row("燕麦片", 377, "燕麦", "oats", category="谷类"),
    row("燕麦粥（水煮）", 71, "燕麦粥", "oatmeal", category="谷类"),
    row("马铃薯", 77, "potato", category="薯类"),
    row("牛乳（代表值）", 54, "牛奶", "milk", category="乳类"),
    row("黄油", 717, "butter", category="油脂"),
]


def entries(rows: list[dict[str, Any]]) -> list[Entry]:
    """The rows that can be used."""
    return [entry for entry in map(entry_of, rows) if entry is not None]


MEANT = {
    "猪肉": 395, "豬肉": 395, "pork": 395, "Pork ": 395, "fresh pork": 395, "肥猪肉": 816, "瘦猪肉": 143, "牛肉": 190, "羊肉": 198, "羊 肉": 198,
    "鸡蛋": 138, "雞蛋": 138, "蛋": 138, "２ＥＧＧＳ": None, "eggs": 138, "蛋白": 60, "排骨": 278, "红烧排骨": 278, "豆腐": 81, "豆腐干": 142,
    "嫩豆腐": 81, "鱼豆腐": None, "杏": 38, "杏干": 338, "大米": 346, "米饭": 116, "米飯": 116, "燕麦": 377, "燕麥": 377, "燕麦粥": 71,
    "土豆": 77, "洋芋": 77, "番茄牛肉": 190, "清蒸羊肉": 198, "apple": 54, "pineapple": None, "peanut butter": None, "oat milk": None,
    "coconut milk": None, "fresh milk": 54, "火星果": None, "": None,
}  # fmt: skip


@pytest.mark.parametrize(("word", "kcal"), MEANT.items())
@given(rows=st.permutations(ROWS))
def test_R_PROV_02_a_word_means_one_entry_in_any_order(
    word: str, kcal: float | None, rows: list[dict[str, Any]]
) -> None:
    match = best(word, entries(rows))
    assert (match.entry.figures["kcal"] if match else None) == kcal


@pytest.mark.parametrize(
    ("word", "kind"),
    [("猪肉", "exact"), ("土豆", "exact"), ("红烧排骨", "derived"), ("番茄牛肉", "derived"), ("水煮蛋", "derived")],
)
def test_R_PROV_02_a_match_by_a_rule_says_so(word: str, kind: str) -> None:
    match = best(word, entries(ROWS))
    assert match is not None
    assert match.kind == kind
    assert bool(match.note) == (kind == "derived")


def test_R_PROV_02_fried_egg_is_an_egg_and_never_a_candy() -> None:
    without_alias: list[dict[str, Any]] = [r | {"aliases": []} if r["name"] == "水果软糖" else r for r in ROWS]
    for word in ("煎蛋", "煎鸡蛋"):
        match = best(word, entries(without_alias))
        assert match is not None
        assert (match.entry.name, match.kind) == ("鸡蛋（油煎）", "derived")
    # A sweet that is listed under the name of a dish does not win over the dish.
    match = best("煎蛋", entries(ROWS))
    assert match is not None
    assert match.entry.name == "鸡蛋（油煎）"


@given(rows=st.permutations([row("猪肉（肥）", 816), row("猪肉（瘦）", 143)]))
def test_R_PROV_02_without_a_representative_entry_pork_is_still_never_pure_fat(rows: list[dict[str, Any]]) -> None:
    match = best("猪肉", entries(rows))
    assert match is not None
    assert (match.entry.figures["kcal"], match.kind) == (143, "derived")
    assert best("猪肉", entries([row("猪肉（肥）", 816)])) is None


@given(rows=st.permutations([row("甲肉", 100), row("甲肉", 200), row("甲肉", 150, source="another")]))
def test_R_PROV_02_rows_of_one_name_are_chosen_alike_in_any_order(rows: list[dict[str, Any]]) -> None:
    match = best("甲肉", entries(rows))
    assert match is not None
    assert (match.entry.figures["kcal"], match.entry.source) == (150, "another")


@pytest.mark.parametrize(
    "bad",
    [
        {"per": "per serving"}, {"per": ""}, {"per": "1 serving (100 g)"}, {"kcal": "395"}, {"kcal": True}, {"kcal": -1}, {"kcal": 9000},
        {"kcal": float("nan")}, {"kcal": None}, {"name": ""}, {"name": 7},
    ],
)  # fmt: skip
def test_R_PROV_02_a_row_that_is_not_per_100_g_or_cannot_be_true_is_ignored(bad: dict[str, Any]) -> None:
    assert entry_of(row("猪肉", 395) | bad) is None


def test_R_PROV_01_a_row_keeps_only_what_is_known_of_it() -> None:
    entry = entry_of(
        row("猪肉", 395, protein_g=500, fat_g=37.0, pieces={"块": "x", "个": 0, "片": 20}, provenance="mcp_exact")
        | {"aliases": "pork"}
    )
    assert entry is not None
    assert dict(entry.figures) == {"kcal": 395.0, "fat_g": 37.0}
    assert dict(entry.pieces) == {"片": 20.0}
    assert entry.aliases == ()
    assert not hasattr(entry, "provenance")
