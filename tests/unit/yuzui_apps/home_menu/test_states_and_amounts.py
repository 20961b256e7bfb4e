"""Faults of other food apps: dried taken for fresh, amounts lost in the name, servings taken for 100 g."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuzui_apps.home_menu.foods.table import candidates, foods
from yuzui_apps.home_menu.matching import Entry, best, entry_of, plain
from yuzui_apps.home_menu.portions import portion, split


def entry(name: str, kcal: float, **more: Any) -> Entry:
    """An entry as a foreign server sends it."""
    made = entry_of({"name": name, "kcal": kcal, "per": "100 g", "source": "table", **more})
    assert made is not None
    return made


def looked_up(word: str) -> list[Entry]:
    """What the shipped table offers for a word."""
    return [made for food in candidates(plain(word), 50) if (made := entry_of(food.public())) is not None]


@pytest.mark.parametrize(
    "states", [{"fresh": {"state": "raw"}, "dried": {"state": "dried"}}, {"fresh": {}, "dried": {}}]
)
def test_R_PROV_02_a_dried_food_is_not_taken_for_the_fresh_one(states: dict[str, dict[str, str]]) -> None:
    rows = [entry("杏(干)", 330, **states["dried"]), entry("杏(鲜)", 36, **states["fresh"])]
    for order in itertools.permutations(rows):
        found = best("杏", order)
        assert found is not None
        assert (found.entry.name, found.kind) == ("杏(鲜)", "derived")


@pytest.mark.parametrize(
    ("word", "name", "state"),
    [
        ("杏", "杏", "raw"),
        ("杏干", "杏干", "dried"),
        ("大米", "稻米（代表值）", "raw"),
        ("米饭", "米饭（蒸，代表值）", "cooked"),
        ("燕麦", "燕麦片", "dried"),
        ("燕麦粥", "燕麦粥（水煮）", "cooked"),
        ("香菇", "香菇（鲜）", "raw"),
        ("干香菇", "香菇（干）", "dried"),
        ("木耳", "木耳（水发）", "raw"),
    ],
)
def test_R_PROV_02_the_state_is_resolved_and_kept(word: str, name: str, state: str) -> None:
    found = best(word, looked_up(word))
    assert found is not None
    assert (found.entry.name, found.entry.state) == (name, state)


@given(st.data())
def test_R_PROV_02_no_order_of_a_servers_answer_changes_what_any_word_means(data: st.DataObject) -> None:
    food = data.draw(st.sampled_from(foods()))
    word = data.draw(st.sampled_from([food.name, *food.aliases, f"红烧{food.name}", f"炒{food.name}"]))
    rows = looked_up(word)
    assert best(word, data.draw(st.permutations(rows))) == best(word, rows)


def test_R_PROV_02_every_name_and_alias_of_the_table_means_its_own_food() -> None:
    meant = {
        (food.name, word): found.entry.name if (found := best(word, looked_up(word))) else None
        for food in foods()
        for word in (food.name, *food.aliases)
    }
    assert {pair: name for pair, name in meant.items() if name != pair[0]} == {}


@pytest.mark.parametrize("category", ["糖果", "零食", "candy"])
def test_R_PROV_02_a_sweet_that_is_called_like_a_dish_is_not_the_dish(category: str) -> None:
    assert best("煎蛋", [entry("煎蛋糖(软糖)", 330, category=category)]) is None
    assert best("煎蛋", [entry("软糖", 330, category=category, aliases=["煎蛋"])]) is None


@pytest.mark.parametrize(
    ("per", "taken"),
    [
        ("per 100 g", True),
        ("每100克", True),
        ("100g", True),
        ("serving", False),
        ("30 g", False),
        ("100 ml", False),
        ("", False),
    ],
)
def test_R_PROV_02_only_figures_per_100_g_are_taken(per: str, taken: bool) -> None:
    assert (entry_of({"name": "豆腐", "kcal": 81, "per": per, "source": "table"}) is not None) == taken


@pytest.mark.parametrize(
    ("text", "food", "amount"),
    [
        ("两个鸡蛋", "鸡蛋", "两个"),
        ("煎蛋两个", "煎蛋", "两个"),
        ("１００ｇ豆腐", "豆腐", "100g"),
        ("半斤虾", "虾", "半斤"),
        ("米饭 150", "米饭", "150"),
        ("rice 150", "rice", "150"),
        ("330 ml 可乐", "可乐", "330 ml"),
        ("100 g of rice", "rice", "100 g"),
        ("2 eggs", "eggs", "2 eggs"),
        ("一片吐司", "吐司", "一片"),
    ],
)
def test_R_PROV_02_an_amount_said_with_a_food_is_taken_off_its_name(text: str, food: str, amount: str) -> None:
    assert split(text) == (food, amount)


@pytest.mark.parametrize(
    "text", ["三文鱼", "五花肉", "八角", "千张", "百合", "四季豆", "千层饼", "7up", "apple", "两", "面条", "维生素b12"]
)
def test_a_food_whose_name_begins_like_a_number_keeps_it(text: str) -> None:
    assert split(text) == (text, None)


def test_R_PROV_02_two_fried_eggs_are_two_eggs() -> None:
    food, amount = split("煎蛋两个")
    found = best(food, looked_up(food))
    assert amount is not None
    assert found is not None
    share = portion(amount, pieces=found.entry.pieces)
    assert share is not None
    assert (found.entry.name, share.grams, share.derived) == ("鸡蛋（油煎）", 92, True)
