"""The food table: every row is complete, plausible and says where it comes from."""

import pytest

from yuzui_apps.home_menu.foods.table import Food, candidates, folded, foods

ALCOHOL = {"啤酒（代表值）", "红葡萄酒"}  # energy that is in none of the listed nutrients
DOCUMENT = {
    "猪肉（肥瘦，代表值）": 395,
    "猪肉（肥）": 816,
    "猪肉（瘦）": 143,
    "牛肉（肥瘦，代表值）": 190,
    "羊肉（肥瘦，代表值）": 198,
    "鸡蛋（白皮，代表值）": 138,
    "猪小排": 278,
    "豆腐（代表值）": 81,
}


def by_name() -> dict[str, Food]:
    """The table by name."""
    return {food.name: food for food in foods()}


def test_the_table_is_large_enough_for_a_kitchen_and_names_no_food_twice() -> None:
    names = [folded(name) for food in foods() for name in (food.name, *food.aliases)]
    assert len(foods()) >= 250
    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_R_PROV_02_the_figures_of_the_document_are_in_the_table() -> None:
    held = by_name()
    assert {name: held[name].kcal for name in DOCUMENT} == DOCUMENT


def plausible(food: Food) -> bool:
    """Whether a row can be true, whatever it describes."""
    parts = (food.protein_g, food.fat_g, food.carbohydrate_g)
    return (
        food.source.startswith(("中国食物成分表", "USDA FoodData Central"))
        and food.public()["per"] == "100 g"
        and 0 <= food.kcal <= 900
        and 0 < food.edible_percent <= 100
        and 0 <= food.sodium_mg <= 40_000
        and all(part >= 0 for part in parts)
        and sum(parts) <= 105
        and 0 <= food.fibre_g <= food.carbohydrate_g + 0.5
        and all(0 < grams <= 2_000 for grams in food.pieces.values())
        and (food.g_per_ml is None or 0.8 < food.g_per_ml < 1.6)
    )


def energy_agrees(food: Food) -> bool:
    """Whether the energy is that of the nutrients; fibre counts nothing to all of it, rounding and tables differ a little."""
    most = 4 * food.protein_g + 9 * food.fat_g + 4 * food.carbohydrate_g
    return food.name in ALCOHOL or most - 4 * food.fibre_g - 40 <= food.kcal <= most * 1.1 + 10


def test_every_row_is_complete_plausible_and_has_a_source() -> None:
    assert [food.name for food in foods() if not plausible(food)] == []


def test_every_rows_energy_agrees_with_its_nutrients() -> None:
    assert [food.name for food in foods() if not energy_agrees(food)] == []


def test_the_states_of_one_food_are_told_apart() -> None:
    held = by_name()
    assert held["杏"].state == "raw"
    assert held["杏干"].state == "dried"
    assert held["米饭（蒸，代表值）"].state == "cooked"
    assert held["稻米（代表值）"].state == "raw"
    assert held["燕麦粥（水煮）"].kcal < held["燕麦片"].kcal / 4


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("土豆", "马铃薯"),
        ("西红柿", "番茄"),
        ("圆白菜", "甘蓝"),
        ("Ｐｏｒｋ", "猪肉（肥瘦，代表值）"),
        ("PORK", "猪肉（肥瘦，代表值）"),
        ("红烧排骨", "猪小排"),
    ],
)
def test_a_food_is_found_under_its_other_names(asked: str, found: str) -> None:
    assert found in [food.name for food in candidates(asked, 50)]


def test_the_fitting_entries_come_within_the_limit_and_nothing_comes_for_nothing() -> None:
    assert {food.name for food in candidates("猪肉", 3)} >= {"猪肉（肥瘦，代表值）"}
    assert len(candidates("肉", 4)) == 4
    assert candidates(" ", 10) == []
    assert candidates("没有这种东西", 10) == []
