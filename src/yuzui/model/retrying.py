"""The one retry layer of a model: back-off with jitter, within the run's deadline, before any text was shown (R-REACT-04)."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable

from yuzui.errors import ModelError, ModelStreamCutError, ModelUnavailableError
from yuzui.model.port import Capabilities, Model, ModelReply, ModelRequest, TextSink

_RANDOM = secrets.SystemRandom()


class TextWatch:
    """Passes text on and remembers whether there was any: text that was shown cannot be taken back by a second try."""

    def __init__(self, sink: TextSink | None) -> None:
        self._sink = sink
        self.shown = False

    def __call__(self, text: str) -> None:
        """Pass one piece on."""
        if text:
            self.shown = True
        if self._sink is not None:
            self._sink(text)


class RetryingModel:
    """Wraps a `Model`: tries a retryable failure again, `tries` in all, and gives up when the wait does not fit the deadline.

    `base` and `cap` bound one back-off in seconds; the wait is drawn evenly from 0 to `base · 2ⁿ`, at least what the
    provider's Retry-After asks for. `sleep` is replaced in tests.
    """

    def __init__(
        self,
        model: Model,
        *,
        tries: int = 3,
        base: float = 0.5,
        cap: float = 8.0,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._model = model
        self._tries = tries
        self._base = base
        self._cap = cap
        self._sleep = sleep

    @property
    def name(self) -> str:
        """The wrapped model's name."""
        return self._model.name

    @property
    def capabilities(self) -> Capabilities:
        """The wrapped model's capabilities."""
        return self._model.capabilities

    async def complete(self, request: ModelRequest, on_text: TextSink | None = None) -> ModelReply:
        """Run one call, tried again while that is harmless. Raises the last error."""
        watch = TextWatch(on_text)
        sink = watch if on_text is not None else None
        for attempt in range(self._tries):
            try:
                return await self._model.complete(request, sink)
            except (ModelUnavailableError, ModelStreamCutError) as error:
                wait = self._wait(attempt, error)
                if watch.shown or attempt + 1 >= self._tries or wait >= request.deadline.remaining():
                    raise
                await self._sleep(wait)
        raise AssertionError("the loop above returns or raises")

    def _wait(self, attempt: int, error: ModelError) -> float:
        drawn = _RANDOM.uniform(0, min(self._cap, self._base * 2**attempt))
        return drawn if error.retry_after is None else error.retry_after + drawn * 0.25
