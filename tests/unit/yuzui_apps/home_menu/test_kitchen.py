"""Safety by code: an answer that names an allergen of the family carries a warning, whatever a model wrote."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest

from yuzui import Ctx
from yuzui.owner import Caller, Locale, Owner
from yuzui.testing.harness import NoDatabase
from yuzui_apps.home_menu.kitchen import NewItem, add_summary, allergy_note
from yuzui_apps.home_menu.services import Menu


class Family:
    """Two members, one of them allergic to peanuts."""

    async def members(self, owner: Owner) -> list[dict[str, Any]]:
        return [{"name": "豆豆", "allergies": ["花生"]}, {"name": "Mia", "allergies": ["Milk"]}]


@pytest.mark.parametrize(
    ("locale", "answer", "note"),
    [
        ("zh", "今晚吃花生酱拌面", "⚠️ 过敏提醒（由程序核对）：豆豆对花生过敏。"),
        ("en", "mashed potatoes with warm milk", "⚠️ Allergy check (by code): Mia is allergic to Milk."),
        ("zh", "番茄炒蛋，十五分钟", None),
        ("zh", "豆豆对花生过敏，所以不放花生，做番茄炒蛋。", None),
        ("zh", "豆豆对花生过敏，做宫保鸡丁，最后下花生米。", "⚠️ 过敏提醒（由程序核对）：豆豆对花生过敏。"),
        ("en", "Mia is allergic to milk, so mash them without milk.", None),
        (
            "en",
            "No milk for Mia, but a splash of milk makes it smooth.",
            "⚠️ Allergy check (by code): Mia is allergic to Milk.",
        ),
    ],
)
async def test_an_answer_that_names_an_allergen_carries_a_warning(
    locale: Locale, answer: str, note: str | None
) -> None:
    caller = Caller(owner=Owner(tenant="family-a", user="alice"), name="Alice", locale=locale)
    ctx = Ctx(caller=caller, deps=cast("Menu", Family()), db=NoDatabase(), now=datetime.now(UTC))
    assert await allergy_note(ctx, answer) == note


@pytest.mark.parametrize(
    ("unit", "name", "summary"),
    [
        ("boxes", "milk", "put into the fridge: 2 boxes of milk"),
        ("pieces", "eggs", "put into the fridge: 2 eggs"),
    ],
)
async def test_what_is_put_into_the_fridge_reads_as_english(unit: str, name: str, summary: str) -> None:
    caller = Caller(owner=Owner(tenant="family-a", user="alice"), name="Alice", locale="en")
    ctx = Ctx(caller=caller, deps=cast("Menu", Family()), db=NoDatabase(), now=datetime.now(UTC))
    arguments = cast("NewItem", SimpleNamespace(name=name, amount=2.0, unit=unit, expires_on=None))
    assert add_summary(ctx, arguments) == summary
