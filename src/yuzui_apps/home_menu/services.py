"""The home menu's service layer: one permission check, for HTTP, agent tools and MCP alike (R-TOOL-03, document 1 §2)."""

import json
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from yuzui import Database, InvalidInputError, NotFoundError, Owner, load_queries

_SQL = load_queries(Path(__file__).parent / "sql")
Row = dict[str, Any]


class Menu:
    """Families, members, fridge, recipes and plan over one `Database`.

    Every method takes the owner and resolves the family from it: somebody who is no member gets `NotFoundError`, and so
    does the id of another family's row.
    """

    def __init__(self, db: Database) -> None:
        self._db = db

    async def family(self, owner: Owner) -> Row:
        """The owner's family `{id, name, created_at}`."""
        row = await self._db.row(_SQL["family_of"], tenant=owner.tenant, user=owner.user)
        if row is None:
            raise NotFoundError("you are not a member of a family here")
        return row

    async def _space(self, owner: Owner) -> str:
        return str((await self.family(owner))["id"])

    async def create_family(self, owner: Owner, name: str, member: str) -> Row:
        """A family for an owner's tenant with the owner as its first member; `ConflictError` when it exists."""
        async with self._db.transaction() as db:
            row = await db.row(_SQL["create_family"], tenant=owner.tenant, name=name)
            family = _found(row)
            await db.row(
                _SQL["add_member"], family=family["id"], username=owner.user, name=member, allergies=[], preferences=[]
            )
            return family

    async def rename_family(self, owner: Owner, name: str) -> Row:
        """A new name for the owner's family."""
        return _found(await self._db.row(_SQL["rename_family"], family=await self._space(owner), name=name))

    async def members(self, owner: Owner) -> list[Row]:
        """All members with allergies and preferences."""
        return await self._db.rows(_SQL["members"], family=await self._space(owner))

    async def member(self, owner: Owner, member_id: str) -> Row:
        """One member."""
        return _found(await self._db.row(_SQL["member"], family=await self._space(owner), id=member_id))

    async def add_member(self, owner: Owner, name: str, allergies: Sequence[str], preferences: Sequence[str]) -> Row:
        """A new member without a login."""
        row = await self._db.row(
            _SQL["add_member"],
            family=await self._space(owner),
            username=None,
            name=name,
            allergies=list(allergies),
            preferences=list(preferences),
        )
        return _found(row)

    async def change_member(
        self,
        owner: Owner,
        member_id: str,
        *,
        name: str | None = None,
        allergies: Sequence[str] | None = None,
        preferences: Sequence[str] | None = None,
    ) -> Row:
        """Change what is given."""
        row = await self._db.row(
            _SQL["change_member"],
            family=await self._space(owner),
            id=member_id,
            name=name,
            allergies=None if allergies is None else list(allergies),
            preferences=None if preferences is None else list(preferences),
        )
        return _found(row)

    async def remove_member(self, owner: Owner, member_id: str) -> None:
        """Remove a member; one with a login stays (`InvalidInputError`)."""
        member = await self.member(owner, member_id)
        if member["username"] is not None:
            raise InvalidInputError("a member with a login cannot be removed here")
        await self._db.execute(_SQL["remove_member"], family=await self._space(owner), id=member_id)

    async def allergens(self, owner: Owner) -> list[str]:
        """Everything anybody in the family is allergic to, without repeats, in stable order."""
        return sorted({name for member in await self.members(owner) for name in member["allergies"]})

    async def fridge(self, owner: Owner, *, limit: int = 100, after: str | None = None) -> list[Row]:
        """What is in the fridge; what expires first comes first. `after` is the id of the last item of the page before.

        `NotFoundError` when that item is gone or another family's: an empty page would look like the end.
        """
        if after is not None:
            await self.fridge_item(owner, after)
        return await self._db.rows(_SQL["fridge"], family=await self._space(owner), limit=limit, after=after)

    async def fridge_item(self, owner: Owner, item_id: str) -> Row:
        """One item."""
        return _found(await self._db.row(_SQL["fridge_item"], family=await self._space(owner), id=item_id))

    async def add_item(self, owner: Owner, name: str, amount: float, unit: str, expires_on: date | None) -> Row:
        """Put something into the fridge."""
        row = await self._db.row(
            _SQL["add_item"],
            family=await self._space(owner),
            name=name,
            amount=amount,
            unit=unit,
            expires_on=expires_on,
        )
        return _found(row)

    async def change_item(
        self,
        owner: Owner,
        item_id: str,
        *,
        name: str | None = None,
        amount: float | None = None,
        unit: str | None = None,
        expires_on: date | None = None,
    ) -> Row:
        """Change what is given."""
        row = await self._db.row(
            _SQL["change_item"],
            family=await self._space(owner),
            id=item_id,
            name=name,
            amount=amount,
            unit=unit,
            expires_on=expires_on,
        )
        return _found(row)

    async def remove_item(self, owner: Owner, item_id: str) -> None:
        """Take an item out."""
        if not await self._db.execute(_SQL["remove_item"], family=await self._space(owner), id=item_id):
            raise NotFoundError

    async def recipes(
        self,
        owner: Owner,
        *,
        words: Sequence[str] = (),
        without: Sequence[str] = (),
        limit: int = 100,
        after: str | None = None,
    ) -> list[Row]:
        """Recipes that hold any of the words and none of the allergens, by name; `after` as in `fridge`."""
        if after is not None:
            await self.recipe(owner, after)
        return await self._db.rows(
            _SQL["recipes"],
            family=await self._space(owner),
            words=list(words) or None,
            without=list(without),
            limit=limit,
            after=after,
        )

    async def recipe(self, owner: Owner, recipe_id: str) -> Row:
        """One recipe."""
        return _found(await self._db.row(_SQL["recipe"], family=await self._space(owner), id=recipe_id))

    async def add_recipe(self, owner: Owner, recipe: Row) -> Row:
        """A new recipe `{name, minutes, ingredients[{name, amount, unit}], allergens, steps, tags}`."""
        values = recipe | {"ingredients": json.dumps(recipe["ingredients"], ensure_ascii=False)}
        return _found(await self._db.row(_SQL["add_recipe"], family=await self._space(owner), **values))

    async def remove_recipe(self, owner: Owner, recipe_id: str) -> None:
        """Remove a recipe."""
        if not await self._db.execute(_SQL["remove_recipe"], family=await self._space(owner), id=recipe_id):
            raise NotFoundError

    async def plan(self, owner: Owner, first: date, days: int = 7) -> list[Row]:
        """Planned dishes of `days` days from `first` on; `InvalidInputError` when the calendar ends before."""
        family = await self._space(owner)
        try:
            last = first + timedelta(days=days - 1)
        except OverflowError as error:
            raise InvalidInputError(f"there are no {days} days from {first.isoformat()} on") from error
        return await self._db.rows(_SQL["plan"], family=family, first=first, last=last)

    async def plan_dish(self, owner: Owner, day: date, meal: str, dish: str) -> Row:
        """Plan a dish; the recipe of that name is linked when there is one."""
        row = await self._db.row(_SQL["plan_dish"], family=await self._space(owner), day=day, meal=meal, dish=dish)
        return _found(row)

    async def unplan_dish(self, owner: Owner, entry_id: str) -> None:
        """Take a dish off the plan."""
        if not await self._db.execute(_SQL["unplan_dish"], family=await self._space(owner), id=entry_id):
            raise NotFoundError


def _found(row: Row | None) -> Row:
    if row is None:
        raise NotFoundError
    return row
