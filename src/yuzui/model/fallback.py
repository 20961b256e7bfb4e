"""Ordered fallback models: the first that answers wins (R-REACT-04)."""

from collections.abc import Sequence

from yuzui.errors import ModelError, ModelOverflowError, ModelRefusedError, ModelStreamCutError, ModelUnavailableError
from yuzui.model.port import Capabilities, Model, ModelReply, ModelRequest, TextSink, ToolsUnsupportedError
from yuzui.model.retrying import TextWatch


class FallbackModel:
    """Asks the models in order. The next one is asked when one is unavailable, refuses, or has too small a window; not when
    text was already shown, and not for a missing tool capability, which the engine answers by changing the loop.

    `name` is the first model's; the reply carries the name of the one that answered. `capabilities` are the first model's,
    with native tools only while every model has them, so that whichever answers can follow the same loop.
    """

    def __init__(self, models: Sequence[Model]) -> None:
        if not models:
            raise ValueError("a fallback list holds at least one model")
        self._models = tuple(models)

    @property
    def name(self) -> str:
        """The first model's name."""
        return self._models[0].name

    @property
    def capabilities(self) -> Capabilities:
        """What every model of the list can do."""
        held = [model.capabilities for model in self._models]
        return Capabilities(
            native_tools=all(item.native_tools for item in held),
            json_mode=held[0].json_mode,
            wants_reasoning_back=any(item.wants_reasoning_back for item in held),
            window_tokens=held[0].window_tokens,
        )

    async def complete(self, request: ModelRequest, on_text: TextSink | None = None) -> ModelReply:
        """Run one call on the first model that can. Raises the first model's error when none can."""
        watch = TextWatch(on_text)
        sink = watch if on_text is not None else None
        first: ModelError | None = None
        for model in self._models:
            try:
                return await model.complete(request, sink)
            except ToolsUnsupportedError:
                raise
            except (ModelUnavailableError, ModelRefusedError, ModelStreamCutError, ModelOverflowError) as error:
                first = first or error
                if watch.shown:
                    raise
                request.deadline.check()
        raise first or ModelUnavailableError
