"""The native engine: tool calling of the model's server, with LangChain's agent loop (R-REACT-01, R-REACT-03)."""

import asyncio
from typing import Any

from yuzui.adapters.langchain.native_run import NativeRun
from yuzui.errors import DeadlineExceededError, ModelError
from yuzui.execution.engine import Answer, Engine, Turn
from yuzui.execution.react import JsonActionEngine
from yuzui.model.port import ToolsUnsupportedError


class NativeEngine:
    """An `Engine` over LangChain's `create_agent`. A model without tool support is served by `fallback`, the JSON-action loop.

    LangChain is imported with the first run, in a thread, since that takes seconds; `warm` does it earlier.
    """

    def __init__(self, fallback: Engine | None = None) -> None:
        self._fallback = fallback or JsonActionEngine()
        self._graph: Any = None
        self._lock = asyncio.Lock()

    async def warm(self) -> None:
        """Import LangChain and compile the graph, once."""
        async with self._lock:
            if self._graph is None:
                self._graph = await asyncio.to_thread(_compile)

    async def run(self, turn: Turn) -> Answer:
        """Answer one turn."""
        if not turn.model.capabilities.native_tools:
            return await self._fallback.run(turn)
        if self._graph is None:
            try:
                async with turn.meter.deadline.scope():
                    await self.warm()
            except TimeoutError:
                raise DeadlineExceededError from None
        run = NativeRun(turn)
        try:
            await _drive(self._graph, run)
        except ToolsUnsupportedError as error:
            if run.loop.observations or turn.meter.model_calls >= turn.meter.budget.model_calls:
                return run.loop.failed(error)
            return await self._fallback.run(turn)
        except (ModelError, DeadlineExceededError) as error:
            return run.loop.failed(error)
        if run.result is None:
            raise ModelError("the agent loop ended without an answer")
        return run.result


def _compile() -> Any:
    from yuzui.adapters.langchain.graph import compiled

    return compiled()


async def _drive(graph: Any, run: NativeRun) -> None:
    from yuzui.adapters.langchain.graph import drive

    await drive(graph, run)
