"""Stored rows to records, and back."""

from collections.abc import Mapping
from typing import Any, Final

from yuzui.owner import Caller, Owner, Role
from yuzui.runs.actions import PendingAction
from yuzui.runs.run import NewRun, RunRecord, Session, StoredMessage

RUN_COLUMNS: Final = (
    "id, session_id, tenant, user_id, app, kind, action_id, caller, text, message_id, status, outcome, attempt, route, policy,"
    " message, usage, error, pending_action_id, cancel_requested_by, created_at, finished_at"
)


def caller_json(caller: Caller) -> dict[str, Any]:
    """A caller as the run's row keeps it."""
    return {
        "tenant": caller.owner.tenant,
        "user": caller.owner.user,
        "name": caller.name,
        "roles": sorted(caller.roles),
        "locale": caller.locale,
        "timezone": caller.timezone,
    }


def to_caller(stored: Mapping[str, Any]) -> Caller:
    """The caller of a run's row."""
    return Caller(
        owner=Owner(tenant=stored["tenant"], user=stored["user"]),
        name=stored["name"],
        roles=frozenset(Role(role) for role in stored["roles"]),
        locale=stored["locale"],
        timezone=stored["timezone"],
    )


def to_run(row: Mapping[str, Any]) -> RunRecord:
    """A run."""
    return RunRecord(
        id=row["id"],
        session_id=row["session_id"],
        app=row["app"],
        owner=Owner(tenant=row["tenant"], user=row["user_id"]),
        status=row["status"],
        outcome=row["outcome"],
        attempt=row["attempt"],
        text=row["text"],
        message_id=row["message_id"],
        caller=to_caller(row["caller"]),
        route=row["route"],
        policy=row["policy"],
        message=row["message"],
        usage=row["usage"],
        pending_action_id=row["pending_action_id"],
        error=row["error"],
        cancel_requested_by=row["cancel_requested_by"],
        kind=row["kind"],
        action_id=row["action_id"],
        created_at=row["created_at"],
        finished_at=row["finished_at"],
    )


def born_run(new: NewRun, *, claimed: bool, created_at: Any) -> RunRecord:
    """The record of a run that was just stored, without reading it."""
    return RunRecord(
        id=new.id,
        session_id=new.session_id,
        app=new.app,
        owner=new.caller.owner,
        status="running" if claimed else "queued",
        outcome=None,
        attempt=int(claimed),
        text=new.text,
        message_id=new.message_id,
        caller=new.caller,
        route=None,
        policy=None,
        message=None,
        usage=None,
        pending_action_id=None,
        error=None,
        cancel_requested_by=None,
        kind=new.kind,
        action_id=new.action_id,
        created_at=created_at,
        finished_at=None,
    )


def to_session(row: Mapping[str, Any]) -> Session:
    """A session."""
    return Session(
        id=row["id"],
        app=row["app"],
        owner=Owner(tenant=row["tenant"], user=row["user_id"]),
        title=row["title"],
        memory_status=row["memory_status"],
        created_at=row["created_at"],
    )


def to_message(row: Mapping[str, Any]) -> StoredMessage:
    """A message."""
    return StoredMessage(
        id=row["id"],
        session_id=row["session_id"],
        run_id=row["run_id"],
        role=row["role"],
        text=row["text"],
        html=row["html"],
        status=row["status"],
        created_at=row["created_at"],
    )


def to_action(row: Mapping[str, Any]) -> PendingAction:
    """A pending action."""
    return PendingAction(
        id=row["id"],
        run_id=row["run_id"],
        session_id=row["session_id"],
        app=row["app"],
        owner=Owner(tenant=row["tenant"], user=row["user_id"]),
        tool=row["tool"],
        arguments=row["arguments"],
        summary=row["summary"],
        digest=row["digest"],
        policy_hash=row["policy_hash"],
        catalog_version=row["catalog_version"],
        approval=row["approval"],
        status=row["status"],
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        result_run_id=row["result_run_id"],
        superseded_by=row["superseded_by"],
        outcome=row["outcome"],
    )
