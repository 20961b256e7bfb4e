"""Nutrition of a food: figures from the food server, stamped by the code that produced them (PROV, document 1 §5)."""

import json
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, cast

from pydantic import BaseModel

from yuzui import Card, Ctx, McpUnavailableError, Provenance, ProvenanceNote, ToolError, ToolResult
from yuzui_apps.home_menu.amounts import written
from yuzui_apps.home_menu.matching import Entry, Match, best, entry_of, folded, plain
from yuzui_apps.home_menu.portions import Portion, portion, split
from yuzui_apps.home_menu.services import Menu

SERVER: Final = "food-composition"
# Bumped whenever matching or the shape of an entry changes: an old cache then never answers for new rules (R-PROV-03).
CACHE_FORMAT: Final = 4
WHOLE: Final = "100克"  # what every figure refers to unless an amount is said
_LABELS = {
    "kcal": ("能量", "energy", "kcal"),
    "protein_g": ("蛋白质", "protein", "g"),
    "fat_g": ("脂肪", "fat", "g"),
    "carbohydrate_g": ("碳水化合物", "carbohydrate", "g"),
    "sodium_mg": ("钠", "sodium", "mg"),
}


def cache_key(food: str) -> str:
    """The key of a look-up, with the format's version."""
    return f"nutrition:v{CACHE_FORMAT}:{folded(food)}"


@dataclass(kw_only=True, slots=True)
class Cache:
    """Recent look-ups of this process: at most `size`, each for `ttl_s` seconds. Food tables hold nothing personal."""

    size: int = 512
    ttl_s: float = 3600.0
    clock: Callable[[], float] = time.monotonic
    _held: OrderedDict[str, tuple[float, tuple[Entry, ...]]] = field(
        default_factory=OrderedDict[str, tuple[float, tuple[Entry, ...]]]
    )

    def get(self, key: str) -> tuple[Entry, ...] | None:
        """The entries, unless they are too old."""
        held = self._held.get(key)
        if held is None or self.clock() - held[0] > self.ttl_s:
            return None
        self._held.move_to_end(key)
        return held[1]

    def put(self, key: str, entries: tuple[Entry, ...]) -> None:
        """Keep entries; the least recently used go when it is full."""
        self._held[key] = (self.clock(), entries)
        self._held.move_to_end(key)
        while len(self._held) > self.size:
            self._held.popitem(last=False)


_CACHE = Cache()


async def answer_for(ctx: Ctx[Menu], food: str, amount: str) -> ToolResult:
    """Figures of an amount of a food. `ToolError` when the server is down, the food unknown or the amount unclear:
    a missing figure is said, never filled (R-DEG-02).
    """
    zh = ctx.caller.locale == "zh"
    food, stated = split(food)
    if stated is not None and amount == WHOLE:
        amount = stated
    match = best(food, await _entries(ctx, food))
    if match is None:
        estimated = await _estimated(ctx, food, amount)
        if estimated is not None:
            return estimated
        raise ToolError(f"食物成分表中没有“{food}”。" if zh else f"The food table has no {food!r}.")
    entry = match.entry
    names = (food, plain(food), entry.name, *entry.aliases)
    share = portion(amount, pieces=entry.pieces, g_per_ml=entry.g_per_ml, known_as=names)
    if share is None:
        text = (
            f"无法把“{amount}”换算成克，请用克或公斤。"
            if zh
            else f"{amount!r} cannot be converted to grams; use grams."
        )
        raise ToolError(text)
    return _result(ctx, food, match, share)


async def _entries(ctx: Ctx[Menu], food: str) -> tuple[Entry, ...]:
    key = cache_key(food)
    held = _CACHE.get(key)
    if held is not None:
        return held
    zh = ctx.caller.locale == "zh"
    if ctx.servers is None:
        raise ToolError("没有配置食物成分服务。" if zh else "No food server is configured.")
    try:
        result = await ctx.servers(SERVER).call("lookup_food", {"name": plain(food), "limit": 30})
    except McpUnavailableError as error:
        text = (
            "食物成分服务暂时不可用，没有可核对的数据。"
            if zh
            else "The food server is not available; there is no checked figure."
        )
        raise ToolError(text, transient=True) from error
    rows = _rows(result.structured, result.text)
    if rows is None:
        raise ToolError("食物成分服务的回答无法读取。" if zh else "The answer of the food server cannot be read.")
    entries = tuple(entry for entry in map(entry_of, rows) if entry is not None)
    if entries:  # a miss is asked again: a server that has just started may not have its table yet
        _CACHE.put(key, entries)
    return entries


