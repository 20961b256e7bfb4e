"""The neutral message list: what a conversation is, independent of any provider."""

from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCall:
    """A call as the model proposed it. `arguments` is the raw text; only a parser of ours makes an object of it.

    `truncated` is set when the output stopped at the token limit: such arguments are never repaired (decision 2).
    """

    id: str
    name: str
    arguments: str
    truncated: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class SystemMessage:
    """Instructions; only code and prompt files write them."""

    text: str
    role: Literal["system"] = "system"


@dataclass(frozen=True, kw_only=True, slots=True)
class UserMessage:
    """What the person said, or a note of the loop to the model."""

    text: str
    role: Literal["user"] = "user"


@dataclass(frozen=True, kw_only=True, slots=True)
class AssistantMessage:
    """What the model said and which calls it proposed. `reasoning` is private: it goes back to the provider, nowhere else."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str | None = None
    role: Literal["assistant"] = "assistant"


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolMessage:
    """The observation of one call, as text for the model."""

    call_id: str
    name: str
    text: str
    role: Literal["tool"] = "tool"


Message: TypeAlias = SystemMessage | UserMessage | AssistantMessage | ToolMessage
