"""A pydantic-ai agent, read through `run_stream_events`; nothing kept."""

from collections.abc import AsyncIterator
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from benchmarks.peers.peer import SYSTEM, Event, Place, look_up


class PydanticAgent:
    """Peer (d)."""

    def __init__(self, place: Place) -> None:
        provider = OpenAIProvider(base_url=place.model_url, api_key="x")
        self._agent: Any = Agent(OpenAIChatModel(place.model, provider=provider), instructions=SYSTEM)

    async def open(self) -> None:
        async def knowledge_search(query: str) -> str:
            """在知识库里检索。"""
            return look_up(query)

        self._agent.tool_plain(knowledge_search)

    async def events(self, question: str) -> AsyncIterator[Event]:
        async with self._agent.run_stream_events(question) as events:
            async for event in events:
                match event.event_kind:
                    case "part_start" if event.part.part_kind == "text" and event.part.content:
                        yield "text", event.part.content
                    case "part_delta" if event.delta.part_delta_kind == "text":
                        yield "text", event.delta.content_delta
                    case "function_tool_call":
                        yield "tool_call", event.part.tool_name
                    case "function_tool_result":
                        yield "tool_result", str(event.part.content)
                    case _:
                        pass
