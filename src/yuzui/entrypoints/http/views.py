"""The public JSON forms of stored records. Times are UTC in RFC 3339; nothing private is in them."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from yuzui.runs.actions import PendingAction
from yuzui.runs.run import RunRecord, Session, StoredMessage

T = TypeVar("T")


def timestamp(at: datetime) -> str:
    """RFC 3339 in UTC with a Z."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def page(items: Sequence[T], following: str | None, form: Callable[[T], dict[str, Any]]) -> dict[str, Any]:
    """A list: its items and the cursor of the next page, or null."""
    return {"items": [form(item) for item in items], "next": following}


def session_json(session: Session) -> dict[str, Any]:
    """A session."""
    return {
        "id": session.id,
        "app": session.app,
        "title": session.title,
        "memory_status": session.memory_status,
        "created_at": timestamp(session.created_at),
    }


def message_json(message: StoredMessage) -> dict[str, Any]:
    """A message."""
    return {
        "id": message.id,
        "role": message.role,
        "text": message.text,
        "html": message.html,
        "run_id": message.run_id,
        "status": message.status,
        "created_at": timestamp(message.created_at),
    }


def run_json(run: RunRecord) -> dict[str, Any]:
    """A run with its route, policy, answer, usage and error, as far as they exist."""
    return {
        "id": run.id,
        "session_id": run.session_id,
        "app": run.app,
        "status": run.status,
        "outcome": run.outcome,
        "attempt": run.attempt,
        "route": run.route,
        "policy": run.policy,
        "message": run.message,
        "usage": run.usage,
        "pending_action_id": run.pending_action_id,
        "error": run.error,
        "created_at": timestamp(run.created_at),
        "finished_at": timestamp(run.finished_at) if run.finished_at else None,
    }


def action_json(action: PendingAction) -> dict[str, Any]:
    """A pending action."""
    return {
        "id": action.id,
        "run_id": action.run_id,
        "session_id": action.session_id,
        "app": action.app,
        "result_run_id": action.result_run_id,
        "tool": action.tool,
        "summary": action.summary,
        "arguments": action.arguments,
        "status": action.status,
        "approval": action.approval,
        "expires_at": timestamp(action.expires_at),
        "superseded_by": action.superseded_by,
        "outcome": action.outcome,
        "created_at": timestamp(action.created_at),
    }
