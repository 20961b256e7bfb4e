"""A model within a budget: every call is reserved, timed, counted and audited in one place (R-AUD-01, R-FENCE-01)."""

import hashlib
import time
from collections.abc import Callable

from yuzui.budget import Meter
from yuzui.errors import ModelError, YuzuiError
from yuzui.model.calls import ModelCallRecord
from yuzui.model.port import Capabilities, Model, ModelReply, ModelRequest, TextSink


class ModelBudgetError(ModelError):
    """No model call is left in this run's budget."""

    code = "model_budget"
    status = 429


class MeteredModel:
    """Wraps a `Model` for one run. `record` receives one `ModelCallRecord` per call, whatever its outcome."""

    def __init__(self, model: Model, meter: Meter, record: Callable[[ModelCallRecord], None]) -> None:
        self._model = model
        self._meter = meter
        self._record = record

    @property
    def name(self) -> str:
        """The wrapped model's name."""
        return self._model.name

    @property
    def capabilities(self) -> Capabilities:
        """The wrapped model's capabilities."""
        return self._model.capabilities

    async def complete(self, request: ModelRequest, on_text: TextSink | None = None) -> ModelReply:
        """Reserve, call, count. Raises `ModelBudgetError` when no call is left, and whatever the model raises."""
        if not self._meter.reserve_model():
            raise ModelBudgetError
        started, outcome = time.monotonic(), "error"
        reply: ModelReply | None = None
        try:
            reply = done = await self._model.complete(request, on_text)
            outcome = "ok"
        except YuzuiError as error:
            outcome = error.code
            raise
        finally:
            self._count(request, reply, outcome, round((time.monotonic() - started) * 1000))
        return done

    def _count(self, request: ModelRequest, reply: ModelReply | None, outcome: str, ms: int) -> None:
        tokens_in = reply.usage.tokens_in if reply else 0
        tokens_out = reply.usage.tokens_out if reply else 0
        cost = reply.usage.cost if reply else 0.0
        self._meter.tokens_in += tokens_in
        self._meter.tokens_out += tokens_out
        self._meter.cost += cost
        system = request.messages[0].text if request.messages and request.messages[0].role == "system" else ""
        self._record(
            ModelCallRecord(
                purpose=request.purpose,
                model=reply.model if reply else self._model.name,
                tokens_in=tokens_in,
                tokens_out=tokens_out,
                ms=ms,
                cost=cost,
                outcome=outcome,
                prompt_hash=hashlib.sha256(system.encode()).hexdigest()[:16],
            )
        )
