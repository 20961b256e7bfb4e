"""The business endpoints: families, fridge, recipes and plan work with AI off (document 1 §5)."""

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from yuzui import App, Ctx, InvalidInputError, McpUnavailableError, ToolError
from yuzui_apps.home_menu.nutrition import answer_for
from yuzui_apps.home_menu.services import Menu

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)]
Word = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=30)]
Words = Annotated[list[Word], Field(max_length=20)]
Number = Annotated[float, Field(gt=0, le=100_000, allow_inf_nan=False)]
Limit = Annotated[int, Field(ge=1, le=200)]
Page = dict[str, Any]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class FamilyBody(_Body):
    """A family's name, and the caller's name in it when it is new."""

    name: Name
    member: Name = "me"


class MemberBody(_Body):
    """A member."""

    name: Name
    allergies: Words = []
    preferences: Words = []


class MemberChange(_Body):
    """What to change of a member."""

    name: Name | None = None
    allergies: Words | None = None
    preferences: Words | None = None


class ItemBody(_Body):
    """Something in the fridge."""

    name: Name
    amount: Number
    unit: Word
    expires_on: date | None = None


class ItemChange(_Body):
    """What to change of it."""

    name: Name | None = None
    amount: Number | None = None
    unit: Word | None = None
    expires_on: date | None = None


class Ingredient(_Body):
    """One ingredient of a recipe."""

    name: Name
    amount: Number
    unit: Word


class RecipeBody(_Body):
    """A recipe."""

    name: Name
    minutes: Annotated[int, Field(ge=1, le=1440)]
    ingredients: Annotated[list[Ingredient], Field(max_length=60)] = []
    allergens: Words = []
    steps: Annotated[list[Annotated[str, StringConstraints(max_length=500)]], Field(max_length=60)] = []
    tags: Words = []


class DishBody(_Body):
    """A dish on the plan."""

    day: date
    meal: Literal["breakfast", "lunch", "dinner"]
    dish: Name


def _page(rows: list[dict[str, Any]], limit: int | None = None) -> Page:
    full = limit is not None and len(rows) > limit
    kept = rows[:limit] if limit is not None else rows
    return {"items": kept, "next": kept[-1]["id"] if full and kept else None}


def register(app: App[Menu]) -> None:
    """Declare the endpoints on the app."""
    _family(app)
    _members(app)
    _fridge(app)
    _recipes(app)
    _plan(app)
    _nutrition(app)


def _family(app: App[Menu]) -> None:
    @app.endpoint("GET", "/v1/menu/family")
    async def get_family(ctx: Ctx[Menu]) -> Page:
        """The caller's family."""
        return await ctx.deps.family(ctx.owner)

    @app.endpoint("POST", "/v1/menu/family", status=201)
    async def create_family(ctx: Ctx[Menu], body: FamilyBody) -> Page:
        """A family for a caller who has none."""
        return await ctx.deps.create_family(ctx.owner, body.name, body.member)

    @app.endpoint("PUT", "/v1/menu/family")
    async def rename_family(ctx: Ctx[Menu], body: FamilyBody) -> Page:
        """A new name."""
        return await ctx.deps.rename_family(ctx.owner, body.name)


def _members(app: App[Menu]) -> None:
    @app.endpoint("GET", "/v1/menu/members")
    async def list_members(ctx: Ctx[Menu]) -> Page:
        """All members with allergies and preferences."""
        return _page(await ctx.deps.members(ctx.owner))

    @app.endpoint("GET", "/v1/menu/members/{member_id}")
    async def get_member(ctx: Ctx[Menu], member_id: str) -> Page:
        """One member."""
        return await ctx.deps.member(ctx.owner, member_id)

    @app.endpoint("POST", "/v1/menu/members", status=201)
    async def add_member(ctx: Ctx[Menu], body: MemberBody) -> Page:
        """A new member."""
        return await ctx.deps.add_member(ctx.owner, body.name, body.allergies, body.preferences)

    @app.endpoint("PATCH", "/v1/menu/members/{member_id}")
    async def change_member(ctx: Ctx[Menu], member_id: str, body: MemberChange) -> Page:
        """Change what is given."""
        return await ctx.deps.change_member(
            ctx.owner, member_id, name=body.name, allergies=body.allergies, preferences=body.preferences
        )

    @app.endpoint("DELETE", "/v1/menu/members/{member_id}", status=204)
    async def remove_member(ctx: Ctx[Menu], member_id: str) -> None:
        """Remove a member without a login."""
        await ctx.deps.remove_member(ctx.owner, member_id)


