"""Narrowing of values whose types only the data knows."""

from collections.abc import Mapping
from typing import Any, TypeGuard


def is_mapping(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether the value maps names to values."""
    return isinstance(value, Mapping)


def is_items(value: object) -> TypeGuard[list[Any] | tuple[Any, ...]]:
    """Whether the value is a list or a tuple."""
    return isinstance(value, list | tuple)


def is_set(value: object) -> TypeGuard[set[Any] | frozenset[Any]]:
    """Whether the value is a set."""
    return isinstance(value, set | frozenset)
