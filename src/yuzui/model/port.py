"""The model port: one call in, one reply out, text deltas pushed to a sink on the way."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from yuzui.budget import Deadline
from yuzui.errors import ModelRefusedError
from yuzui.model.messages import Message, ToolCall

Purpose: TypeAlias = Literal["classify", "react", "explain", "compact", "rewrite", "validate", "repair"]
FinishReason: TypeAlias = Literal["stop", "tool_calls", "length", "content_filter"]
TextSink: TypeAlias = Callable[[str], None]


class ToolsUnsupportedError(ModelRefusedError):
    """The model's server takes no tools; its `capabilities` say so from now on, and the JSON-action loop goes on."""

    code = "tools_unsupported"


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolSpec:
    """What a model sees of a tool. `parameters` is a JSON Schema object without owner fields."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Capabilities:
    """What a model's server can do. `native_tools` False means: use the JSON-action loop (R-REACT-03)."""

    native_tools: bool = True
    json_mode: bool = False
    wants_reasoning_back: bool = False
    window_tokens: int = 32_768


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelRequest:
    """One call. `max_tokens` bounds the output; `deadline` covers connect, first token and every later token."""

    messages: tuple[Message, ...]
    purpose: Purpose
    deadline: Deadline
    tools: tuple[ToolSpec, ...] = ()
    max_tokens: int | None = None
    json_object: bool = False
    temperature: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """Tokens as the provider counted them; `estimated` when it did not say. `cost` in the price table's currency."""

    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    estimated: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelReply:
    """A finished reply. `text` holds no hidden reasoning; `reasoning` is private (R-REACT-05)."""

    text: str
    finish_reason: FinishReason
    model: str
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str | None = None
    usage: Usage = field(default_factory=Usage)


class Model(Protocol):
    """A chat model. Above: `model.metered`, engines, classifier. Below: an HTTP endpoint, or a script in tests.

    `complete` pushes public text to `on_text` as it arrives (already split from reasoning) and returns the whole reply.
    Errors: `ModelUnavailableError` (retryable), `ModelOverflowError`, `ModelRefusedError` (also
    `ToolsUnsupportedError`), `ModelStreamCutError`, `DeadlineExceededError`. Cancelling the task closes the upstream connection.
    """

    @property
    def name(self) -> str:
        """Public name, as it stands in audit and usage."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What the server behind it can do."""
        ...

    async def complete(self, request: ModelRequest, on_text: TextSink | None = None) -> ModelReply:
        """Run one call."""
        ...
