"""LangChain's agent loop around a `NativeRun`: one compiled graph for all runs (R-REACT-01).

The graph decides nothing: its model node asks the run for a step, its tools node asks the run for observations, and our
middleware stands where LangChain's limits would. Text goes to the run's log, not through LangChain's event stream.
"""

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any

from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]  its overloads leave a type open
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command
from typing_extensions import override

from yuzui.adapters.langchain.native_run import NativeRun

CURRENT: ContextVar[NativeRun] = ContextVar("yuzui_native_run")


class StepModel(BaseChatModel):
    """The model node: one step of the current run, as the AI message that LangChain routes by."""

    @property
    @override
    def _llm_type(self) -> str:
        return "yuzui"

    @override
    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        raise RuntimeError("runs are asynchronous; a model is asked with ainvoke")

    @override
    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        *,
        with_tools: bool = False,
        **kwargs: Any,
    ) -> ChatResult:
        text, calls = await CURRENT.get().step(with_tools=with_tools)
        proposed: list[Any] = [{"name": call.name, "args": {}, "id": call.id, "type": "tool_call"} for call in calls]
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content=text, tool_calls=proposed))])


class Fences(AgentMiddleware[Any, Any, Any]):
    """Our limits as middleware: no tools in the last permitted step, every call through the gateway, every call id answered."""

    @override
    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        return await handler(request.override(model_settings={"with_tools": CURRENT.get().loop.offers_tools()}))

    @override
    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage:
        """Never calls `handler`: the gateway is the one place where a tool is called (decision 1)."""
        call_id = request.tool_call["id"] or ""
        text = await CURRENT.get().observe(call_id)  # nothing is caught here: interrupts and a lost run pass through
        return ToolMessage(content=text, name=request.tool_call["name"], tool_call_id=call_id)


def compiled() -> Any:
    """The agent graph. It holds no tools, since the catalog of the current run decides; so one graph serves every catalog."""
    return create_agent(StepModel(), [], middleware=[Fences()])


async def drive(graph: Any, run: NativeRun) -> None:
    """Run the graph until the run has its result. Raises what a model or the gateway raises."""
    token = CURRENT.set(run)
    limit = 4 * run.turn.meter.budget.model_calls + 20  # ours end the loop long before LangGraph's could
    try:
        await graph.ainvoke({"messages": [HumanMessage(run.turn.user)]}, {"recursion_limit": limit})
    finally:
        CURRENT.reset(token)
