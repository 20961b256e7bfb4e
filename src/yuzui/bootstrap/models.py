"""The model of the settings: retried, with fallbacks, or none (demo mode, R-DEG-01)."""

from contextlib import AsyncExitStack
from typing import Final

from yuzui.errors import SettingsError
from yuzui.model.port import Capabilities, Model
from yuzui.settings import Settings

_COMPATIBLE: Final = frozenset({"openai", "openai-compatible", "vllm", "llama.cpp"})


def main_model(settings: Settings, stack: AsyncExitStack) -> Model | None:
    """The model that answers, with its fallbacks; None without `model`. Closed with the stack. Raises `SettingsError`."""
    from yuzui.model.fallback import FallbackModel

    if settings.model is None:
        return None
    models = [_one(name, settings, stack) for name in (settings.model, *settings.fallback_models)]
    return models[0] if len(models) == 1 else FallbackModel(models)


def classifier_model(settings: Settings, main: Model | None, stack: AsyncExitStack) -> Model | None:
    """The model that classifies: its own when one is set, else the main one."""
    if settings.classifier_model is None:
        return main
    return _one(settings.classifier_model, settings, stack)


async def check_provider(settings: Settings) -> None:
    """Whether the named models could be asked, without asking them. Raises `SettingsError` that says what is missing."""
    from yuzui.adapters.langchain.chat_model import LangChainModel

    named = (settings.model, *settings.fallback_models, settings.classifier_model)
    for name in dict.fromkeys(name for name in named if name is not None):
        provider = _parts(name)[0]
        if settings.model_base_url is not None:
            continue
        if provider in _COMPATIBLE:
            if settings.model_api_key is None:
                raise SettingsError(
                    f"{name} has neither a key (YUZUI_MODEL_API_KEY) nor a server (YUZUI_MODEL_BASE_URL)"
                )
            continue
        await LangChainModel(name, options=_key_option(settings)).check()


def _parts(name: str) -> tuple[str, str]:
    provider, colon, rest = name.partition(":")
    if not colon or not rest:
        raise SettingsError(f"YUZUI_MODEL: {name!r} is not provider:name, such as openai:gpt-4.1-mini")
    return provider, rest


def _key_option(settings: Settings) -> dict[str, str]:
    return {"api_key": settings.model_api_key.get_secret_value()} if settings.model_api_key else {}


def _one(name: str, settings: Settings, stack: AsyncExitStack) -> Model:
    from yuzui.adapters.openai_compatible import OpenAICompatibleModel
    from yuzui.model.retrying import RetryingModel

    provider, rest = _parts(name)
    options = _key_option(settings)
    capabilities = Capabilities(native_tools=settings.model_native_tools)
    if provider not in _COMPATIBLE and settings.model_base_url is None:
        from yuzui.adapters.langchain.chat_model import LangChainModel

        return RetryingModel(LangChainModel(name, capabilities=capabilities, options=options))
    model = OpenAICompatibleModel(
        rest, base_url=settings.model_base_url, api_key=options.get("api_key"), capabilities=capabilities
    )
    stack.push_async_callback(model.aclose)
    return RetryingModel(model)
