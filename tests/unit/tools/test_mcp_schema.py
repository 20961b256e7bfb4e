"""Schemas that a model's provider would choke on, and arguments that a strict server would refuse."""

from typing import Any

import pytest

from yuzui.tools.mcp_schema import MAX_SCHEMA_CHARS, UnfitSchemaError, clean_schema, sendable

FOOD = {"type": "object", "properties": {"name": {"type": "string"}}, "additionalProperties": False}


def test_definitions_and_references_come_through_together() -> None:
    schema = {
        "type": "object",
        "$defs": {"Food": FOOD},
        "properties": {"food": {"$ref": "#/$defs/Food"}, "more": {"type": "array", "items": {"$ref": "#/$defs/Food"}}},
        "additionalProperties": False,
    }
    assert clean_schema(schema) == schema


def test_cleaning_leaves_the_original_alone() -> None:
    schema: dict[str, Any] = {"anyOf": [{"required": ["name"]}]}
    clean_schema(schema)
    assert schema == {"anyOf": [{"required": ["name"]}]}


def test_a_root_that_only_says_which_fields_go_together_becomes_a_plain_object() -> None:
    schema = {
        "properties": {"name": {"type": "string"}, "barcode": {"type": "string"}},
        "anyOf": [{"required": ["name"]}, {"required": ["barcode"]}],
        "not": {"required": ["name", "barcode"]},
    }
    assert clean_schema(schema) == {"type": "object", "properties": schema["properties"]}


def test_a_root_that_is_a_reference_becomes_its_target() -> None:
    cleaned = clean_schema({"$ref": "#/$defs/Food", "$defs": {"Food": FOOD}})
    assert cleaned == {**FOOD, "$defs": {"Food": FOOD}}


def test_an_empty_schema_takes_no_arguments() -> None:
    assert clean_schema({}) == {"type": "object", "properties": {}}


def deep(levels: int) -> dict[str, Any]:
    """A schema nested that deep."""
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"inner": schema}}
    return schema


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "array"}, "array"),
        ({"type": ["object", "null"]}, "null"),
        ({"oneOf": [FOOD, {"type": "string"}]}, "oneOf"),
        ({"type": "object", "properties": {"food": {"$ref": "#/$defs/Food"}}}, "refers to"),
        ({"type": "object", "properties": {"food": {"$ref": "https://example.org/food.json"}}}, "refers to"),
        ({"$ref": "#/$defs/Loop", "$defs": {"Loop": {"$ref": "#/$defs/Loop"}}}, "refers to"),
        ({"type": "object", "properties": []}, "no object"),
        (deep(20), "deeper"),
        ({"type": "object", "description": "x" * MAX_SCHEMA_CHARS}, "longer"),
        ({"type": "object", "default": {1, 2}}, "not JSON"),
    ],
)
def test_an_unfit_schema_is_refused_with_its_reason(schema: dict[str, Any], why: str) -> None:
    with pytest.raises(UnfitSchemaError, match=why):
        clean_schema(schema)


@pytest.mark.parametrize(
    ("field", "kept"),
    [
        ({"type": "string"}, False),
        ({"type": ["string", "null"]}, True),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, True),
        ({"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/Text"}]}, False),
        ({"$ref": "#/$defs/Maybe"}, True),
        ({"enum": ["a", None]}, True),
        ({"enum": ["a"]}, False),
        ({"const": "a"}, False),
        ({}, True),
        (True, True),
        (None, False),
    ],
)
def test_a_null_is_kept_only_where_the_schema_allows_one(field: Any, kept: bool) -> None:
    defs = {"Text": {"type": "string"}, "Maybe": {"type": ["string", "null"]}}
    schema = {"type": "object", "properties": {} if field is None else {"brand": field}, "$defs": defs}
    assert sendable({"brand": None, "query": "egg"}, schema) == (
        {"brand": None, "query": "egg"} if kept else {"query": "egg"}
    )


def test_nothing_is_filled_in_and_the_word_null_stays_a_word() -> None:
    schema = {
        "type": "object",
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "default": 10}},
    }
    assert sendable({"query": "null"}, schema) == {"query": "null"}


def test_nulls_inside_an_object_follow_the_objects_own_schema() -> None:
    schema = {"type": "object", "properties": {"food": {"$ref": "#/$defs/Food"}}, "$defs": {"Food": FOOD}}
    assert sendable({"food": {"name": None}}, schema) == {"food": {}}
