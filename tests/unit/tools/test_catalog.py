"""The catalog: policy ∩ what is available, with a version that is a pure function of both."""

from typing import Any

import pytest

from yuzui.errors import RequiredToolMissingError
from yuzui.testing.harness import read_tool, write_tool
from yuzui.tools.catalog import compile_catalog
from yuzui.tools.context import Ctx
from yuzui.tools.tool import AnyTool


async def find(ctx: Ctx[Any], query: str) -> str:
    """Find."""
    return query


async def save(ctx: Ctx[Any], text: str) -> str:
    """Save."""
    return text


REGISTRY: dict[str, AnyTool] = {"find": read_tool(find), "save": write_tool(save)}


def test_R_TOOL_05_a_write_given_as_a_read_is_not_held() -> None:
    catalog = compile_catalog(REGISTRY, reads=["find", "save"])
    assert catalog.names() == ("find",)


def test_R_TOOL_01_a_missing_required_tool_fails_by_name() -> None:
    with pytest.raises(RequiredToolMissingError, match="find"):
        compile_catalog(REGISTRY, reads=["find"], required=["find"], unavailable=["find"])


def test_R_TOOL_01_the_version_follows_content_and_not_order() -> None:
    one = compile_catalog(REGISTRY, reads=["find"], drafts=["save"])
    same = compile_catalog(dict(reversed(REGISTRY.items())), reads=["find"], drafts=["save"])
    changed = compile_catalog(
        {**REGISTRY, "find": read_tool(find, description="Other.")}, reads=["find"], drafts=["save"]
    )
    assert one.version == same.version != changed.version


def test_what_a_model_sees_is_sorted_and_holds_no_owner() -> None:
    catalog = compile_catalog(REGISTRY, reads=["find"], drafts=["save"])
    assert [spec.name for spec in catalog.specs()] == ["find", "save"]
    assert set(catalog.specs()[0].parameters["properties"]) == {"query"}
