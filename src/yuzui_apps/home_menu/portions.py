"""From an amount in words to grams: weights, volumes with a density, pieces with the food's own weight."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from yuzui_apps.home_menu.amounts import NUMBER, number_of

_GRAMS = {
    "g": 1.0, "gram": 1.0, "grams": 1.0, "克": 1.0, "kg": 1000.0, "公斤": 1000.0, "千克": 1000.0, "kilogram": 1000.0,
    "kilograms": 1000.0, "斤": 500.0, "两": 50.0, "mg": 0.001, "毫克": 0.001,
}  # fmt: skip
_MILLILITRES = {"ml": 1.0, "毫升": 1.0, "l": 1000.0, "升": 1000.0, "litre": 1000.0, "liter": 1000.0, "cl": 10.0}
_PIECES = {
    "piece": "个", "pieces": "个", "cup": "杯", "cups": "杯", "bowl": "碗", "bowls": "碗", "box": "盒", "boxes": "盒",
    "slice": "片", "slices": "片", "clove": "瓣", "cloves": "瓣", "bag": "袋", "bags": "袋", "block": "块", "blocks": "块",
}  # fmt: skip
# Grams per millilitre, published for liquids that a kitchen measures by volume; whole milk 1.03, honey 1.42, oils 0.92.
_DENSITY = {
    "牛乳": 1.03,
    "酸奶": 1.03,
    "豆浆": 1.02,
    "可乐": 1.04,
    "啤酒": 1.01,
    "酱油": 1.15,
    "醋": 1.01,
    "蜂蜜": 1.42,
    "油": 0.92,
}
_UNITS = sorted(
    [*_GRAMS, *_MILLILITRES, *_PIECES, "个", "只", "颗", "根", "盒", "杯", "碗", "片", "瓣", "袋", "块", "枚"],
    key=len,
    reverse=True,
)
_AMOUNT = re.compile(rf"(?P<number>{NUMBER})\s*(?P<unit>{'|'.join(map(re.escape, _UNITS))})?", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Portion:
    """An amount in grams. `derived` when a rule beyond the plain weight was needed; `assumption` names it (zh, en)."""

    grams: float
    derived: bool = False
    assumption: tuple[str, str] | None = None


def portion(text: str, *, name: str, pieces: Mapping[str, float]) -> Portion | None:
    """The portion that a text states for a food; None when it states none, or a unit that this food has no weight for."""
    found = _AMOUNT.search(unicodedata.normalize("NFKC", text).strip().lower())
    if found is None:
        return None
    number = number_of(found["number"])
    if number is None or number <= 0:
        return None
    unit = found["unit"]
    if unit is None:
        return Portion(
            grams=number, derived=True, assumption=("没有单位，按克计算", "no unit was given, taken as grams")
        )
    if unit in _GRAMS:
        return Portion(grams=number * _GRAMS[unit])
    if unit in _MILLILITRES:
        density = next((value for word, value in _DENSITY.items() if word in name), None)
        if density is None:
            return None
        note = (f"按密度 {density:g} 克/毫升换算", f"converted with a density of {density:g} g/ml")
        return Portion(grams=number * _MILLILITRES[unit] * density, derived=True, assumption=note)
    weight = pieces.get(_PIECES.get(unit, unit)) or (pieces.get("个") if unit in ("只", "颗", "枚") else None)
    if weight is None:
        return None
    note = (f"每{_PIECES.get(unit, unit)}按 {weight:g} 克计算", f"one {unit} counted as {weight:g} g")
    return Portion(grams=number * weight, derived=True, assumption=note)
