"""A tool: a function with a validated schema, an effect, and limits of its own (TOOL)."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel

from yuzui.owner import Locale

Effect: TypeAlias = Literal["read", "draft", "write"]
ToolFunction: TypeAlias = Callable[..., Awaitable[Any] | Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Card:
    """A structured piece of an answer that a front end renders: facts as fields or items, follow-ups as messages."""

    kind: str
    title: str
    fields: tuple[tuple[str, str], ...] = ()
    items: tuple[str, ...] = ()
    actions: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Tool:
    """What every tool is. `arguments` is the pydantic model of what the caller of the tool may fill; `schema` is the JSON
    Schema the model sees. `timeout_s` in seconds; `retries` for transient faults of reads; `max_output` in characters of
    the observation as text. `key` maps validated arguments to the tool's own idempotency key (R-FENCE-02).
    """

    name: str
    description: str
    fn: ToolFunction
    arguments: type[BaseModel]
    schema: dict[str, Any]
    timeout_s: float = 20.0
    retries: int = 1
    max_output: int = 6_000
    key: Callable[[BaseModel], object] | None = None
    redact: frozenset[str] = frozenset()
    labels: Mapping[Locale, str] = field(default_factory=dict[Locale, str])


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ReadTool(Tool):
    """Reads only; may be retried, may run in parallel, may be offered to an engine."""

    effect: Literal["read"] = "read"


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class WriteTool(Tool):
    """Changes something. Only the confirmation executor may call it (R-TOOL-05); an engine can at most propose it.

    `summary` makes the card's text from validated arguments in code, with absolute local dates (decision 3).
    `transactional` writes go to the platform's database in one transaction with the ledger row (exactly once); others
    receive the idempotency key.
    """

    summary: Callable[[Any, BaseModel], str]
    transactional: bool = True
    approval: Literal["self", "approver"] = "self"
    check: Callable[..., Awaitable[None]] | None = None
    reconcile: Callable[..., Awaitable[bool | None]] | None = None
    effect: Literal["write"] = "write"


AnyTool: TypeAlias = ReadTool | WriteTool
