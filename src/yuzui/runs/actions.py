"""Pending actions: a frozen digest of a write that waits for a person (CONFIRM, decision 3)."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, Protocol, TypeAlias

from yuzui.owner import Owner

ActionStatus: TypeAlias = Literal[
    "pending", "executing", "executed", "rejected", "expired", "superseded", "cancelled", "failed", "uncertain"
]


@dataclass(frozen=True, kw_only=True, slots=True)
class PendingAction:
    """A write as it will run: nothing in it changes after creation but its status and outcome."""

    id: str
    run_id: str
    session_id: str
    app: str
    owner: Owner
    tool: str
    arguments: dict[str, Any]
    summary: str
    digest: str
    policy_hash: str
    catalog_version: str
    approval: Literal["self", "approver"]
    status: ActionStatus
    created_at: datetime
    expires_at: datetime
    result_run_id: str | None = None
    superseded_by: str | None = None
    outcome: dict[str, Any] | None = None


def action_digest(*, tool: str, arguments: str, owner: Owner, policy_hash: str, expires_at: datetime) -> str:
    """SHA-256 over what a person confirms; `arguments` is canonical JSON. A row whose digest differs is never executed."""
    parts = (tool, arguments, owner.tenant, owner.user, policy_hash, expires_at.astimezone(UTC).isoformat())
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


class ActionStore(Protocol):
    """Pending actions. Every transition names the status it starts from; another owner's action is `NotFoundError`.

    `by` is who decided; each decision becomes a `ConfirmationRecord` in the audit of the action's run, in the same
    transaction.
    """

    async def create(self, action: PendingAction, *, token: str) -> PendingAction:
        """Store a draft, fenced by the attempt's token (`FencedOutError`). The same (run, tool, digest of arguments)
        returns the row that exists, so that a restarted attempt drafts once.
        """
        ...

    async def get(self, owner: Owner, action_id: str) -> PendingAction:
        """One action; an open one past its expiry reads as `expired`."""
        ...

    async def list(
        self,
        owner: Owner,
        *,
        status: ActionStatus | None,
        session_id: str | None = None,
        limit: int = 50,
        after: str | None = None,
    ) -> tuple[Sequence[PendingAction], str | None]:
        """A page of the owner's actions, newest first."""
        ...

    async def begin(self, owner: Owner, action_id: str, result_run_id: str, *, by: str) -> PendingAction | None:
        """`pending → executing` in one statement (not expired, same owner), committed before the effect.

        The row in `executing` with this very `result_run_id` is returned again (a restarted attempt goes on); None when
        it was settled otherwise.
        """
        ...

    async def settle(
        self,
        action_id: str,
        *,
        frm: ActionStatus,
        to: ActionStatus,
        by: str,
        outcome: dict[str, Any] | None = None,
    ) -> bool:
        """Move from one status to another; False when the row was not in `frm`."""
        ...

    async def supersede(
        self, owner: Owner, action_id: str, replacement: PendingAction, *, by: str
    ) -> PendingAction | None:
        """Store the replacement and mark the old one `superseded`, in one transaction; None when it was not pending any more."""
        ...
