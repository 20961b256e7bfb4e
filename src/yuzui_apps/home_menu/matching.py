"""Which entry of a food table a word means (R-PROV-02, document 1's last chapter).

The shortest name is no criterion: "pork" once met pure fat. An entry for the whole food (代表值, 肥瘦) comes first, then a
stable order of names, so the order in which a server answers never matters.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, cast

MatchKind: TypeAlias = Literal["exact", "derived"]
_SIMPLE: Final = str.maketrans(
    "雞豬馬鈴麵魚蝦蘋鴨蔥薑黃綠紅鹹鹽醬醃腸幹麥雜蠔鮮貝鴿羅蔔絲湯飯餅乾蘿滷燒條餃筍蓮漿鵪鶉鱸帶對饅頭檸藍優蠶臘鵝鱈鯉薺雲爐燉雙凍絞歐龍燴",
    "鸡猪马铃面鱼虾苹鸭葱姜黄绿红咸盐酱腌肠干麦杂蚝鲜贝鸽罗卜丝汤饭饼干萝卤烧条饺笋莲浆鹌鹑鲈带对馒头柠蓝优蚕腊鹅鳕鲤荠云炉炖双冻绞欧龙烩",
)
_SAME: Final = {
    "土豆": "马铃薯", "洋芋": "马铃薯", "西红柿": "番茄", "圆白菜": "甘蓝", "卷心菜": "甘蓝", "包菜": "甘蓝", "地瓜": "甘薯",
    "红薯": "甘薯", "绿菜花": "西兰花", "花椰菜": "菜花", "蛋": "鸡蛋", "生抽": "酱油", "鲜奶": "牛奶", "皮蛋": "松花蛋",
    "蛋白": "鸡蛋白",
}  # fmt: skip
_METHODS: Final = (
    "红烧",
    "清蒸",
    "水煮",
    "油炸",
    "白灼",
    "糖醋",
    "清炒",
    "煎",
    "炒",
    "煮",
    "蒸",
    "炸",
    "烤",
    "卤",
    "炖",
)
_SWEETS: Final = frozenset({"零食", "糖果", "饮料", "甜食", "candy", "confectionery", "sweets", "snacks", "beverages"})
_BASE: Final = re.compile(r"[（(].*$")
# Names that end like a food and are none of it: their figures lie far apart.
_FALSE_FRIENDS: Final = re.compile(
    r"(?:鱼|日本|玉子|杏仁|千叶|魔芋|米|花生)豆腐$|(?:椰子|燕麦|杏仁|植物|巧克力)(?:牛奶|黄油|酸奶)$|奶油南瓜$"
)
# In English the words before the last one may name another food (peanut butter, oat milk, pineapple): only these may not.
_PLAIN: Final = frozenset(
    [
        "a",
        "an",
        "the",
        "some",
        "of",
        "fresh",
        "raw",
        "boiled",
        "fried",
        "grilled",
        "roasted",
        "baked",
        "steamed",
        "cooked",
        "chopped",
        "sliced",
        "diced",
        "minced",
        "frozen",
        "organic",
        "large",
        "small",
        "medium",
        "big",
        "red",
        "green",
        "white",
        "brown",
        "ripe",
        "young",
        "plain",
        "whole",
    ]
)
_PURE_FAT: Final = re.compile(r"\((?:纯)?肥(?!瘦)")
# What 100 g can hold at most: pure fat has about 900 kcal, pure salt 39.3 g of sodium.
_MOST: Final = {"kcal": 905.0, "protein_g": 100.0, "fat_g": 100.0, "carbohydrate_g": 100.0, "sodium_mg": 40_000.0}
_LONGEST: Final = 100
_PER_100_G: Final = re.compile(r"(?:per|每|/)?100(?:g|grams?|克)")
_STATES: Final = {"raw": 0, "cooked": 1, "dried": 3}


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One candidate, figures per 100 g of edible portion; `g_per_ml` is the density of a liquid."""

    name: str
    aliases: tuple[str, ...]
    category: str
    state: str
    figures: Mapping[str, float]
    pieces: Mapping[str, float]
    source: str
    g_per_ml: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Match:
    """The entry that was meant: `exact` when the word names it, `derived` when a rule led to it; `note` says which rule."""

    entry: Entry
    kind: MatchKind
    note: str = ""


def plain(text: str) -> str:
    """NFKC, simplified characters, lower case, single spaces: what is asked of a server."""
    return " ".join(unicodedata.normalize("NFKC", text).translate(_SIMPLE).lower().split())


def folded(text: str) -> str:
    """`plain` without white space: the form in which names are compared."""
    return plain(text).replace(" ", "")


