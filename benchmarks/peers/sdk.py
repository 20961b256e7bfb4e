"""The loop people write by hand on the OpenAI SDK: streamed, at most six rounds, nothing kept."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from openai import AsyncOpenAI

from benchmarks.peers.peer import SYSTEM, TOOL_SCHEMA, Event, Place, look_up

ROUNDS = 6


class SdkLoop:
    """Peer (a)."""

    def __init__(self, place: Place) -> None:
        self._model = place.model
        client = AsyncOpenAI(base_url=place.model_url, api_key="x", max_retries=0)
        self._create: Callable[..., Awaitable[Any]] = client.chat.completions.create

    async def open(self) -> None:
        """Nothing to build beyond the client."""

    async def events(self, question: str) -> AsyncIterator[Event]:
        messages: list[Any] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": question}]
        for _ in range(ROUNDS):
            calls: dict[int, dict[str, str]] = {}
            stream = await self._create(
                model=self._model,
                messages=messages,
                tools=[TOOL_SCHEMA],
                stream=True,
                stream_options={"include_usage": True},
            )
            async for chunk in stream:
                if not chunk.choices:
                    continue
                delta = chunk.choices[0].delta
                if delta.content:
                    yield "text", delta.content
                for part in delta.tool_calls or ():
                    call = calls.setdefault(part.index, {"id": part.id, "name": part.function.name, "arguments": ""})
                    call["arguments"] += part.function.arguments or ""
            if not calls:
                return
            messages.append(
                {"role": "assistant", "content": None, "tool_calls": [_as_message(c) for c in calls.values()]}
            )
            for call in calls.values():
                yield "tool_call", call["name"]
                result = look_up(**json.loads(call["arguments"]))
                yield "tool_result", result
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})


def _as_message(call: dict[str, str]) -> dict[str, Any]:
    return {
        "id": call["id"],
        "type": "function",
        "function": {"name": call["name"], "arguments": call["arguments"]},
    }
