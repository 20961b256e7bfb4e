"""Schemas of tools: strict arguments, and no field that names an owner."""

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from yuzui.errors import DeclarationError
from yuzui.tools.context import Ctx
from yuzui.tools.schema import arguments_model, json_schema


class Inner(BaseModel):
    family_id: str


class Outer(BaseModel):
    items: list[Inner]


async def by_user(ctx: Ctx[Any], user_id: str) -> None: ...


async def nested(ctx: Ctx[Any], filter: Outer) -> None: ...  # noqa: A002  the name is what a model would see


async def open_ended(ctx: Ctx[Any], **more: str) -> None: ...


async def lookup(ctx: Ctx[Any], meal_id: int, grams: float = 100) -> None: ...


@pytest.mark.parametrize("function", [by_user, nested])
def test_R_TOOL_02_a_field_that_names_an_owner_is_refused_at_any_depth(function: Any) -> None:
    with pytest.raises(DeclarationError, match="owner"):
        arguments_model(function)


def test_an_open_parameter_list_is_refused() -> None:
    with pytest.raises(DeclarationError):
        arguments_model(open_ended)


def test_long_numbers_stay_exact_and_unknown_fields_are_refused() -> None:
    model = arguments_model(lookup)
    assert model.model_validate({"meal_id": "8800553535777123457"}).model_dump()["meal_id"] == 8800553535777123457
    with pytest.raises(ValidationError):
        model.model_validate({"meal_id": 1, "extra": 2})
    with pytest.raises(ValidationError):
        model.model_validate({"meal_id": "nan"})


def test_the_schema_a_model_sees_has_no_context_and_no_titles() -> None:
    schema = json_schema(arguments_model(lookup))
    assert set(schema["properties"]) == {"meal_id", "grams"}
    assert schema["required"] == ["meal_id"]
    assert "title" not in schema
