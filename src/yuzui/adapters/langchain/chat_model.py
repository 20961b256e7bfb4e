"""A chat model of any provider that LangChain knows, as a `Model` (R-REACT-04). LangChain is imported with the first call."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, cast

from yuzui.adapters.langchain.convert import Collected, to_langchain, tool_schema
from yuzui.adapters.openai.errors import error_of
from yuzui.errors import (
    DeadlineExceededError,
    ModelError,
    ModelStreamCutError,
    ModelUnavailableError,
    SettingsError,
)
from yuzui.model.port import Capabilities, ModelReply, ModelRequest, TextSink
from yuzui.model.validator import prepare

_UNREACHABLE = ("Connect", "Timeout", "Network", "RemoteProtocol", "ServiceUnavailable", "RateLimit", "Overloaded")


class LangChainModel:
    """One model, named `provider:name`. `options` go to `init_chat_model`; the provider's own retries are switched off, since
    `RetryingModel` is the one retry layer. `make` builds the chat model and is replaced in tests.

    Errors as the port says; `SettingsError` when the provider's package is not installed.
    """

    def __init__(
        self,
        spec: str,
        *,
        capabilities: Capabilities | None = None,
        options: Mapping[str, Any] | None = None,
        make: Callable[..., Any] | None = None,
    ) -> None:
        self._spec = spec
        self._capabilities = capabilities or Capabilities()
        self._options = dict(options or {})
        self._make = make or _init
        self._chat: Any = None
        self._lock = asyncio.Lock()

    @property
    def name(self) -> str:
        """The model's name without its provider."""
        return self._spec.partition(":")[2] or self._spec

    @property
    def capabilities(self) -> Capabilities:
        """As declared; LangChain hides what the server can do."""
        return self._capabilities

    async def check(self) -> None:
        """Make the provider's chat model without asking it. Raises `SettingsError` when that cannot be."""
        async with self._lock:
            if self._chat is None:
                self._chat = await asyncio.to_thread(self._make, self._spec, self._options)

    async def complete(self, request: ModelRequest, on_text: TextSink | None = None) -> ModelReply:
        """Run one call."""
        request.deadline.check()
        collected = Collected()
        try:
            async with request.deadline.scope():
                chat = await self._ready(request)
                async for chunk in chat.astream(to_langchain(prepare(request.messages, self._capabilities))):
                    text = collected.add(chunk)
                    if text and on_text is not None:
                        on_text(text)
        except TimeoutError as error:
            if request.deadline.remaining() > 0:
                raise ModelUnavailableError("the model's server did not answer in time") from error
            raise DeadlineExceededError from None
        except (ModelError, SettingsError):
            raise
        except Exception as error:  # providers' packages share no base error; this is their edge
            raise _translated(error) from error
        rest = collected.close()
        if collected.finish_reason is None:
            raise ModelStreamCutError
        if rest and on_text is not None:
            on_text(rest)
        return collected.reply(request, self.name)

    async def _ready(self, request: ModelRequest) -> Any:
        await self.check()
        chat = self._chat
        if request.tools and self._capabilities.native_tools:
            chat = chat.bind_tools([tool_schema(tool) for tool in request.tools])
        return chat


def _init(spec: str, options: Mapping[str, Any]) -> Any:
    from langchain.chat_models import init_chat_model

    try:
        made = cast("Any", init_chat_model(spec, max_retries=0, **options))
    except ImportError as error:
        raise SettingsError(f"YUZUI_MODEL: {error}") from error
    except Exception as error:  # providers' packages share no base error; this is their edge
        raise SettingsError(f"YUZUI_MODEL: {spec!r} cannot be used: {str(error).splitlines()[0]}") from error
    return made


def _translated(error: Exception) -> ModelError:
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", None) or getattr(response, "status_code", None)
    if isinstance(status, int):
        return error_of(status, str(error).encode(), getattr(response, "headers", None) or {})
    kinds = [kind.__name__ for kind in type(error).__mro__]
    if isinstance(error, OSError) or any(mark in name for name in kinds for mark in _UNREACHABLE):
        return ModelUnavailableError(f"the model's server cannot be reached ({type(error).__name__})")
    return error_of(400, str(error).encode(), {})
