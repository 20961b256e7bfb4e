"""The home menu's services over a real PostgreSQL: one family never sees, changes or pages through another's."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, TypeAlias

import psycopg
import pytest

from yuzui.adapters.postgres.database import PooledDatabase
from yuzui.adapters.postgres.migrate import migrate
from yuzui.adapters.postgres.pool import PoolOptions, open_pool
from yuzui.adapters.postgres.seeds import seed_once
from yuzui.errors import ConflictError, InvalidInputError, NotFoundError
from yuzui.owner import Owner
from yuzui_apps.home_menu import app
from yuzui_apps.home_menu.seed import FAMILIES, seed
from yuzui_apps.home_menu.services import Menu

ALICE = Owner(tenant="family-a", user="alice")
BOB = Owner(tenant="family-b", user="bob")
DAY = date(2026, 3, 1)
RECIPE: dict[str, Any] = {
    "name": "Soup", "minutes": 20, "ingredients": [{"name": "Leek", "amount": 1.5, "unit": "pieces"}], "allergens": ["celery"],
    "steps": ["Boil."], "tags": ["quick"],
}  # fmt: skip
Call: TypeAlias = Callable[[Menu, Owner, dict[str, str]], Awaitable[object]]


@pytest.fixture
async def database(migrated_dsn: str) -> AsyncIterator[PooledDatabase]:
    """The platform's schema and the app's."""
    async with await psycopg.AsyncConnection.connect(migrated_dsn, autocommit=True) as connection:
        await migrate(connection, [(app.name, app.assets / "migrations")])
    pool = await open_pool(migrated_dsn, PoolOptions(min_size=1, max_size=4))
    yield PooledDatabase(pool)
    await pool.close()


@pytest.fixture
async def menu(database: PooledDatabase) -> Menu:
    """The services over the two demo families."""
    await seed(database)
    return Menu(database)


async def _ids(menu: Menu, owner: Owner) -> dict[str, str]:
    members = await menu.members(owner)
    return {
        "member": next(row["id"] for row in members if row["username"] is None),
        "login": next(row["id"] for row in members if row["username"] is not None),
        "item": (await menu.fridge(owner))[0]["id"],
        "recipe": (await menu.recipes(owner))[0]["id"],
        "entry": (await menu.plan(owner, date(2000, 1, 1), 40_000))[0]["id"],
    }


async def _all(menu: Menu, owner: Owner) -> list[list[dict[str, Any]]]:
    return [
        [await menu.family(owner)],
        await menu.members(owner),
        await menu.fridge(owner),
        await menu.recipes(owner),
        await menu.plan(owner, date(2000, 1, 1), 40_000),
    ]


FOREIGN: dict[str, Call] = {
    "member": lambda menu, owner, ids: menu.member(owner, ids["member"]),
    "change_member": lambda menu, owner, ids: menu.change_member(owner, ids["member"], name="X"),
    "remove_member": lambda menu, owner, ids: menu.remove_member(owner, ids["member"]),
    "fridge": lambda menu, owner, ids: menu.fridge(owner, after=ids["item"]),
    "fridge_item": lambda menu, owner, ids: menu.fridge_item(owner, ids["item"]),
    "change_item": lambda menu, owner, ids: menu.change_item(owner, ids["item"], amount=1),
    "remove_item": lambda menu, owner, ids: menu.remove_item(owner, ids["item"]),
    "recipes": lambda menu, owner, ids: menu.recipes(owner, after=ids["recipe"]),
    "recipe": lambda menu, owner, ids: menu.recipe(owner, ids["recipe"]),
    "remove_recipe": lambda menu, owner, ids: menu.remove_recipe(owner, ids["recipe"]),
    "unplan_dish": lambda menu, owner, ids: menu.unplan_dish(owner, ids["entry"]),
}
WITHOUT_ID: dict[str, Call] = {
    "family": lambda menu, owner, _: menu.family(owner),
    "rename_family": lambda menu, owner, _: menu.rename_family(owner, "X"),
    "members": lambda menu, owner, _: menu.members(owner),
    "add_member": lambda menu, owner, _: menu.add_member(owner, "X", [], []),
    "allergens": lambda menu, owner, _: menu.allergens(owner),
    "fridge": lambda menu, owner, _: menu.fridge(owner),
    "add_item": lambda menu, owner, _: menu.add_item(owner, "X", 1, "g", None),
    "recipes": lambda menu, owner, _: menu.recipes(owner),
    "add_recipe": lambda menu, owner, _: menu.add_recipe(owner, RECIPE),
    "plan": lambda menu, owner, _: menu.plan(owner, DAY),
    "plan_dish": lambda menu, owner, _: menu.plan_dish(owner, DAY, "dinner", "X"),
}


def test_R_TOOL_03_every_method_of_the_service_is_tried_from_outside() -> None:
    public = {name for name in vars(Menu) if not name.startswith("_")}
    assert public - {"create_family"} == FOREIGN.keys() | WITHOUT_ID.keys()


@pytest.mark.parametrize("name", FOREIGN)
async def test_R_TOOL_03_an_id_of_another_family_is_not_found_and_nothing_changes(menu: Menu, name: str) -> None:
    before = await _all(menu, BOB)
    with pytest.raises(NotFoundError):
        await FOREIGN[name](menu, ALICE, await _ids(menu, BOB))
    assert await _all(menu, BOB) == before


@pytest.mark.parametrize("name", [*FOREIGN, *WITHOUT_ID])
@pytest.mark.parametrize(
    "stranger",
    [
        Owner(tenant="family-a2", user="alice"),
        Owner(tenant="family-", user="alice"),
        Owner(tenant="family-a", user="alic"),
        Owner(tenant="family-a", user="bob"),
        Owner(tenant="Family-A", user="alice"),
        Owner(tenant="family-%", user="%"),
    ],
    ids=str,
)
async def test_R_TOOL_03_somebody_who_is_no_member_sees_and_changes_nothing(
    menu: Menu, name: str, stranger: Owner
) -> None:
    before = await _all(menu, ALICE)
    with pytest.raises(NotFoundError):
        await (WITHOUT_ID | FOREIGN)[name](menu, stranger, await _ids(menu, ALICE))
    assert await _all(menu, ALICE) == before


async def test_a_family_with_a_similar_name_is_its_own(menu: Menu) -> None:
    near = Owner(tenant="family-a2", user="alice")
    await menu.create_family(near, "near", "A")
    assert [row["name"] for row in await menu.members(near)] == ["A"]
    assert await menu.fridge(near) == []
    assert await menu.recipes(near) == []
    assert await menu.allergens(near) == []
    with pytest.raises(ConflictError):
        await menu.create_family(near, "again", "A")


async def test_the_demo_data_is_laid_out_once(database: PooledDatabase) -> None:
    await seed(database)
    before = [await _all(Menu(database), owner) for owner in (ALICE, BOB)]
    await seed(database)
    assert [await _all(Menu(database), owner) for owner in (ALICE, BOB)] == before
    assert [len(rows) for rows in before[0]] == [1, *(len(FAMILIES[0][part]) for part in ("members", "fridge", "recipes", "plan"))]  # fmt: skip


async def test_two_processes_that_start_at_once_lay_the_demo_data_out_once(database: PooledDatabase) -> None:
    done = await asyncio.gather(*(seed_once(database, app.name, seed) for _ in range(4)))
    assert sorted(done) == [False, False, False, True]
    assert len(await Menu(database).fridge(ALICE)) == len(FAMILIES[0]["fridge"])


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 50])
async def test_pages_of_the_fridge_have_no_gap_and_no_repeat_for_equal_dates(menu: Menu, limit: int) -> None:
    for number in range(9):
        await menu.add_item(ALICE, f"thing {number}", 1, "g", (DAY, DAY, None)[number % 3])
    whole = await menu.fridge(ALICE)
    seen: list[dict[str, Any]] = []
    while page := await menu.fridge(ALICE, limit=limit, after=seen[-1]["id"] if seen else None):
        assert len(page) <= limit
        seen += page
    assert seen == whole
    assert len({row["id"] for row in seen}) == len(FAMILIES[0]["fridge"]) + 9
    days = [row["expires_on"] or date.max for row in seen]
    assert days == sorted(days)


async def test_a_page_after_a_row_that_is_gone_is_not_taken_for_the_end(menu: Menu) -> None:
    first = (await menu.fridge(ALICE, limit=1))[0]["id"]
    await menu.remove_item(ALICE, first)
    with pytest.raises(NotFoundError):
        await menu.fridge(ALICE, after=first)


async def test_pages_of_recipes_have_no_gap_and_no_repeat(menu: Menu) -> None:
    whole, seen = await menu.recipes(ALICE), list[dict[str, Any]]()
    while page := await menu.recipes(ALICE, limit=2, after=seen[-1]["id"] if seen else None):
        seen += page
    assert seen == whole
    assert len(whole) == len(FAMILIES[0]["recipes"])


async def test_recipes_are_found_by_name_ingredient_or_tag_in_any_case_and_not_by_the_names_of_fields(
    menu: Menu,
) -> None:
    await menu.add_recipe(ALICE, RECIPE)

    async def found(*words: str) -> list[str]:
        return [row["name"] for row in await menu.recipes(ALICE, words=words)]

    assert await found("SOUP") == await found("leek") == await found("Quick") == ["Soup"]
    assert await found("amount") == await found("unit") == await found("%") == await found("_") == []
    assert await found("番茄") == ["番茄炒蛋"]
    assert "Soup" not in [row["name"] for row in await menu.recipes(ALICE, without=["celery"])]


async def test_numbers_and_dates_come_back_as_they_went_in(menu: Menu) -> None:
    row = await menu.add_item(ALICE, "rice", 0.1, "kg", date(2028, 2, 29))
    assert isinstance(row["amount"], Decimal)
    assert row["amount"] == Decimal("0.1")
    assert row["expires_on"] == date(2028, 2, 29)
    changed = await menu.change_item(ALICE, row["id"], amount=12345.678)
    assert (changed["amount"], changed["unit"], changed["expires_on"]) == (
        Decimal("12345.678"),
        "kg",
        date(2028, 2, 29),
    )
    recipe = await menu.add_recipe(ALICE, RECIPE)
    assert (recipe["ingredients"], recipe["steps"]) == (RECIPE["ingredients"], ["Boil."])


@pytest.mark.parametrize(
    ("name", "amount", "unit"),
    [("", 1, "g"), ("x" * 61, 1, "g"), ("x", 0, "g"), ("x", -1, "g"), ("x", 100_001, "g"), ("x", 1, ""), ("x", 1, "u" * 21), ("x", float("nan"), "g")],
)  # fmt: skip
async def test_the_database_itself_refuses_what_cannot_be(menu: Menu, name: str, amount: float, unit: str) -> None:
    before = await menu.fridge(ALICE)
    with pytest.raises(InvalidInputError):
        await menu.add_item(ALICE, name, amount, unit, None)
    assert await menu.fridge(ALICE) == before


async def test_names_meals_and_dishes_follow_the_familys_rules(menu: Menu) -> None:
    with pytest.raises(ConflictError):
        await menu.add_member(ALICE, "外婆", [], [])
    with pytest.raises(ConflictError):
        await menu.add_recipe(ALICE, RECIPE | {"name": "番茄炒蛋"})
    with pytest.raises(InvalidInputError):
        await menu.plan_dish(ALICE, DAY, "midnight", "x")
    await menu.plan_dish(ALICE, DAY, "dinner", "x")
    with pytest.raises(ConflictError):
        await menu.plan_dish(ALICE, DAY, "dinner", "x")
    with pytest.raises(InvalidInputError):
        await menu.remove_member(ALICE, (await _ids(menu, ALICE))["login"])


async def test_a_plan_links_the_familys_own_recipe_and_keeps_the_dish_when_it_goes(menu: Menu) -> None:
    entry = await menu.plan_dish(ALICE, DAY, "lunch", "宫保鸡丁")
    foreign = await menu.plan_dish(ALICE, DAY, "lunch", "potato curry")
    recipe = next(row for row in await menu.recipes(ALICE) if row["name"] == "宫保鸡丁")
    assert (entry["recipe_id"], foreign["recipe_id"]) == (recipe["id"], None)
    await menu.remove_recipe(ALICE, recipe["id"])
    assert [(row["dish"], row["recipe_id"]) for row in await menu.plan(ALICE, DAY, 1)] == [("potato curry", None), ("宫保鸡丁", None)]  # fmt: skip


async def test_a_plan_holds_exactly_the_days_asked_for_in_the_order_of_meals(menu: Menu) -> None:
    for days, meal in ((0, "dinner"), (0, "breakfast"), (6, "lunch"), (7, "breakfast"), (-1, "dinner")):
        await menu.plan_dish(ALICE, DAY + timedelta(days=days), meal, "x")
    assert [((row["day"] - DAY).days, row["meal"]) for row in await menu.plan(ALICE, DAY)] == [(0, "breakfast"), (0, "dinner"), (6, "lunch")]  # fmt: skip
    with pytest.raises(InvalidInputError, match="9999-12-31"):
        await menu.plan(ALICE, date.max, 7)
