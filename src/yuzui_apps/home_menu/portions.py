"""From an amount in words to grams: weights, volumes with a density, pieces with the food's own weight."""

import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from yuzui_apps.home_menu.amounts import NUMBER, number_of

_GRAMS: Final = {
    **dict.fromkeys(("g", "gram", "grams", "克"), 1.0),
    **dict.fromkeys(("kg", "kilo", "kilos", "kilogram", "kilograms", "公斤", "千克"), 1000.0),
    **dict.fromkeys(("lb", "lbs", "pound", "pounds"), 453.6),
    **dict.fromkeys(("oz", "ounce", "ounces"), 28.35),
    **dict.fromkeys(("mg", "毫克"), 0.001),
    "斤": 500.0,
    "两": 50.0,
}
_MILLILITRES: Final = {
    **dict.fromkeys(("ml", "millilitre", "millilitres", "milliliter", "milliliters", "毫升"), 1.0),
    **dict.fromkeys(("l", "litre", "litres", "liter", "liters", "升", "公升"), 1000.0),
    "cl": 10.0,
}
_PIECES: Final = {
    "piece": "个", "pieces": "个", "cup": "杯", "cups": "杯", "bowl": "碗", "bowls": "碗", "box": "盒", "boxes": "盒",
    "slice": "片", "slices": "片", "clove": "瓣", "cloves": "瓣", "bag": "袋", "bags": "袋", "block": "块", "blocks": "块",
    "carton": "盒", "cartons": "盒",
}  # fmt: skip
_SINGLE: Final = frozenset({"个", "只", "颗", "枚", "根"})
_COUNTED: Final = (*_SINGLE, *"盒杯碗片瓣袋块条")
_TRADITIONAL: Final = str.maketrans("兩個隻條塊顆", "两个只条块颗")
_UNITS: Final = sorted((*_GRAMS, *_MILLILITRES, *_PIECES, *_COUNTED), key=len, reverse=True)
_UNIT: Final = "|".join(rf"{unit}(?![a-z])" if unit.isascii() else unit for unit in _UNITS)
_AMOUNT: Final = re.compile(rf"(?P<number>{NUMBER})\s*(?P<unit>{_UNIT})?(?P<half>半)?\s*(?:of |的)?\s*(?P<rest>.*)")
_STATED: Final = rf"{NUMBER}\s*(?:{_UNIT})半?"
_AMOUNT_FIRST: Final = re.compile(rf"(?P<amount>{_STATED})\s*(?:of |的)?\s*(?P<food>\S.*)")
_AMOUNT_LAST: Final = re.compile(rf"(?P<food>.*[^\s\d])\s*(?P<amount>{_STATED})")
_COUNT_FIRST: Final = re.compile(rf"(?P<amount>{NUMBER}\s+(?P<food>[a-z][a-z ]*))")
_NUMBER_LAST: Final = re.compile(r"(?P<food>.*(?:[\u4e00-\u9fff]|\s(?<=\S\s)))\s*(?P<amount>\d{2,}(?:\.\d+)?)")
_HEAVIEST: Final = 100_000.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Portion:
    """An amount in grams. `derived` when a rule beyond the plain weight was needed; `assumption` names it (zh, en)."""

    grams: float
    derived: bool = False
    assumption: tuple[str, str] | None = None


def split(text: str) -> tuple[str, str | None]:
    """A food and the amount that was said with it: 两个鸡蛋, 煎蛋两个, 米饭 150, 2 eggs, 100 g of rice. None when no amount was."""
    said = unicodedata.normalize("NFKC", text).strip().lower().translate(_TRADITIONAL)
    for pattern in (_AMOUNT_FIRST, _AMOUNT_LAST, _COUNT_FIRST, _NUMBER_LAST):
        found = pattern.fullmatch(said)
        if found:
            return found["food"].strip(), found["amount"]
    return text, None


def portion(
    text: str, *, pieces: Mapping[str, float], g_per_ml: float | None = None, known_as: Collection[str] = ()
) -> Portion | None:
    """The portion that a text states for a food; None when it states none, a unit that this food has no weight for, or
    more than 100 kg.

    `pieces` are grams by household unit; `g_per_ml` is a liquid's density (None: no volume is known); `known_as` are the food's names: "2 eggs" counts pieces.
    """
    found = _AMOUNT.search(unicodedata.normalize("NFKC", text).strip().lower().translate(_TRADITIONAL))
    if found is None:
        return None
    number = number_of(found["number"])
    if number is None or number <= 0:
        return None
    if found["half"]:
        number += 0.5
    share = _without_unit(number, found, pieces, known_as) if found["unit"] is None else None
    if found["unit"] is not None:
        share = _with_unit(number, found["unit"], pieces, g_per_ml)
    return share if share is not None and 0 < share.grams <= _HEAVIEST else None


def _without_unit(
    number: float, found: re.Match[str], pieces: Mapping[str, float], known_as: Collection[str]
) -> Portion | None:
    rest = "".join(found["rest"].split())
    if rest and rest in {"".join(known.lower().split()) for known in known_as}:
        return _counted(number, "个", pieces)
    if rest or found["half"]:
        return None
    return Portion(grams=number, derived=True, assumption=("没有单位，按克计算", "no unit was given, taken as grams"))


def _with_unit(number: float, unit: str, pieces: Mapping[str, float], g_per_ml: float | None) -> Portion | None:
    if unit in _GRAMS:
        return Portion(grams=number * _GRAMS[unit])
    if unit in _MILLILITRES:
        if g_per_ml is None:
            return None
        note = (f"按密度 {g_per_ml:g} 克/毫升换算", f"converted with a density of {g_per_ml:g} g/ml")
        return Portion(grams=number * _MILLILITRES[unit] * g_per_ml, derived=True, assumption=note)
    return _counted(number, _PIECES.get(unit, unit), pieces)


def _counted(number: float, unit: str, pieces: Mapping[str, float]) -> Portion | None:
    """Pieces by their weight; single things (个, 只, 颗) stand for each other when the food has just one of them."""
    held = [pieces[other] for other in sorted(_SINGLE) if other in pieces] if unit in _SINGLE else []
    weight = pieces.get(unit) or next(iter(held), None)
    if weight is None:
        return None
    english = next((word for word, sign in _PIECES.items() if sign == unit), "piece")
    note = (f"每{unit}按 {weight:g} 克计算", f"one {english} counted as {weight:g} g")
    return Portion(grams=number * weight, derived=True, assumption=note)
