"""The audit trail: decisions, model calls, tool calls, confirmations, append-only (AUDIT)."""

from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

from yuzui.model.calls import ModelCallRecord
from yuzui.owner import Owner


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
    kind: Literal["tool_call"] = "tool_call"


@dataclass(frozen=True, kw_only=True, slots=True)
class ConfirmationRecord:
    """One decision of a person about a pending action."""

    action_id: str
    by: str
    at: str
    decision: str
    kind: Literal["confirmation"] = "confirmation"


AuditRecord: TypeAlias = ModelCallRecord | ToolCallRecord | ConfirmationRecord


class AuditReader(Protocol):
    """Reads the trail. Below: PostgreSQL, or memory in tests."""

    async def read(self, owner: Owner, run_id: str) -> dict[str, Any]:
        """One run's audit in the shape of the public interface; `NotFoundError` for another owner's run."""
        ...
