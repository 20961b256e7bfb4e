"""Figures of a food: from the server or said to be missing, stamped by the code path that produced them (PROV)."""

import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from importlib import import_module
from typing import Any, cast

import pytest

from yuzui import Ctx, Database, ToolError, ToolResult
from yuzui.owner import Caller, Locale, Owner
from yuzui.testing.fake_mcp import FakeMcpServer, FakeTool
from yuzui.tools.mcp import McpServer
from yuzui_apps.home_menu.matching import Entry
from yuzui_apps.home_menu.nutrition import SERVER, Cache, answer_for, cache_key, nutrition_text
from yuzui_apps.home_menu.services import Menu

Estimate = Callable[[str], Awaitable[str | None]]
PORK = {
    "name": "猪肉（肥瘦，代表值）", "aliases": ["猪肉", "pork"], "category": "畜肉", "state": "raw", "per": "100 g", "kcal": 395, "protein_g": 13.2,
    "fat_g": 37.0, "carbohydrate_g": 2.4, "sodium_mg": 59.4, "pieces": {"块": 50}, "source": "中国食物成分表", "provenance": "mcp_exact",
}  # fmt: skip
FAT = PORK | {"name": "猪肉（肥）", "aliases": ["肥猪肉"], "kcal": 816}
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}, "limit": {"type": "integer"}}}


@pytest.fixture(autouse=True)
def fresh_cache(monkeypatch: pytest.MonkeyPatch) -> Cache:
    """Each test begins with an empty cache."""
    cache = Cache()
    monkeypatch.setattr(import_module("yuzui_apps.home_menu.nutrition"), "_CACHE", cache)
    return cache


def server(answer: object) -> FakeMcpServer:
    """A food server that gives one answer."""

    def lookup_food(**_: object) -> object:
        return answer

    return FakeMcpServer(SERVER, [FakeTool(name="lookup_food", answer=lookup_food, schema=SCHEMA)])


def context(held: McpServer | None, *, locale: Locale = "zh", estimate: Estimate | None = None) -> Ctx[Menu]:
    """A caller's context with that server."""
    db = cast("Database", None)  # nothing here touches the database
    caller = Caller(owner=Owner(tenant="family-a", user="alice"), name="alice", locale=locale)

    def servers(name: str) -> McpServer:
        assert held is not None
        assert name == held.name
        return held

    return Ctx(
        caller=caller, deps=Menu(db), db=db, now=datetime.now(UTC), servers=servers if held else None, estimate=estimate
    )


def said(reply: str | None) -> Estimate:
    """A model that says one thing."""

    async def estimate(_: str) -> str | None:
        return reply

    return estimate


def provenance(result: ToolResult) -> set[str]:
    """Every stamp of a result."""
    return {result.value["provenance"], *(note.provenance for note in result.provenance)}


@pytest.mark.parametrize("rows", [[PORK, FAT], [FAT, PORK]])
async def test_R_PROV_02_pork_has_395_kcal_in_any_order(rows: list[Mapping[str, Any]]) -> None:
    result = await answer_for(context(server({"foods": rows})), "猪肉", "100克")
    assert (result.value["kcal"], result.value["grams"]) == (395.0, 100.0)
    assert provenance(result) == {"mcp_exact"}


@pytest.mark.parametrize(
    ("food", "amount", "stamp"),
    [
        ("猪肉", "200克", "mcp_exact"),
        ("猪肉", "2块", "mcp_derived"),
        ("猪肉", "100", "mcp_derived"),
        ("红烧猪肉", "100克", "mcp_derived"),
    ],
)
async def test_R_PROV_01_the_code_path_stamps_whatever_the_row_claims(food: str, amount: str, stamp: str) -> None:
    for claim in ("mcp_exact", "llm_estimate", "certified"):
        ctx = context(server({"foods": [PORK | {"provenance": claim}]}))
        result = await answer_for(ctx, food, amount)
        assert provenance(result) == {stamp}
        assert bool(result.value["assumptions"]) == (stamp == "mcp_derived")


