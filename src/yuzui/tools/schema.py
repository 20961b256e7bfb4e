"""Schemas of tools: from a function's signature to a strict pydantic model, and to what a model may see (R-TOOL-02, R-TOOL-04)."""

import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, create_model

from yuzui.errors import DeclarationError
from yuzui.model.json_values import is_items, is_mapping

OWNER_WORDS = frozenset(
    {
        "owner",
        "owner_id",
        "user",
        "user_id",
        "userid",
        "uid",
        "tenant",
        "tenant_id",
        "family",
        "family_id",
        "space",
        "space_id",
        "household",
        "account_id",
        "caller",
    }
)


def arguments_model(function: Callable[..., Any]) -> type[BaseModel]:
    """The model of a tool's parameters after its first one, the context. Unknown fields are refused by validation.

    Raises `DeclarationError` for a parameter without annotation, or one (at any depth) that names an owner.
    """
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters:
        raise DeclarationError(f"tool {function.__name__!r} takes the context as its first parameter")
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for parameter in parameters[1:]:
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            raise DeclarationError(f"tool {function.__name__!r} has an open parameter list")
        if parameter.name not in hints:
            raise DeclarationError(f"parameter {parameter.name!r} of tool {function.__name__!r} has no type")
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (hints[parameter.name], default)
    name = "".join(part.title() for part in function.__name__.split("_")) + "Arguments"
    model: type[BaseModel] = create_model(name, __config__=ConfigDict(extra="forbid", frozen=True), **fields)
    refuse_owner_fields(function.__name__, model.model_json_schema())
    return model


def refuse_owner_fields(tool: str, schema: Any) -> None:
    """Raise `DeclarationError` when any property of the schema, at any depth, names an owner (R-TOOL-02)."""
    if is_mapping(schema):
        for name in schema.get("properties", {}):
            if name.lower() in OWNER_WORDS:
                raise DeclarationError(
                    f"tool {tool!r} lets the model fill {name!r}; the owner comes from authentication only"
                )
        for value in schema.values():
            refuse_owner_fields(tool, value)
    elif is_items(schema):
        for value in schema:
            refuse_owner_fields(tool, value)


def json_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema object that a model sees: titles dropped, `$defs` kept."""
    schema: dict[str, Any] = _without_titles(model.model_json_schema())
    schema.setdefault("properties", {})
    return schema


def _without_titles(schema: Any) -> Any:
    if is_mapping(schema):
        kept = {name: value for name, value in schema.items() if name != "title" or not isinstance(value, str)}
        return {name: _without_titles(value) for name, value in kept.items()}
    return [_without_titles(value) for value in schema] if is_items(schema) else schema
