"""What a model or a rule may ask of the kitchen: five reads and one confirmed write (document 1 §2).

No function takes a family: it follows from the caller.
"""

import re
from datetime import date
from typing import Annotated, Any, Literal, Protocol

from pydantic import Field, StringConstraints

from yuzui import Card, Ctx, ToolError, ToolResult
from yuzui_apps.home_menu.amounts import written
from yuzui_apps.home_menu.nutrition import answer_for
from yuzui_apps.home_menu.services import Menu

Food = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)]
Unit = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=20)]
Number = Annotated[float, Field(gt=0, le=100_000, allow_inf_nan=False)]


class NewItem(Protocol):
    """The validated arguments of `add_to_fridge`."""

    name: str
    amount: float
    unit: str
    expires_on: date | None


MEALS = {
    "breakfast": {"zh": "早餐", "en": "breakfast"},
    "lunch": {"zh": "午餐", "en": "lunch"},
    "dinner": {"zh": "晚餐", "en": "dinner"},
}
ADD_QUESTION = {
    "zh": "要放什么进冰箱，多少？例如：两盒牛奶。",
    "en": "What should go into the fridge, and how much? For example: two boxes of milk.",
}
TITLES = {
    "fridge": {"zh": "冰箱", "en": "Fridge"},
    "family": {"zh": "家人", "en": "Family"},
    "plan": {"zh": "菜单", "en": "Menu"},
}


async def list_fridge(ctx: Ctx[Menu]) -> ToolResult:
    """What is in the family's fridge: name, amount, unit, expiry date; what expires first comes first."""
    rows = await ctx.deps.fridge(ctx.owner, limit=200)
    items = [
        {
            "name": row["name"],
            "amount": written(float(row["amount"])),
            "unit": row["unit"],
            "expires_on": row["expires_on"],
        }
        for row in rows
    ]
    lines = tuple(_item_line(item, ctx.caller.locale) for item in items)
    card = Card(kind="fridge", title=TITLES["fridge"][ctx.caller.locale], items=lines)
    return ToolResult(value={"items": items}, cards=(card,) if items else ())


async def family_profile(ctx: Ctx[Menu]) -> ToolResult:
    """Who eats in this family: names, allergies, preferences, and all allergens together."""
    members = await ctx.deps.members(ctx.owner)
    zh = ctx.caller.locale == "zh"
    value = {
        "members": [
            {"name": row["name"], "allergies": row["allergies"], "preferences": row["preferences"]} for row in members
        ],
        "allergens": sorted({name for row in members for name in row["allergies"]}),
    }
    fields = tuple((row["name"], _member_line(row, zh=zh)) for row in members)
    return ToolResult(
        value=value, cards=(Card(kind="family", title=TITLES["family"][ctx.caller.locale], fields=fields),)
    )


async def search_recipes(ctx: Ctx[Menu], query: str = "", safe_for_all: bool = True) -> ToolResult:
    """The family's recipes that hold any word of the query (name, ingredient or tag), or the one recipe of exactly that name;
    all of them without a query.

    With safe_for_all, recipes with anything a member is allergic to are left out and counted.
    """
    words = [word for word in query.replace("，", " ").replace(",", " ").split() if word][:8]
    found = await ctx.deps.recipes(ctx.owner, words=words, limit=20)
    without = await ctx.deps.allergens(ctx.owner) if safe_for_all else []
    named = [row for row in found if row["name"].casefold() == query.strip().casefold()]
    kept = [row for row in named or found if not _holds(row, without)]
    value = {
        "recipes": [_recipe(row) for row in kept],
        "left_out_for_allergies": [row["name"] for row in named or found if row not in kept],
        "allergens_considered": without,
    }
    return ToolResult(value=value, cards=tuple(_recipe_card(row, ctx) for row in kept[:5]))


