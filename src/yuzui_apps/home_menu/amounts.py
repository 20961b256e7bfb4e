"""Amounts in a sentence: Arabic and Chinese numerals, units of a kitchen, and what they count."""

import re
from dataclasses import dataclass

_DIGITS = {
    "零": 0,
    "〇": 0,
    "一": 1,
    "二": 2,
    "两": 2,
    "俩": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
}
_UNITS = {"十": 10, "百": 100, "千": 1000}
_WORDS = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
}
_WORDS |= {"ten": 10, "twelve": 12, "half": 0.5, "dozen": 12}

NUMBER = r"(?:\d{1,7}(?:\.\d{1,3})?|半|[一二两俩三四五六七八九十百千]{1,8}半?|a|an|one|two|three|four|five|six|seven|eight|nine|ten|twelve)"
UNIT_ZH = r"(?:公斤|千克|毫升|克|斤|两|升|盒|瓶|袋|包|罐|个|只|条|块|颗|根|把|棵|片|箱|串|碗|杯|份)"
UNIT_EN = r"(?:kilograms?|kg|grams?|g|litres?|liters?|l|millilitres?|milliliters?|ml|boxes|box|bottles?|bags?|cans?|packs?|pieces?|heads?)"


@dataclass(frozen=True, kw_only=True, slots=True)
class Amount:
    """A positive number with its unit as written (`盒`, `boxes`)."""

    number: float
    unit: str


def number_of(text: str) -> float | None:
    """The value of a numeral: `2`, `0.5`, `两`, `十二`, `一百五`, `半`, `two`. None when it is none."""
    text = text.strip().lower()
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    if text in _WORDS:
        return float(_WORDS[text])
    if text == "半":
        return 0.5
    half = text.endswith("半")
    value = _chinese(text[:-1] if half else text)
    return None if value is None else value + (0.5 if half else 0)


def _chinese(text: str) -> float | None:
    if not text or any(sign not in _DIGITS and sign not in _UNITS for sign in text):
        return None
    total, digit, last = 0, 0, 1
    for sign in text:
        if sign in _DIGITS:
            digit = _DIGITS[sign]
        else:
            last = _UNITS[sign]
            total += (digit or 1) * last
            digit = 0
    # 一百五 means 150: a closing digit after 百 or 千 counts in the next lower unit.
    tail = digit * last // 10 if digit and last >= 100 and text[-2:-1] != "零" else digit
    return float(total + tail)


def amount_of(number: str, unit: str | None) -> Amount | None:
    """An amount from its two parts; a missing unit counts pieces."""
    value = number_of(number)
    return None if value is None or value <= 0 else Amount(number=value, unit=(unit or "个").strip())


def written(number: float) -> str:
    """A number without a needless fraction: 2, 0.5."""
    return f"{number:g}"