def _fridge(app: App[Menu]) -> None:
    @app.endpoint("GET", "/v1/menu/fridge")
    async def list_fridge(ctx: Ctx[Menu], limit: Limit = 50, after: str | None = None) -> Page:
        """What is in the fridge; what expires first comes first."""
        return _page(await ctx.deps.fridge(ctx.owner, limit=limit + 1, after=after), limit)

    @app.endpoint("GET", "/v1/menu/fridge/{item_id}")
    async def get_item(ctx: Ctx[Menu], item_id: str) -> Page:
        """One item."""
        return await ctx.deps.fridge_item(ctx.owner, item_id)

    @app.endpoint("POST", "/v1/menu/fridge", status=201)
    async def add_item(ctx: Ctx[Menu], body: ItemBody) -> Page:
        """Put something in."""
        return await ctx.deps.add_item(ctx.owner, body.name, body.amount, body.unit, body.expires_on)

    @app.endpoint("PATCH", "/v1/menu/fridge/{item_id}")
    async def change_item(ctx: Ctx[Menu], item_id: str, body: ItemChange) -> Page:
        """Change what is given."""
        return await ctx.deps.change_item(
            ctx.owner, item_id, name=body.name, amount=body.amount, unit=body.unit, expires_on=body.expires_on
        )

    @app.endpoint("DELETE", "/v1/menu/fridge/{item_id}", status=204)
    async def remove_item(ctx: Ctx[Menu], item_id: str) -> None:
        """Take something out."""
        await ctx.deps.remove_item(ctx.owner, item_id)


def _recipes(app: App[Menu]) -> None:
    @app.endpoint("GET", "/v1/menu/recipes")
    async def list_recipes(ctx: Ctx[Menu], query: str = "", limit: Limit = 50, after: str | None = None) -> Page:
        """Recipes, by words when given."""
        rows = await ctx.deps.recipes(ctx.owner, words=query.split(), limit=limit + 1, after=after)
        return _page(rows, limit)

    @app.endpoint("GET", "/v1/menu/recipes/{recipe_id}")
    async def get_recipe(ctx: Ctx[Menu], recipe_id: str) -> Page:
        """One recipe."""
        return await ctx.deps.recipe(ctx.owner, recipe_id)

    @app.endpoint("POST", "/v1/menu/recipes", status=201)
    async def add_recipe(ctx: Ctx[Menu], body: RecipeBody) -> Page:
        """A new recipe."""
        return await ctx.deps.add_recipe(ctx.owner, body.model_dump())

    @app.endpoint("DELETE", "/v1/menu/recipes/{recipe_id}", status=204)
    async def remove_recipe(ctx: Ctx[Menu], recipe_id: str) -> None:
        """Remove a recipe."""
        await ctx.deps.remove_recipe(ctx.owner, recipe_id)


def _plan(app: App[Menu]) -> None:
    @app.endpoint("GET", "/v1/menu/plan")
    async def get_plan(ctx: Ctx[Menu], first: date | None = None, days: int = 7) -> Page:
        """Planned dishes; from the caller's today on when no day is given."""
        if not 1 <= days <= 31:
            raise InvalidInputError("days is between 1 and 31")
        return _page(await ctx.deps.plan(ctx.owner, first or ctx.today, days))

    @app.endpoint("POST", "/v1/menu/plan", status=201)
    async def plan_dish(ctx: Ctx[Menu], body: DishBody) -> Page:
        """Plan a dish."""
        return await ctx.deps.plan_dish(ctx.owner, body.day, body.meal, body.dish)

    @app.endpoint("DELETE", "/v1/menu/plan/{entry_id}", status=204)
    async def unplan_dish(ctx: Ctx[Menu], entry_id: str) -> None:
        """Take a dish off the plan."""
        await ctx.deps.unplan_dish(ctx.owner, entry_id)


def _nutrition(app: App[Menu]) -> None:
    @app.endpoint("GET", "/v1/menu/nutrition")
    async def get_nutrition(ctx: Ctx[Menu], food: Name, amount: Word = "100克") -> Page:
        """Energy and nutrients of an amount of a food, with where the figures come from."""
        try:
            return dict((await answer_for(ctx, food, amount)).value)
        except ToolError as error:
            if error.transient:
                raise McpUnavailableError(error.message) from error
            raise InvalidInputError(error.message) from error
