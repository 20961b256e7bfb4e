"""Nutrition of a food: figures from the food server, stamped by the code that produced them (PROV, document 1 §5)."""

import json
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from yuzui import Card, Ctx, McpUnavailableError, Provenance, ProvenanceNote, ToolError, ToolResult
from yuzui_apps.home_menu.matching import Entry, Match, best, entry_of, folded
from yuzui_apps.home_menu.portions import Portion, portion
from yuzui_apps.home_menu.services import Menu

SERVER: Final = "food-composition"
# Bumped whenever matching or the shape of an entry changes: an old cache then never answers for new rules (R-PROV-03).
CACHE_FORMAT: Final = 2
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
    _held: OrderedDict[str, tuple[float, tuple[Entry, ...]]] = field(
        default_factory=OrderedDict[str, tuple[float, tuple[Entry, ...]]]
    )

    def get(self, key: str) -> tuple[Entry, ...] | None:
        """The entries, unless they are too old."""
        held = self._held.get(key)
        if held is None or time.monotonic() - held[0] > self.ttl_s:
            return None
        self._held.move_to_end(key)
        return held[1]

    def put(self, key: str, entries: tuple[Entry, ...]) -> None:
        """Keep entries; the least recently used go when it is full."""
        self._held[key] = (time.monotonic(), entries)
        self._held.move_to_end(key)
        while len(self._held) > self.size:
            self._held.popitem(last=False)


_CACHE = Cache()


async def answer_for(ctx: Ctx[Menu], food: str, amount: str) -> ToolResult:
    """Figures of an amount of a food. `ToolError` when the server is down, the food unknown or the amount unclear:
    a missing figure is said, never filled (R-DEG-02).
    """
    zh = ctx.caller.locale == "zh"
    match = best(food, await _entries(ctx, food))
    if match is None:
        estimated = await _estimated(ctx, food, amount)
        if estimated is not None:
            return estimated
        raise ToolError(f"食物成分表中没有“{food}”。" if zh else f"The food table has no {food!r}.")
    share = portion(amount, name=match.entry.name, pieces=match.entry.pieces)
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
    if ctx.servers is None:
        raise ToolError("no food server is configured")
    try:
        result = await ctx.servers(SERVER).call("lookup_food", {"name": food, "limit": 30})
    except McpUnavailableError as error:
        zh = ctx.caller.locale == "zh"
        text = (
            "食物成分服务暂时不可用，没有可核对的数据。"
            if zh
            else "The food server is not available; there is no checked figure."
        )
        raise ToolError(text, transient=True) from error
    structured: Any = result.structured if isinstance(result.structured, dict) else json.loads(result.text or "{}")
    rows: Sequence[Any] = structured.get("foods") or structured.get("result", {}).get("foods") or ()
    entries = tuple(entry for entry in (entry_of(row) for row in rows if isinstance(row, dict)) if entry is not None)
    _CACHE.put(key, entries)
    return entries


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
    fields = tuple((label[side], f"{figures[name]:g} {label[2]}") for name, label in _LABELS.items() if name in figures)
    card = Card(kind="nutrition", title=f"{matched} {grams:g} g", fields=fields, items=tuple(assumptions))
    note = ProvenanceNote(subject=matched, provenance=provenance, source=source)
    return ToolResult(value=value, cards=(card,), provenance=(note,))


async def _estimated(ctx: Ctx[Menu], food: str, amount: str) -> ToolResult | None:
    """A model's estimate, labelled as one whatever the model says about it; None without a model or a sane figure."""
    share = portion(amount, name=food, pieces={})
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
    parts = [f"{label[side]} {value[name]:g} {label[2]}" for name, label in _LABELS.items() if name in value]
    head = f"{value['matched']} {value['grams']:g} g"
    body = ("，" if locale == "zh" else ", ").join(parts)
    notes = "".join(f"\n- {note}" for note in value["assumptions"])
    source = (
        f"来源：{value['source']}（{value['provenance']}）"
        if locale == "zh"
        else f"Source: {value['source']} ({value['provenance']})"
    )
    return f"{head}{'：' if locale == 'zh' else ': '}{body}\n{source}{notes}"