async def test_R_PROV_01_an_estimate_is_labelled_whatever_the_model_claims() -> None:
    ctx = context(server({"foods": []}), estimate=said('{"kcal": 250, "provenance": "mcp_exact", "source": "USDA"}'))
    result = await answer_for(ctx, "火星果", "200克")
    assert provenance(result) == {"llm_estimate"}
    assert (result.value["kcal"], result.value["source"]) == (500.0, "model")
    assert result.value["assumptions"] == ["模型估算，未经核对"]
    assert "llm_estimate" in nutrition_text(result.value, "zh")


@pytest.mark.parametrize(
    "reply", [None, "", "about 250", "[]", "{}", '{"kcal": "much"}', '{"kcal": 5000}', '{"kcal": -1}', '{"kcal": NaN}']
)
async def test_R_PROV_01_an_estimate_that_makes_no_sense_is_no_figure(reply: str | None) -> None:
    with pytest.raises(ToolError, match="没有“火星果”"):
        await answer_for(context(server({"foods": []}), estimate=said(reply)), "火星果", "100克")


@pytest.mark.parametrize(("locale", "text"), [("zh", "暂时不可用"), ("en", "not available")])
async def test_R_PROV_01_a_server_that_is_down_is_said_and_nothing_is_filled_in(locale: Locale, text: str) -> None:
    held = server({"foods": [PORK]})
    held.stop()
    with pytest.raises(ToolError, match=text) as refused:
        await answer_for(context(held, locale=locale, estimate=said('{"kcal": 1}')), "猪肉", "100克")
    assert refused.value.transient
    held.restart()
    assert (await answer_for(context(held, locale=locale), "猪肉", "100克")).value["kcal"] == 395.0


async def test_R_PROV_01_without_a_server_or_with_an_unreadable_answer_there_is_no_figure() -> None:
    with pytest.raises(ToolError, match="没有配置"):
        await answer_for(context(None), "猪肉", "100克")
    for answer in ("not json", [1, 2], {"foods": "none"}, {"result": 3}, 7):
        with pytest.raises(ToolError, match="无法读取"):
            await answer_for(context(server(answer)), "猪肉", "100克")


async def test_R_PROV_01_an_unknown_food_and_an_unclear_amount_are_said() -> None:
    with pytest.raises(ToolError, match="no '猪肉'"):
        await answer_for(context(server({"foods": [PORK | {"per": "serving"}]}), locale="en"), "猪肉", "100克")
    with pytest.raises(ToolError, match="无法把“一勺”换算成克"):
        await answer_for(context(server({"foods": [PORK]})), "猪肉", "一勺")


async def test_R_PROV_02_a_server_is_asked_in_simplified_characters() -> None:
    held = server({"result": {"foods": [PORK]}})
    assert (await answer_for(context(held), "豬肉", "１００ｇ")).value["kcal"] == 395.0
    assert held.calls == [("lookup_food", {"name": "猪肉", "limit": 30})]


def test_R_PROV_03_a_cache_key_carries_the_format_version() -> None:
    assert re.fullmatch(r"nutrition:v\d+:猪肉", cache_key(" 豬 肉"))
    assert cache_key("Ｐｏｒｋ") == cache_key("pork")


async def test_R_PROV_03_a_look_up_is_cached_until_it_is_old(fresh_cache: Cache) -> None:
    now = [0.0]
    fresh_cache.clock = lambda: now[0]
    held = server({"foods": [PORK]})
    for moment, calls in ((0.0, 1), (fresh_cache.ttl_s - 1, 1), (fresh_cache.ttl_s + 1, 2)):
        now[0] = moment
        await answer_for(context(held), "猪肉", "100克")
        assert len(held.calls) == calls


def test_R_PROV_03_a_cache_is_bounded_and_drops_what_was_not_used() -> None:
    cache, nothing = Cache(size=2), cast("tuple[Entry, ...]", ())
    cache.put("a", nothing)
    cache.put("b", nothing)
    assert cache.get("a") == ()
    cache.put("c", nothing)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == ((), None, ())


async def test_R_PROV_01_the_text_names_figures_source_and_stamp() -> None:
    result = await answer_for(context(server({"foods": [PORK]}), locale="en"), "pork", "2.5 kg")
    text = nutrition_text(result.value, "en")
    assert "2500 g: energy 9875 kcal" in text
    assert "Source: 中国食物成分表 (mcp_exact)" in text
