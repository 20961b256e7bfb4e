"""`yuzui doctor` on a model that can never answer: said before the first question, with what to do."""

import pytest

from yuzui.bootstrap.diagnosis import diagnose
from yuzui.entrypoints.cli.composer import Part
from yuzui.settings import load_settings


async def model_part(**values: str) -> Part:
    settings = load_settings(environ={f"YUZUI_{name.upper()}": value for name, value in values.items()})
    (part,) = [part for part in await diagnose(settings) if part.name == "model"]
    return part


async def test_R_DEG_02_a_model_with_neither_key_nor_server_is_invalid_and_names_both_settings() -> None:
    part = await model_part(model="openai:qwen-plus")
    assert part.state == "invalid"
    assert "YUZUI_MODEL_API_KEY" in part.detail
    assert "YUZUI_MODEL_BASE_URL" in part.detail


async def test_R_DEG_02_a_provider_that_nobody_knows_is_invalid() -> None:
    part = await model_part(model="nobody:qwen-plus", model_api_key="k")
    assert part.state == "invalid"
    assert "nobody:qwen-plus" in part.detail
    assert "\n" not in part.detail


@pytest.mark.parametrize("name", ["qwen-plus", "openai:"])
async def test_a_model_name_without_its_provider_is_invalid(name: str) -> None:
    part = await model_part(model=name, model_api_key="k")
    assert part.state == "invalid"
    assert "provider:name" in part.detail


async def test_a_model_with_a_key_is_not_asked() -> None:
    assert (await model_part(model="openai:gpt-4.1-mini", model_api_key="k")).state == "ok"
