"""Safety by code: an answer that names an allergen of the family carries a warning, whatever a model wrote."""

from datetime import UTC, datetime
from typing import Any, cast

import pytest

from yuzui import Ctx
from yuzui.owner import Caller, Locale, Owner
from yuzui.testing.harness import NoDatabase
from yuzui_apps.home_menu.kitchen import allergy_note
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
    ],
)
async def test_an_answer_that_names_an_allergen_carries_a_warning(
    locale: Locale, answer: str, note: str | None
) -> None:
    caller = Caller(owner=Owner(tenant="family-a", user="alice"), name="Alice", locale=locale)
    ctx = Ctx(caller=caller, deps=cast("Menu", Family()), db=NoDatabase(), now=datetime.now(UTC))
    assert await allergy_note(ctx, answer) == note
