"""The food table: published figures per 100 g of edible portion, each row with its source."""

import csv
import unicodedata
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

State: TypeAlias = Literal["raw", "cooked", "dried"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Food:
    """One food. Energy in kcal, nutrients in g, sodium in mg, all per 100 g of what is eaten (`edible_percent` of what is bought).

    `pieces` maps a household unit to grams; `g_per_ml` is the density of a liquid, None for anything else.
    """

    name: str
    aliases: tuple[str, ...]
    category: str
    state: State
    edible_percent: float
    kcal: float
    protein_g: float
    fat_g: float
    carbohydrate_g: float
    fibre_g: float
    sodium_mg: float
    pieces: dict[str, float]
    g_per_ml: float | None
    source: str

    def public(self) -> dict[str, Any]:
        """The row as a client receives it; `per` says what every figure refers to."""
        return asdict(self) | {"aliases": list(self.aliases), "per": "100 g"}


@cache
def foods() -> tuple[Food, ...]:
    """The whole table."""
    with (Path(__file__).parent / "foods.csv").open(encoding="utf-8", newline="") as file:
        return tuple(_food(row) for row in csv.DictReader(file))


def _food(row: dict[str, str]) -> Food:
    pieces = dict(pair.split("=") for pair in row["pieces"].split(";") if pair)
    return Food(
        name=row["name"],
        aliases=tuple(alias for alias in row["aliases"].split(";") if alias),
        category=row["category"],
        state=_state(row["state"]),
        edible_percent=float(row["edible_percent"]),
        kcal=float(row["kcal"]),
        protein_g=float(row["protein_g"]),
        fat_g=float(row["fat_g"]),
        carbohydrate_g=float(row["carbohydrate_g"]),
        fibre_g=float(row["fibre_g"]),
        sodium_mg=float(row["sodium_mg"]),
        pieces={unit: float(grams) for unit, grams in pieces.items()},
        g_per_ml=float(row["g_per_ml"]) if row["g_per_ml"] else None,
        source=row["source"],
    )


def _state(text: str) -> State:
    match text:
        case "raw" | "cooked" | "dried":
            return text
        case _:
            raise ValueError(f"a food is raw, cooked or dried, not {text!r}")


def folded(text: str) -> str:
    """The form in which names are compared: NFKC, lower case, no white space."""
    return "".join(unicodedata.normalize("NFKC", text).lower().split())


def candidates(name: str, limit: int) -> list[Food]:
    """Foods whose name or alias holds the words, or is held by them. The order means nothing; a client ranks by itself."""
    wanted = folded(name)
    if not wanted:
        return []
    exact = [food for food in foods() if wanted in {folded(known) for known in (food.name, *food.aliases)}]
    partly = [
        food
        for food in foods()
        if food not in exact and any(_holds(folded(known), wanted) for known in (food.name, *food.aliases))
    ]
    return [*exact, *partly][:limit]


def _holds(known: str, wanted: str) -> bool:
    return wanted in known or (len(known) > 1 and known in wanted)
