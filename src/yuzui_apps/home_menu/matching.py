"""Which entry of a food table a word means (R-PROV-02, document 1's last chapter).

The shortest name is no criterion: "pork" once met pure fat. An entry for the whole food (代表值, 肥瘦) comes first, then a
stable order of names, so the order in which a server answers never matters.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

MatchKind = Literal["exact", "derived"]
_SIMPLE = str.maketrans(
    "雞豬馬鈴麵魚蝦蘋鴨蔥薑黃綠紅鹹鹽醬醃腸幹麥雜蠔鮮貝鴿羅蔔絲湯飯餅乾糖蘿滷燒條餃",
    "鸡猪马铃面鱼虾苹鸭葱姜黄绿红咸盐酱腌肠干麦杂蚝鲜贝鸽罗卜丝汤饭饼干糖萝卤烧条饺",
)
_SAME = {
    "土豆": "马铃薯", "洋芋": "马铃薯", "西红柿": "番茄", "圆白菜": "甘蓝", "卷心菜": "甘蓝", "包菜": "甘蓝", "地瓜": "甘薯",
    "红薯": "甘薯", "绿菜花": "西兰花", "花椰菜": "菜花", "蛋": "鸡蛋", "生抽": "酱油", "鲜奶": "牛奶", "皮蛋": "松花蛋",
}  # fmt: skip
_METHODS = ("红烧", "清蒸", "水煮", "油炸", "白灼", "糖醋", "清炒", "煎", "炒", "煮", "蒸", "炸", "烤", "卤", "炖")
_SWEETS = frozenset({"零食", "糖果", "饮料"})
_BASE = re.compile(r"[（(].*$")


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One candidate, figures per 100 g of edible portion."""

    name: str
    aliases: tuple[str, ...]
    category: str
    state: str
    figures: Mapping[str, float]
    pieces: Mapping[str, float]
    source: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Match:
    """The entry that was meant: `exact` when the word names it, `derived` when a rule led to it; `note` says which rule."""

    entry: Entry
    kind: MatchKind
    note: str = ""


def folded(text: str) -> str:
    """NFKC, simplified characters, lower case, no white space."""
    return "".join(unicodedata.normalize("NFKC", text).translate(_SIMPLE).lower().split())


def entry_of(raw: Mapping[str, Any]) -> Entry | None:
    """An entry from a server's row; None when its figures are not per 100 g (a serving is no unit) or are no numbers."""
    if folded(str(raw.get("per", ""))) not in {"100g", "100克"}:
        return None
    figures: dict[str, float] = {}
    for name in ("kcal", "protein_g", "fat_g", "carbohydrate_g", "sodium_mg"):
        value = raw.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e5:
            figures[name] = float(value)
    if "kcal" not in figures or not raw.get("name"):
        return None
    pieces = raw.get("pieces") or {}
    return Entry(
        name=str(raw["name"]),
        aliases=tuple(str(alias) for alias in raw.get("aliases") or ()),
        category=str(raw.get("category", "")),
        state=str(raw.get("state", "")),
        figures=figures,
        pieces={str(unit): float(grams) for unit, grams in pieces.items() if isinstance(grams, int | float)},
        source=str(raw.get("source", "")),
    )


def best(word: str, entries: Iterable[Entry]) -> Match | None:
    """The entry that a word means, whatever the order of the entries; None when nothing is close enough to be honest."""
    wanted = folded(word)
    held = sorted(entries, key=_stable)
    names = (wanted, _SAME.get(wanted, wanted))
    named = [entry for entry in held if any(name in _names(entry) for name in names)]
    if named:
        return Match(entry=named[0], kind="exact")
    based = [entry for entry in held if _base(entry) in names]
    if based:
        return Match(entry=based[0], kind="exact")
    return _by_method(wanted, held) or _by_main_part(wanted, held)


def _by_method(wanted: str, held: list[Entry]) -> Match | None:
    """煎蛋 is an egg, fried: the main food by its name, the way of cooking by the entry's own remark."""
    for method in _METHODS:
        if not wanted.startswith(method) or len(wanted) <= len(method):
            continue
        rest = wanted[len(method) :]
        names = {rest, _SAME.get(rest, rest)}
        fitting = [e for e in held if (_base(e) in names or names & _names(e)) and e.category not in _SWEETS]
        cooked = [e for e in fitting if method[-1] in e.name.removeprefix(_BASE.sub("", e.name))]
        if cooked:
            return Match(entry=cooked[0], kind="derived", note=f"{method} → {cooked[0].name}")
        if fitting:
            return Match(entry=fitting[0], kind="derived", note=f"{method}: {fitting[0].name}")
    return None


def _by_main_part(wanted: str, held: list[Entry]) -> Match | None:
    """The longest known name at the end of the word: in Chinese and English the main food comes last."""
    found: list[tuple[int, Entry]] = []
    for entry in held:
        if entry.category in _SWEETS:
            continue
        lengths = [len(name) for name in {*_names(entry), _base(entry)} if len(name) > 1 and wanted.endswith(name)]
        if lengths:
            found.append((max(lengths), entry))
    if not found:
        return None
    longest = max(length for length, _ in found)
    entry = next(entry for length, entry in found if length == longest)
    return Match(entry=entry, kind="derived", note=f"→ {entry.name}")


def _names(entry: Entry) -> set[str]:
    return {folded(entry.name), *(folded(alias) for alias in entry.aliases)}


def _base(entry: Entry) -> str:
    return folded(_BASE.sub("", entry.name))


def _stable(entry: Entry) -> tuple[bool, str]:
    return ("代表值" not in entry.name and "肥瘦" not in entry.name, entry.name)
