"""Amounts in a sentence: Arabic and Chinese numerals, units of a kitchen, and what they count."""

import re
from dataclasses import dataclass
from typing import Final

_DIGITS: Final = {
    **{sign: value for value, sign in enumerate("零一二三四五六七八九")},
    "〇": 0,
    **dict.fromkeys("两兩俩倆", 2),
}
_WORDS: Final[dict[str, float]] = {
    **{
        word: float(value)
        for value, word in enumerate(
            ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], start=1
        )
    },
    **dict.fromkeys(("a", "an"), 1.0),
    **dict.fromkeys(("半", "一半", "half", "half a", "half an"), 0.5),
    "half a dozen": 6.0,
    **dict.fromkeys(("dozen", "a dozen", "one dozen"), 12.0),
}

# 两 leads (两百) and stands alone, but never closes: 三两 is three liang, not thirty-two.
_LEAD: Final = "[一二两兩俩倆三四五六七八九]"
_D: Final = "[一二三四五六七八九]"
_CLOSE: Final = rf"(?P<ten>[零〇]?{_D}?十)?(?P<gap>[零〇])?(?P<one>{_D})?"
_CHINESE: Final = re.compile(
    rf"(?:(?P<thousand>{_LEAD})千(?:[零〇]?(?P<of_it>{_D})百)?|(?P<hundred>{_LEAD})百)?{_CLOSE}"
)
_NUMERAL: Final = "|".join(
    (
        rf"{_LEAD}千(?:[零〇]?{_D}百)?(?:[零〇]?{_D}?十)?(?:[零〇]?{_D})?",
        rf"{_LEAD}百(?:[零〇]?{_D}?十)?(?:[零〇]?{_D})?",
        rf"{_D}?十{_D}?",
        _LEAD,
    )
)
_ARABIC: Final = r"\d{1,2}[/⁄]\d{1,2}|\d{1,3}(?:,\d{3}){1,2}(?:\.\d{1,3})?|\d{1,7}(?:\.\d{1,3})?"
_ENGLISH: Final = (
    "(?:half a |a |one )?dozen|half(?: an?)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|an?"
)

NUMBER: Final = (
    rf"(?:(?<![\d.,/⁄第-])(?:{_ARABIC})(?![\d/⁄]|[.,-]\d)|(?<![零〇一二两兩三四五六七八九十百千第])(?:一?半|{_NUMERAL})"
    rf"|(?<![a-z])(?:{_ENGLISH})(?![a-z]))"
)
UNIT_ZH: Final = "(?:公斤|千克|毫升|公升|克|斤|两|兩|升|盒|瓶|袋|包|罐|听|个|個|只|隻|条|條|块|塊|颗|顆|枚|根|把|棵|片|箱|桶|串|碗|杯|份|捆|头|朵|瓣)"
UNIT_EN: Final = (
    "(?:(?:kilograms?|kilos?|kg|grams?|g|litres?|liters?|l|millilitres?|milliliters?|ml|pounds?|lbs?|ounces?|oz|boxes|box"
    "|bottles?|bags?|cans?|jars?|cartons?|packs?|packets?|cups?|slices?|pieces?|heads?|bunch(?:es)?)(?![a-z]))"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Amount:
    """A positive number with its unit as written (`盒`, `boxes`)."""

    number: float
    unit: str


def number_of(text: str) -> float | None:
    """The value of a numeral: `2`, `1,500`, `1/2`, `两`, `十二`, `一百五` (150), `半`, `两个半`, `two`. None when it is none."""
    text = " ".join(text.lower().split())
    if text in _WORDS:
        return _WORDS[text]
    if re.fullmatch(_ARABIC, text):
        over, _, under = text.replace(",", "").replace("⁄", "/").partition("/")
        return float(over) / float(under) if under and float(under) else None if under else float(over)
    if len(text) > 2 and text[-1] == "半" and text[-2] in "个個":
        whole = number_of(text[:-2])
        return None if whole is None or whole != int(whole) else whole + 0.5
    return _chinese(text)


def _chinese(text: str) -> float | None:
    if text in _DIGITS:
        return float(_DIGITS[text])
    found = _CHINESE.fullmatch(text)
    if not text or found is None:
        return None
    part = {name: value for name, value in found.groupdict().items() if value}
    if "gap" in part and ("one" not in part or not part.keys() & {"thousand", "hundred"}):
        return None
    value = 1000 * _digit(part.get("thousand")) + 100 * _digit(part.get("hundred") or part.get("of_it"))
    if "ten" in part:
        value += 10 * (_digit(part["ten"].lstrip("零〇")[:-1]) or 1)
    # 一百五 means 150: a closing digit right after 百 or 千 counts in the next lower unit.
    scale = 1
    if "ten" not in part and "gap" not in part:
        scale = 10 if part.keys() & {"hundred", "of_it"} else 100 if "thousand" in part else 1
    return float(value + _digit(part.get("one")) * scale)


def _digit(sign: str | None) -> int:
    return _DIGITS[sign] if sign else 0


def amount_of(number: str, unit: str | None, *, and_half: bool = False) -> Amount | None:
    """An amount from its parts; a missing unit counts pieces, `and_half` is the 半 of 两斤半. None unless it is positive."""
    value = number_of(number)
    if value is None or value <= 0:
        return None
    return Amount(number=value + (0.5 if and_half else 0.0), unit=(unit or "个").strip())


def written(number: float) -> str:
    """A number without a needless fraction or exponent: 2, 0.5, 12345.678."""
    return f"{number:.6f}".rstrip("0").rstrip(".")
