"""`ActionStore` over PostgreSQL: frozen drafts, one statement per decision (CONFIRM, decision 3)."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from yuzui.adapters.postgres import queries
from yuzui.adapters.postgres.database import PooledDatabase
from yuzui.adapters.postgres.payloads import payload
from yuzui.adapters.postgres.rows import to_action
from yuzui.errors import FencedOutError, NotFoundError
from yuzui.owner import Owner
from yuzui.runs.actions import ActionStatus, PendingAction

_SQL = queries.load(Path(__file__).parent / "sql" / "actions.sql")
_CREATE, _DRAFTED, _GET, _LIST = _SQL["create_action"], _SQL["drafted"], _SQL["get_action"], _SQL["list_actions"]
_BEGIN, _SETTLE, _SUPERSEDE = _SQL["begin_action"], _SQL["settle_action"], _SQL["supersede_action"]


class PostgresActions:
    """Pending actions."""

    def __init__(self, db: PooledDatabase) -> None:
        self._db = db

    async def create(self, action: PendingAction, *, token: str) -> PendingAction:
        """See `ActionStore.create`."""
        values = _values(action)
        row = await self._db.row(
            _CREATE,
            id=action.id,
            run_id=action.run_id,
            session_id=action.session_id,
            tenant=action.owner.tenant,
            user=action.owner.user,
            token=token,
            **values,
        )
        if row is not None:
            return action
        existing = await self._db.row(
            _DRAFTED, run_id=action.run_id, tool=action.tool, content_hash=values["content_hash"], token=token
        )
        if existing is None:
            raise FencedOutError
        return to_action(existing)

    async def get(self, owner: Owner, action_id: str) -> PendingAction:
        """See `ActionStore.get`."""
        row = await self._db.row(_GET, id=action_id, tenant=owner.tenant, user=owner.user)
        if row is None:
            raise NotFoundError
        return to_action(row)

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
        rows = await self._db.rows(
            _LIST,
            tenant=owner.tenant,
            user=owner.user,
            status=status,
            session_id=session_id,
            limit=limit + 1,
            after=after,
        )
        found = [to_action(row) for row in rows[:limit]]
        return found, found[-1].id if len(rows) > limit else None

    async def begin(self, owner: Owner, action_id: str, result_run_id: str, *, by: str) -> PendingAction | None:
        """See `ActionStore.begin`."""
        row = await self._db.row(
            _BEGIN, id=action_id, tenant=owner.tenant, user=owner.user, result_run_id=result_run_id, by=by
        )
        return None if row is None else to_action(row)

    async def settle(
        self,
        action_id: str,
        *,
        frm: ActionStatus,
        to: ActionStatus,
        by: str,
        outcome: dict[str, Any] | None = None,
    ) -> bool:
        """See `ActionStore.settle`. An open action past its expiry can only become `expired`."""
        text = None if outcome is None else payload(outcome).decode()
        return await self._db.execute(_SETTLE, id=action_id, frm=frm, to=to, by=by, outcome=text) > 0

    async def supersede(
        self, owner: Owner, action_id: str, replacement: PendingAction, *, by: str
    ) -> PendingAction | None:
        """See `ActionStore.supersede`."""
        row = await self._db.row(
            _SUPERSEDE,
            id=action_id,
            tenant=owner.tenant,
            user=owner.user,
            by=by,
            new_id=replacement.id,
            **_values(replacement),
        )
        return None if row is None else replace(replacement, owner=owner)


def _values(action: PendingAction) -> dict[str, Any]:
    content = orjson.dumps(action.arguments, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
    return {
        "app": action.app,
        "tool": action.tool,
        "arguments": payload(action.arguments).decode(),
        "content_hash": hashlib.sha256(content).hexdigest(),
        "summary": action.summary,
        "digest": action.digest,
        "policy_hash": action.policy_hash,
        "catalog_version": action.catalog_version,
        "approval": action.approval,
        "created_at": action.created_at,
        "expires_at": action.expires_at,
    }
