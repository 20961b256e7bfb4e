"""From a rule's captured words to a tool's arguments; None when the words do not hold what is needed."""

from collections.abc import Mapping
from typing import Any

from yuzui import Ctx
from yuzui_apps.home_menu.amounts import amount_of
from yuzui_apps.home_menu.services import Menu


def item_arguments(slots: Mapping[str, str], ctx: Ctx[Menu]) -> dict[str, Any] | None:
    """`{number}{unit}{half}{name}` of something to put into the fridge."""
    amount = amount_of(slots.get("number", ""), slots.get("unit"), and_half="half" in slots)
    name = slots.get("name", "").strip().removeprefix("的").strip()
    if amount is None or not name:
        return None
    unit = amount.unit if slots.get("unit") or ctx.caller.locale == "zh" else "pieces"
    return {"name": name, "amount": amount.number, "unit": unit}


def recipe_arguments(slots: Mapping[str, str]) -> dict[str, Any]:
    """The dish somebody asks for, whatever the allergies: the text says what was left out when it is listed."""
    return {"query": slots.get("query", "").strip(), "safe_for_all": False}


def nutrition_arguments(slots: Mapping[str, str]) -> dict[str, Any]:
    """The food and the amount, when one was said."""
    arguments = {"food": slots.get("food", "").strip()}
    if slots.get("amount"):
        arguments["amount"] = slots["amount"]
    return arguments
