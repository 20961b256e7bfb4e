"""Every name in the shipped table means its own row, whatever a server sends along with it."""

import pytest

from yuzui_apps.home_menu.foods.table import Food, candidates, foods
from yuzui_apps.home_menu.matching import Entry, best, entry_of

ENTRIES = {food.name: entry for food in foods() if (entry := entry_of(food.public()))}


def test_R_PROV_02_every_row_of_the_table_can_be_used() -> None:
    assert ENTRIES.keys() == {food.name for food in foods()}


@pytest.mark.parametrize("food", foods(), ids=lambda food: food.name)
def test_R_PROV_02_a_name_and_an_alias_mean_their_own_row_exactly(food: Food) -> None:
    for word in (food.name, *food.aliases):
        sent = [ENTRIES[row.name] for row in candidates(word, 30)]
        for held in (sent, sent[::-1], list(ENTRIES.values())):
            match = best(word, held)
            assert match is not None
            assert (match.entry.name, match.kind) == (food.name, "exact"), word


@pytest.mark.parametrize(
    ("word", "kcal"),
    [("猪肉", 395), ("牛肉", 190), ("羊肉", 198), ("鸡蛋", 138), ("排骨", 278), ("豆腐", 81), ("肥猪肉", 816), ("豬肉", 395), ("雞蛋", 138)],
)  # fmt: skip
def test_R_PROV_02_the_figures_of_the_document_come_out_of_the_whole_table_in_any_order(word: str, kcal: float) -> None:
    orders: list[list[Entry]] = [list(ENTRIES.values()), list(ENTRIES.values())[::-1]]
    orders += [sorted(ENTRIES.values(), key=lambda entry: (len(entry.name), entry.figures["kcal"]))]
    orders += [sorted(ENTRIES.values(), key=lambda entry: -entry.figures["kcal"])]
    for held in orders:
        match = best(word, held)
        assert match is not None
        assert match.entry.figures["kcal"] == kcal


@pytest.mark.parametrize(
    "word", ["pineapple butter", "oat milk powder", "hemp milk", "鱼豆腐", "火星果", "peanut butter cup"]
)
def test_R_PROV_02_what_the_table_does_not_hold_is_not_found_in_it(word: str) -> None:
    assert best(word, ENTRIES.values()) is None
