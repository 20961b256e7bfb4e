"""LangChain's `create_agent`: with its limits and nothing kept, or with LangGraph's PostgreSQL saver after every step."""

import uuid
from collections.abc import AsyncIterator, Iterator
from typing import Any

from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]  # loosely typed there
from langchain.agents.middleware import ModelCallLimitMiddleware, ToolCallLimitMiddleware
from langchain_core.tools import BaseTool, tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

from benchmarks.peers.peer import SYSTEM, Event, Place, look_up


def _model(place: Place) -> ChatOpenAI:
    return ChatOpenAI(
        model=place.model,
        base_url=place.model_url,
        api_key="x",  # type: ignore[arg-type]  # pydantic makes a secret of it
        max_retries=0,
        streaming=True,
        stream_usage=True,
    )


def _search() -> BaseTool:
    @tool
    async def knowledge_search(query: str) -> str:
        """在知识库里检索。"""
        return look_up(query)

    return knowledge_search


def _input(question: str) -> Any:
    return {"messages": [{"role": "user", "content": question}]}


class LimitedAgent:
    """Peer (b): model-call and tool-call limits, read through `astream_events`."""

    def __init__(self, place: Place) -> None:
        self._place = place

    async def open(self) -> None:
        limits: list[Any] = [ModelCallLimitMiddleware(run_limit=3), ToolCallLimitMiddleware(run_limit=2)]
        self._agent: Any = create_agent(_model(self._place), [_search()], system_prompt=SYSTEM, middleware=limits)

    async def events(self, question: str) -> AsyncIterator[Event]:
        async for event in self._agent.astream_events(_input(question), version="v2"):
            match event["event"]:
                case "on_chat_model_stream":
                    if text := event["data"]["chunk"].content:
                        yield "text", text if isinstance(text, str) else text[0]["text"]
                case "on_tool_start":
                    yield "tool_call", event["name"]
                case "on_tool_end":
                    yield "tool_result", str(event["data"]["output"].content)
                case _:
                    pass


class SavedAgent:
    """Peer (c): a checkpoint is committed before each next step (`durability='sync'`); read through its quicker `astream`."""

    def __init__(self, place: Place) -> None:
        self._place = place

    async def open(self) -> None:
        options: dict[str, Any] = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
        pool: Any = AsyncConnectionPool(
            self._place.database_url, min_size=self._place.pool, max_size=self._place.pool, open=False, kwargs=options
        )
        await pool.open(wait=True)
        saver = AsyncPostgresSaver(pool)
        await saver.setup()
        self._agent: Any = create_agent(_model(self._place), [_search()], system_prompt=SYSTEM, checkpointer=saver)

    async def events(self, question: str) -> AsyncIterator[Event]:
        thread = {"configurable": {"thread_id": uuid.uuid4().hex}}
        modes = ["messages", "updates"]
        async for mode, part in self._agent.astream(_input(question), thread, stream_mode=modes, durability="sync"):
            if mode == "messages":
                message = part[0]
                if message.type == "AIMessageChunk" and message.content:
                    yield "text", message.content
                continue
            for event in _of_updates(part):
                yield event


def _of_updates(updates: dict[str, Any]) -> Iterator[Event]:
    for update in updates.values():
        messages: list[Any] = update["messages"] if update else []
        for message in messages:
            if message.type == "ai":
                for call in message.tool_calls:
                    yield "tool_call", call["name"]
            elif message.type == "tool":
                yield "tool_result", message.content