async def weekly_plan(
    ctx: Ctx[Menu], first: date | None = None, days: Annotated[int, Field(ge=1, le=14)] = 7
) -> ToolResult:
    """The dishes planned for the coming days, by day and meal; from today on unless a first day is given."""
    rows = await ctx.deps.plan(ctx.owner, first or ctx.today, days)
    locale = ctx.caller.locale
    value = {"plan": [{"day": row["day"], "meal": row["meal"], "dish": row["dish"]} for row in rows]}
    lines = tuple(_plan_line(row, locale) for row in rows)
    return ToolResult(
        value=value, cards=(Card(kind="plan", title=TITLES["plan"][locale], items=lines),) if rows else ()
    )


async def nutrition(ctx: Ctx[Menu], food: Food, amount: str = "100克") -> ToolResult:
    """Energy and nutrients of a food for an amount with its unit ("100克", "2个", "半斤"); 100 g unless it is given."""
    return await answer_for(ctx, food, amount)


async def add_to_fridge(
    ctx: Ctx[Menu], name: Food, amount: Number, unit: Unit, expires_on: date | None = None
) -> dict[str, str]:
    """Put a food into the family's fridge. expires_on only when the person states a date."""
    row = await ctx.deps.add_item(ctx.owner, name, amount, unit, expires_on)
    return {"id": row["id"], "name": row["name"], "amount": written(float(row["amount"])), "unit": row["unit"]}


def add_summary(ctx: Ctx[Menu], arguments: NewItem) -> str:
    """The card's text: what, how much, and the absolute date of expiry."""
    zh = ctx.caller.locale == "zh"
    amount = written(arguments.amount)
    if zh:
        text = f"放进冰箱：{arguments.name} {amount} {arguments.unit}"
        return text + (f"，保质期至 {arguments.expires_on.isoformat()}" if arguments.expires_on else "")
    what = arguments.name if arguments.unit in ("piece", "pieces") else f"{arguments.unit} of {arguments.name}"
    text = f"put into the fridge: {amount} {what}"
    return text + (f", use by {arguments.expires_on.isoformat()}" if arguments.expires_on else "")


async def add_check(ctx: Ctx[Menu], arguments: NewItem) -> None:
    """Still a member, and the date still lies ahead, when the person confirms (R-CONF-03)."""
    await ctx.deps.family(ctx.owner)
    if arguments.expires_on is not None and arguments.expires_on < ctx.today:
        raise ToolError(f"the date {arguments.expires_on.isoformat()} has passed")


# Words right before or after an allergen that say it is left out, or that somebody is allergic to it.
_LEFT_OUT = re.compile(
    r"(?:[不没無无忌]|不(?:放|含|加|用|吃|要|能吃|能有)|没有|避开|避免|去掉|除去|(?<![a-z])(?:no|without|avoid|avoids|avoiding|skip|free of))\s?$"
)
_ALLERGIC = re.compile(r"\s?(?:过敏|過敏|-free|allerg)")


def _offered(allergen: str, text: str) -> bool:
    """Whether any mention of the allergen is not plainly about leaving it out; in doubt it is offered."""
    held, wanted = text.lower(), allergen.lower()
    mentions = re.finditer(re.escape(wanted), held)
    return any(
        not _LEFT_OUT.search(held[max(0, found.start() - 12) : found.start()])
        and not _ALLERGIC.match(held, found.end())
        and not held[: found.start()].rstrip().endswith("allergic to")
        for found in mentions
    )


async def allergy_note(ctx: Ctx[Menu], text: str) -> str | None:
    """A warning by code when an answer names something that a member is allergic to, other than to leave it out."""
    members = await ctx.deps.members(ctx.owner)
    named = [(row["name"], name) for row in members for name in row["allergies"] if _offered(name, text)]
    if not named:
        return None
    if ctx.caller.locale == "zh":
        return "⚠️ 过敏提醒（由程序核对）：" + "；".join(f"{who}对{what}过敏" for who, what in named) + "。"
    return "⚠️ Allergy check (by code): " + "; ".join(f"{who} is allergic to {what}" for who, what in named) + "."


def fridge_text(value: Any, locale: Literal["zh", "en"]) -> str:
    """The fridge in words."""
    lines = [f"- {_item_line(item, locale)}" for item in value["items"]]
    if not lines:
        return "冰箱是空的。" if locale == "zh" else "The fridge is empty."
    return "\n".join(["冰箱里有：" if locale == "zh" else "In the fridge:", *lines])