def _rows(structured: object, text: str) -> list[Mapping[str, Any]] | None:
    """The rows of a server's answer, structured or as JSON text; None when it is neither."""
    try:
        answer = _Answer.model_validate(structured or json.loads(text))
    except ValueError:
        return None
    foods = answer.foods if answer.foods is not None else answer.result.foods if answer.result else None
    return None if foods is None else [cast("dict[str, Any]", row) for row in foods if isinstance(row, dict)]


class _Foods(BaseModel):
    """What a look-up answers with."""

    foods: list[object] | None = None


class _Answer(_Foods):
    """The same, or wrapped as some servers do."""

    result: _Foods | None = None


def _result(ctx: Ctx[Menu], food: str, match: Match, share: Portion) -> ToolResult:
    provenance: Provenance = "mcp_exact" if match.kind == "exact" and not share.derived else "mcp_derived"
    side = 0 if ctx.caller.locale == "zh" else 1
    assumptions = [share.assumption[side]] if share.assumption else []
    if match.note:
        assumptions.append(match.note)
    entry = match.entry
    figures = {name: round(value * share.grams / 100, 1) for name, value in entry.figures.items()}
    return _told(ctx, food, entry.name, share.grams, figures, provenance, entry.source, assumptions, entry.state)


def _told(  # noqa: PLR0913, PLR0917  the parts of one answer, made in one place
    ctx: Ctx[Menu],
    food: str,
    matched: str,
    grams: float,
    figures: dict[str, float],
    provenance: Provenance,
    source: str,
    assumptions: list[str],
    state: str = "",
) -> ToolResult:
    side = 0 if ctx.caller.locale == "zh" else 1
    value = {
        "food": food,
        "matched": matched,
        "state": state,
        "grams": round(grams, 1),
        **figures,
        "provenance": provenance,
        "source": source,
        "assumptions": assumptions,
    }
    fields = tuple(
        (label[side], f"{written(figures[name])} {label[2]}") for name, label in _LABELS.items() if name in figures
    )
    card = Card(
        kind="nutrition", title=f"{matched} {written(round(grams, 1))} g", fields=fields, items=tuple(assumptions)
    )
    note = ProvenanceNote(subject=matched, provenance=provenance, source=source)
    return ToolResult(value=value, cards=(card,), provenance=(note,))


async def _estimated(ctx: Ctx[Menu], food: str, amount: str) -> ToolResult | None:
    """A model's estimate, labelled as one whatever the model says about it; None without a model or a sane figure."""
    share = portion(amount, pieces={})
    if ctx.estimate is None or share is None:
        return None
    reply = await ctx.estimate(
        f'Estimate the energy of {food!r} per 100 g edible portion. Answer only {{"kcal": NUMBER}}.'
    )
    try:
        kcal = float(json.loads(reply or "")["kcal"])
    except (ValueError, TypeError, KeyError):
        return None
    if not 0 <= kcal <= 900:
        return None
    side = 0 if ctx.caller.locale == "zh" else 1
    note = ("模型估算，未经核对", "a model's estimate, not checked")[side]
    figures = {"kcal": round(kcal * share.grams / 100, 1)}
    return _told(ctx, food, food, share.grams, figures, "llm_estimate", "model", [note])


def nutrition_text(value: Any, locale: Literal["zh", "en"]) -> str:
    """The figures in words, with their source."""
    side = 0 if locale == "zh" else 1
    parts = [f"{label[side]} {written(value[name])} {label[2]}" for name, label in _LABELS.items() if name in value]
    head = f"{value['matched']} {written(value['grams'])} g"
    body = ("，" if locale == "zh" else ", ").join(parts)
    notes = "".join(f"\n- {note}" for note in value["assumptions"])
    source = (
        f"来源：{value['source']}（{value['provenance']}）"
        if locale == "zh"
        else f"Source: {value['source']} ({value['provenance']})"
    )
    return f"{head}{'：' if locale == 'zh' else ': '}{body}\n{source}{notes}"
