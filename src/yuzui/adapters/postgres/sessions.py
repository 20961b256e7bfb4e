"""`SessionStore` over PostgreSQL."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from yuzui.adapters.postgres import queries
from yuzui.adapters.postgres.database import PooledDatabase
from yuzui.adapters.postgres.rows import to_message, to_session
from yuzui.errors import NotFoundError
from yuzui.owner import Caller, Owner
from yuzui.runs.ids import new_id
from yuzui.runs.run import Session, StoredMessage

_SQL = queries.load(Path(__file__).parent / "sql" / "sessions.sql")
_CREATE, _GET, _LIST = _SQL["create_session"], _SQL["get_session"], _SQL["list_sessions"]
_MARK, _REMOVE = _SQL["mark_deleted"], _SQL["remove_session"]
_MESSAGES, _RECENT = _SQL["list_messages"], _SQL["recent_messages"]


class PostgresSessions:
    """Sessions; `cancel(run_id, by, reason)` stops a run of a session that is removed."""

    def __init__(self, db: PooledDatabase, cancel: Callable[[str, str, str], Awaitable[None]]) -> None:
        self._db = db
        self._cancel = cancel

    async def create(self, caller: Caller, app: str) -> Session:
        """See `SessionStore.create`."""
        owner = caller.owner
        row = await self._db.row(_CREATE, id=new_id("ses"), tenant=owner.tenant, user=owner.user, app=app)
        if row is None:
            raise NotFoundError
        return to_session(row)

    async def get(self, owner: Owner, session_id: str) -> Session:
        """See `SessionStore.get`."""
        row = await self._db.row(_GET, id=session_id, tenant=owner.tenant, user=owner.user)
        if row is None:
            raise NotFoundError
        return to_session(row)

    async def list(self, owner: Owner, *, limit: int, after: str | None) -> tuple[Sequence[Session], str | None]:
        """See `SessionStore.list`."""
        rows = await self._db.rows(_LIST, tenant=owner.tenant, user=owner.user, after=after, limit=limit + 1)
        found = [to_session(row) for row in rows[:limit]]
        return found, found[-1].id if len(rows) > limit else None

    async def delete(self, owner: Owner, session_id: str) -> None:
        """See `SessionStore.delete`. Unfinished runs are cancelled; what a living one still says is refused."""
        rows = await self._db.rows(_MARK, id=session_id, tenant=owner.tenant, user=owner.user)
        if not rows:
            raise NotFoundError
        for row in rows:
            if row["run_id"] is not None:
                await self._cancel(row["run_id"], owner.user, "session_deleted")
        await self._db.execute(_REMOVE, id=session_id)

    async def messages(
        self, owner: Owner, session_id: str, *, limit: int, after: str | None
    ) -> tuple[Sequence[StoredMessage], str | None]:
        """See `SessionStore.messages`."""
        await self.get(owner, session_id)
        rows = await self._db.rows(_MESSAGES, id=session_id, after=after, limit=limit + 1)
        found = [to_message(row) for row in rows[:limit]]
        return found, found[-1].id if len(rows) > limit else None

    async def recent(self, owner: Owner, session_id: str, *, turns: int, before_run: str) -> Sequence[StoredMessage]:
        """See `SessionStore.recent`."""
        rows = await self._db.rows(
            _RECENT, id=session_id, tenant=owner.tenant, user=owner.user, turns=turns, before_run=before_run
        )
        return [to_message(row) for row in rows]