def entry_of(raw: Mapping[str, Any]) -> Entry | None:
    """An entry from a server's row; None when its figures are not per 100 g (a serving is no unit) or cannot be true.

    Only the fields named here are read: whatever else a row claims about itself (say, a provenance) is dropped.
    """
    name = raw.get("name")
    if not _PER_100_G.fullmatch(folded(str(raw.get("per", "")))) or not isinstance(name, str) or not name.strip():
        return None
    figures: dict[str, float] = {}
    for figure, most in _MOST.items():
        value = _number(raw.get(figure))
        if value is not None and 0 <= value <= most:
            figures[figure] = value
    if "kcal" not in figures:
        return None
    weights = {unit: _number(grams) for unit, grams in _mapping(raw.get("pieces")).items()}
    density = _number(raw.get("g_per_ml"))
    held: object = raw.get("aliases")
    aliases = cast("list[object]", held) if isinstance(held, list) else []
    return Entry(
        name=name.strip()[:_LONGEST],
        aliases=tuple(str(alias)[:_LONGEST] for alias in aliases),
        category=str(raw.get("category", ""))[:_LONGEST],
        state=str(raw.get("state", ""))[:_LONGEST],
        figures=figures,
        pieces={unit: grams for unit, grams in weights.items() if grams is not None and 0 < grams < 1e5},
        source=str(raw.get("source", ""))[:_LONGEST],
        g_per_ml=density if density is not None and 0.5 < density < 2.0 else None,
    )


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e9 else None


def _mapping(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def best(word: str, entries: Iterable[Entry]) -> Match | None:
    """The entry that a word means, whatever the order of the entries; None when nothing is close enough to be honest."""
    wanted = folded(word)
    held = sorted(entries, key=_stable)
    names = (wanted, _SAME.get(wanted, wanted))
    # A sweet may be listed under a dish's name; asked for the dish, nobody means the sweet.
    cooked = wanted.startswith(_METHODS)
    meant = [entry for entry in held if not (cooked and entry.category in _SWEETS and _base(entry) != wanted)]
    named = [entry for entry in meant if any(name in _names(entry) for name in names)]
    if named:
        return Match(entry=named[0], kind="exact")
    based = [entry for entry in held if _base(entry) in names]
    if based:
        whole = _representative(based[0])
        return Match(entry=based[0], kind="exact" if whole else "derived", note="" if whole else f"→ {based[0].name}")
    return _by_method(wanted, held) or _by_main_part(plain(word), held)


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


def _by_main_part(word: str, held: list[Entry]) -> Match | None:
    """The longest known name at the end of the word: in Chinese and English the main food comes last."""
    if _FALSE_FRIENDS.search(word):
        return None
    found = [(size, entry) for entry in held if entry.category not in _SWEETS and (size := _tail(word, entry))]
    if not found:
        return None
    longest = max(size for size, _ in found)
    entry = next(entry for size, entry in found if size == longest)
    return Match(entry=entry, kind="derived", note=f"→ {entry.name}")


def _tail(word: str, entry: Entry) -> int:
    """How many characters of the word's end are a name of the entry, 0 when what stands before names another food."""
    longest = 0
    for name in {plain(entry.name), _base(entry), *map(plain, entry.aliases)}:
        if len(name) < 2 or len(name) <= longest or not word.endswith(name):
            continue
        before = word.removesuffix(name)
        if not name.isascii() or (before.endswith(" ") and _PLAIN.issuperset(before.split())):
            longest = len(name)
    return longest


def _names(entry: Entry) -> set[str]:
    return {folded(entry.name), *(folded(alias) for alias in entry.aliases)}


def _base(entry: Entry) -> str:
    """The name without its remark; the fat alone stands for no meat: pork is never pure fat, even where nothing else is listed."""
    whole = folded(entry.name)
    return whole if _PURE_FAT.search(whole) else folded(_BASE.sub("", entry.name))


def _representative(entry: Entry) -> bool:
    return "代表值" in entry.name or "肥瘦" in entry.name


def _dryness(entry: Entry) -> int:
    """Fresh comes before dried, whose figures per 100 g are several times as high; a row without a state says it in its remark."""
    remark = folded(entry.name).removeprefix(folded(_BASE.sub("", entry.name)))
    return _STATES.get(entry.state.lower(), 3 if "干" in remark else 2)


def _stable(entry: Entry) -> tuple[bool, int, str, str, str, str]:
    """A total order: what a server sends first never matters, not even among rows of one name."""
    figures = repr((sorted(entry.figures.items()), sorted(entry.pieces.items()), entry.category, entry.aliases))
    return (not _representative(entry), _dryness(entry), entry.name, entry.state, entry.source, figures)
