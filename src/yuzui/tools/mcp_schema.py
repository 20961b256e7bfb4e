"""Input schemas of foreign tools, made fit for a model's provider, and arguments made fit for the schema (R-MCP-01)."""

import json
from collections.abc import Mapping
from typing import Any, Final, TypeGuard

MAX_SCHEMA_CHARS: Final = 65_536
MAX_SCHEMA_DEPTH: Final = 32
_COMBINATORS: Final = ("anyOf", "oneOf", "allOf")
# Conditions at the root that model providers refuse; the server itself still checks them.
_ROOT_CONDITIONS: Final = ("not", "if", "then", "else")
_BRANCH_OF_CONDITIONS: Final = frozenset({"required", "type", "title", "description"})


class UnfitSchemaError(ValueError):
    """A tool's input schema cannot be offered to a model; the message says why."""


def is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    """Whether a JSON value is an object."""
    return isinstance(value, dict)


def is_list(value: Any) -> TypeGuard[list[Any]]:
    """Whether a JSON value is an array."""
    return isinstance(value, list)


def clean_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The input schema as a model's provider accepts it: an object at the root, every `$ref` resolved within `$defs`.

    Alternatives at the root that only say which fields go together are dropped (the server checks them). Raises
    `UnfitSchemaError` for a root that is no object, real alternatives at the root, a dangling reference, or a schema that
    is too large or too deep.
    """
    try:
        text = json.dumps(schema, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise UnfitSchemaError("its schema is not JSON") from error
    if len(text) > MAX_SCHEMA_CHARS:
        raise UnfitSchemaError(f"its schema is longer than {MAX_SCHEMA_CHARS} characters")
    root = _inlined(json.loads(text))
    _bounded(root, MAX_SCHEMA_DEPTH)
    for word in _COMBINATORS:
        branches: list[Any] = root.pop(word, [])
        if not all(is_object(branch) and branch.keys() <= _BRANCH_OF_CONDITIONS for branch in branches):
            raise UnfitSchemaError(f"its schema has alternatives ({word}) at the root")
    for word in _ROOT_CONDITIONS:
        root.pop(word, None)
    if root.get("type", "object") not in ("object", ["object"]):
        raise UnfitSchemaError(f"the root of its schema is {root['type']!r}, not an object")
    root["type"] = "object"
    if not is_object(root.setdefault("properties", {})):
        raise UnfitSchemaError("the properties of its schema are no object")
    for reference in _references(root):
        if _resolved(root, reference) is None:
            raise UnfitSchemaError(f"its schema refers to {reference!r}, which is not in it")
    return root


def sendable(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments to send: what was given and nothing else. A null stays only where the schema allows one.

    The text "null" is a text like any other.
    """
    sent: dict[str, Any] = {}
    properties = schema.get("properties", {})
    for name, value in arguments.items():
        field = _followed(schema, properties.get(name))
        if value is None and not _allows_null(schema, field):
            continue
        sent[name] = _nested(value, field, schema)
    return sent


def _nested(value: Any, field: Any, root: Mapping[str, Any]) -> Any:
    if is_object(value) and is_object(field) and "properties" in field:
        return sendable(value, {**field, "$defs": root.get("$defs", {}), "definitions": root.get("definitions", {})})
    return value


def _allows_null(root: Mapping[str, Any], field: Any) -> bool:
    if not is_object(field):
        return field is True
    kinds = field.get("type")
    if kinds is not None:
        return kinds == "null" or (is_list(kinds) and "null" in kinds)
    for word in ("anyOf", "oneOf"):
        if word in field:
            return any(_allows_null(root, _followed(root, branch)) for branch in field[word])
    if "enum" in field:
        return None in field["enum"]
    return "const" not in field or field["const"] is None


def _followed(root: Mapping[str, Any], field: Any) -> Any:
    """The field behind a chain of references; a chain without an end is nothing."""
    for _ in range(MAX_SCHEMA_DEPTH):
        if not is_object(field) or "$ref" not in field:
            return field
        field = _resolved(root, field["$ref"])
    return None


def _inlined(schema: Any) -> dict[str, Any]:
    """The root without a reference of its own."""
    if not is_object(schema):
        raise UnfitSchemaError("its schema is not an object")
    reference = schema.get("$ref")
    if reference is None:
        return schema
    target = _followed(schema, {"$ref": reference})
    if not is_object(target):
        raise UnfitSchemaError(f"its schema refers to {reference!r}, which is not in it")
    return {**{name: value for name, value in schema.items() if name != "$ref"}, **target}


def _resolved(root: Mapping[str, Any], reference: Any) -> Any:
    """What a local JSON pointer such as `#/$defs/Food` points at; None for anything else."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    found: Any = root
    for step in reference.removeprefix("#").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if not is_object(found) or name not in found:
            return None
        found = found[name]
    return found


def _references(schema: Any) -> list[Any]:
    if is_object(schema):
        own: list[Any] = [schema["$ref"]] if "$ref" in schema and not is_object(schema["$ref"]) else []
        return own + [found for value in schema.values() for found in _references(value)]
    if is_list(schema):
        return [found for value in schema for found in _references(value)]
    return []


def _bounded(schema: Any, left: int) -> None:
    if left < 0:
        raise UnfitSchemaError(f"its schema is deeper than {MAX_SCHEMA_DEPTH} levels")
    if is_object(schema):
        schema = list(schema.values())
    if is_list(schema):
        for value in schema:
            _bounded(value, left - 1)
