"""The audit trail: decisions, model calls, tool calls, confirmations, append-only (AUDIT)."""

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from yuzui.owner import Owner


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelCallRecord:
    """One model call. `ms` is wall time; `prompt_hash` names the prompt without holding it."""

    purpose: str
    model: str
    tokens_in: int
    tokens_out: int
    ms: int
    cost: float
    outcome: str
    prompt_hash: str = ""
    kind: str = "model_call"


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCallRecord:
    """One tool call with redacted arguments."""

    key: str
    tool: str
    effect: str
    arguments: dict[str, Any]
    outcome: str
    ms: int
    reused: bool
    kind: str = "tool_call"


@dataclass(frozen=True, kw_only=True, slots=True)
class ConfirmationRecord:
    """One decision of a person about a pending action."""

    action_id: str
    by: str
    at: str
    decision: str
    kind: str = "confirmation"


AuditRecord: TypeAlias = ModelCallRecord | ToolCallRecord | ConfirmationRecord


class AuditReader(Protocol):
    """Reads the trail. Below: PostgreSQL, or memory in tests."""

    async def read(self, owner: Owner, run_id: str) -> dict[str, Any]:
        """One run's audit in the shape of the public interface; `NotFoundError` for another owner's run."""
        ...
