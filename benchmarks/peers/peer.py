"""What a peer is: one task in, events out."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

Event: TypeAlias = tuple[Literal["tool_call", "tool_result", "text"], str]

SYSTEM = "你是运维助手。先检索，再回答。"
FACT = "两个事务各自持有对方需要的锁，谁都不能继续。"


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where a peer finds its model and, when it keeps anything, its database."""

    model: str
    model_url: str
    database_url: str
    pool: int = 16


class Peer(Protocol):
    """One way to run the task. Above: the HTTP host in `benchmarks.peers.server`. Below: a library."""

    async def open(self) -> None:
        """Build what lives as long as the process: clients, agents, pools."""
        ...

    def events(self, question: str) -> AsyncIterator[Event]:
        """Run the task once."""
        ...


def look_up(query: str) -> str:
    """What the one tool of every peer answers, the product's included."""
    return f"{FACT}（{query}）"


TOOL_SCHEMA: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "knowledge_search",
        "description": "在知识库里检索。",
        "parameters": {
            "type": "object",
            "properties": {"query": {"type": "string", "description": "检索词"}},
            "required": ["query"],
        },
    },
}