def family_text(value: Any, locale: Literal["zh", "en"]) -> str:
    """The family in words."""
    zh = locale == "zh"
    colon = "：" if zh else ": "
    return "\n".join(f"- {row['name']}{colon}{_member_line(row, zh=zh)}" for row in value["members"])


def plan_text(value: Any, locale: Literal["zh", "en"]) -> str:
    """The plan in words."""
    if not value["plan"]:
        return "这几天还没有安排菜单。" if locale == "zh" else "Nothing is planned for these days."
    return "\n".join(f"- {_plan_line(row, locale)}" for row in value["plan"])


def recipes_text(value: Any, locale: Literal["zh", "en"]) -> str:
    """Recipes in words, with their steps when there is just one."""
    recipes, left_out = value["recipes"], value["left_out_for_allergies"]
    zh = locale == "zh"
    note = ""
    if left_out:
        names = "、".join(left_out) if zh else ", ".join(left_out)
        note = f"\n因家人过敏未列出：{names}" if zh else f"\nLeft out because of allergies: {names}"
    if not recipes:
        return ("没有合适的食谱。" if zh else "No recipe fits.") + note
    if len(recipes) > 1:
        minutes = "（{} 分钟）" if zh else " ({} min)"
        return "\n".join(f"- {row['name']}{minutes.format(row['minutes'])}" for row in recipes) + note
    row = recipes[0]
    needs = ("、" if zh else ", ").join(
        f"{i['name']} {written(float(i['amount']))} {i['unit']}" for i in row["ingredients"]
    )
    steps = "\n".join(f"{n}. {step}" for n, step in enumerate(row["steps"], start=1))
    head = (
        f"{row['name']}（{row['minutes']} 分钟）\n用料：{needs}"
        if zh
        else f"{row['name']} ({row['minutes']} min)\nYou need: {needs}"
    )
    return f"{head}\n{steps}{note}"


def _plan_line(row: dict[str, Any], locale: Literal["zh", "en"]) -> str:
    return f"{row['day']} {MEALS[row['meal']][locale]}{'：' if locale == 'zh' else ': '}{row['dish']}"


def _item_line(item: dict[str, Any], locale: Literal["zh", "en"]) -> str:
    day = item["expires_on"]
    until = "" if day is None else (f"（{day} 到期）" if locale == "zh" else f" (use by {day})")
    return f"{item['name']} {item['amount']} {item['unit']}{until}"


def _member_line(row: dict[str, Any], *, zh: bool) -> str:
    allergies = ("、" if zh else ", ").join(row["allergies"])
    likes = ("、" if zh else ", ").join(row["preferences"])
    if zh:
        return (
            "；".join(
                part for part in (f"过敏：{allergies}" if allergies else "", f"喜好：{likes}" if likes else "") if part
            )
            or "无"
        )
    parts = (f"allergic to {allergies}" if allergies else "", f"likes {likes}" if likes else "")
    return "; ".join(part for part in parts if part) or "nothing noted"


def _holds(row: dict[str, Any], allergens: list[str]) -> bool:
    """Whether a recipe has any of the allergens: declared, or in the name of an ingredient, so that no list need be complete."""
    held = [*row["allergens"], *(ingredient["name"] for ingredient in row["ingredients"])]
    return any(allergen.casefold() in name.casefold() for allergen in allergens for name in held)


def _recipe(row: dict[str, Any]) -> dict[str, Any]:
    return {key: row[key] for key in ("name", "minutes", "ingredients", "allergens", "steps", "tags")}


def _recipe_card(row: dict[str, Any], ctx: Ctx[Menu]) -> Card:
    zh = ctx.caller.locale == "zh"
    needs = tuple(f"{i['name']} {written(float(i['amount']))} {i['unit']}" for i in row["ingredients"])
    ask = f"{row['name']}怎么做" if zh else f"how to make {row['name']}"
    return Card(
        kind="recipe",
        title=row["name"],
        fields=(("用时" if zh else "time", f"{row['minutes']} 分钟" if zh else f"{row['minutes']} min"),),
        items=needs,
        actions=(("怎么做" if zh else "how to make it", ask),),
    )
