"""Pending actions and the ledger of effects in memory."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import orjson

from yuzui.errors import FencedOutError, NotFoundError
from yuzui.owner import Owner
from yuzui.runs.actions import ActionStatus, PendingAction
from yuzui.runs.audit import ConfirmationRecord
from yuzui.runs.claims import ClaimState, LedgerEntry

Held = Callable[[str, str | None], bool]


class MemoryActions:
    """`ActionStore` in memory. `held(run_id, token)` is the fence, `decided(run_id, record)` keeps the audit."""

    def __init__(self, *, held: Held, decided: Callable[[str, ConfirmationRecord], None]) -> None:
        self._held = held
        self._decided = decided
        self._actions: dict[str, PendingAction] = {}
        self._drafts: dict[tuple[str, str, bytes], str] = {}

    async def create(self, action: PendingAction, *, token: str) -> PendingAction:
        """See `ActionStore.create`."""
        if not self._held(action.run_id, token):
            raise FencedOutError
        content = orjson.dumps(action.arguments, option=orjson.OPT_SORT_KEYS)
        existing = self._drafts.setdefault((action.run_id, action.tool, content), action.id)
        return self._actions.setdefault(existing, action)

    async def get(self, owner: Owner, action_id: str) -> PendingAction:
        """See `ActionStore.get`."""
        action = self._actions.get(action_id)
        if action is None or action.owner != owner:
            raise NotFoundError
        return _shown(action)

    async def list(
        self,
        owner: Owner,
        *,
        status: ActionStatus | None,
        session_id: str | None = None,
        limit: int = 50,
        after: str | None = None,
    ) -> tuple[Sequence[PendingAction], str | None]:
        """See `ActionStore.list`."""
        found = [
            action
            for action in sorted(map(_shown, self._actions.values()), key=lambda item: item.id, reverse=True)
            if action.owner == owner
            and (status is None or action.status == status)
            and (session_id is None or action.session_id == session_id)
            and (after is None or action.id < after)
        ]
        return found[:limit], found[limit - 1].id if len(found) > limit else None

    async def begin(self, owner: Owner, action_id: str, result_run_id: str, *, by: str) -> PendingAction | None:
        """See `ActionStore.begin`."""
        action = self._actions.get(action_id)
        if action is None or action.owner != owner:
            return None
        if action.status == "executing" and action.result_run_id == result_run_id:
            return action
        if _shown(action).status != "pending":
            return None
        begun = self._actions[action_id] = replace(action, status="executing", result_run_id=result_run_id)
        self._note(begun, by, "confirmed")
        return begun

    async def settle(
        self,
        action_id: str,
        *,
        frm: ActionStatus,
        to: ActionStatus,
        by: str,
        outcome: dict[str, Any] | None = None,
    ) -> bool:
        """See `ActionStore.settle`."""
        action = self._actions.get(action_id)
        if action is None or action.status != frm:
            return False
        if frm == "pending" and to != "expired" and _shown(action).status == "expired":
            return False
        settled = replace(action, status=to, outcome=action.outcome if outcome is None else outcome)
        self._actions[action_id] = settled
        self._note(settled, by, to)
        return True

    async def supersede(
        self, owner: Owner, action_id: str, replacement: PendingAction, *, by: str
    ) -> PendingAction | None:
        """See `ActionStore.supersede`."""
        action = self._actions.get(action_id)
        if action is None or action.owner != owner or _shown(action).status != "pending":
            return None
        old = self._actions[action_id] = replace(action, status="superseded", superseded_by=replacement.id)
        self._actions[replacement.id] = replacement
        self._note(old, by, "superseded")
        return replacement

    def drop(self, run_id: str) -> None:
        """The run did not succeed: what it drafted is cancelled, and what it was carrying out is uncertain: no ledger is asked here."""
        for action in list(self._actions.values()):
            if action.result_run_id == run_id and action.status == "executing":
                self._actions[action.id] = replace(action, status="uncertain")
                self._note(action, "system", "uncertain")
            if action.run_id == run_id and action.status == "pending":
                self._actions[action.id] = replace(action, status="cancelled")
                self._note(action, "system", "cancelled")

    def _note(self, action: PendingAction, by: str, decision: str) -> None:
        at = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        self._decided(action.run_id, ConfirmationRecord(action_id=action.id, by=by, at=at, decision=decision))


@dataclass(slots=True)
class _Row:
    owner: Owner
    run_id: str
    token: str | None
    state: ClaimState
    result: dict[str, Any] | None = None


class MemoryClaims:
    """`ClaimLedger` in memory. `db` is what a transactional write sees as its database."""

    def __init__(self, *, held: Held, db: Any = None) -> None:
        self.db = db
        self._held = held
        self._rows: dict[str, _Row] = {}

    async def claim(
        self, *, key: str, run_id: str, tool: str, owner: Owner, arguments: dict[str, Any], token: str
    ) -> LedgerEntry:
        """See `ClaimLedger.claim`."""
        if not self._held(run_id, token):
            raise FencedOutError(f"{tool}: the attempt with {len(arguments)} arguments does not hold the run")
        row = self._rows.get(key)
        if row is None:
            self._rows[key] = _Row(owner, run_id, token, "claimed")
            return LedgerEntry(key=key, state="claimed", fresh=True, result=None)
        if row.owner != owner:
            raise FencedOutError
        if row.state == "claimed" and not self._held(row.run_id, row.token or ""):
            row.state = "uncertain"
        return LedgerEntry(key=key, state=row.state, fresh=False, result=row.result)

    async def settle(self, key: str, *, state: ClaimState, result: dict[str, Any] | None) -> None:
        """See `ClaimLedger.settle`."""
        row = self._rows[key]
        if row.state in {"claimed", "uncertain"}:
            row.state, row.result = state, result

    def transaction(
        self, *, key: str, run_id: str, tool: str, owner: Owner, arguments: dict[str, Any]
    ) -> AbstractAsyncContextManager["MemoryLedgerTransaction"]:
        """See `ClaimLedger.transaction`. Only the ledger row is undone by an error: memory has no transactions."""
        return self._transaction(key, run_id, f"{tool} with {len(arguments)} arguments", owner)

    @asynccontextmanager
    async def _transaction(
        self, key: str, run_id: str, what: str, owner: Owner
    ) -> AsyncGenerator["MemoryLedgerTransaction"]:
        row = self._rows.get(key)
        if row is None and not self._held(run_id, None):
            raise FencedOutError
        if row is not None and row.owner != owner:
            raise FencedOutError
        earlier = None if row is None else LedgerEntry(key=key, state=row.state, fresh=False, result=row.result)
        opened = MemoryLedgerTransaction(self.db, earlier)
        yield opened
        if earlier is None:
            if opened.result is None:
                raise RuntimeError(f"{what}: a transactional write ends with done(), or it is rolled back")
            self._rows[key] = _Row(owner, run_id, None, "done", opened.result)


class MemoryLedgerTransaction:
    """`LedgerTransaction` in memory."""

    def __init__(self, db: Any, earlier: LedgerEntry | None) -> None:
        self.db = db
        self.earlier = earlier
        self.result: dict[str, Any] | None = None

    async def done(self, result: dict[str, Any]) -> None:
        """See `LedgerTransaction.done`."""
        self.result = result


def _shown(action: PendingAction) -> PendingAction:
    """An open action past its time reads as expired."""
    if action.status == "pending" and action.expires_at <= datetime.now(UTC):
        return replace(action, status="expired")
    return action
