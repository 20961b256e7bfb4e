"""`AuditReader` over PostgreSQL: the trail of one run in the shape of the public interface (AUDIT)."""

from pathlib import Path
from typing import Any

from yuzui.adapters.postgres import queries
from yuzui.adapters.postgres.database import PooledDatabase
from yuzui.errors import NotFoundError
from yuzui.owner import Owner
from yuzui.runs.trail import trail

_SQL = queries.load(Path(__file__).parent / "sql" / "audit.sql")
_ENTRIES, _OWNS = _SQL["audit_entries"], _SQL["owns_run"]


class PostgresAudit:
    """The trail. It outlives the session it tells of."""

    def __init__(self, db: PooledDatabase) -> None:
        self._db = db

    async def read(self, owner: Owner, run_id: str) -> dict[str, Any]:
        """See `AuditReader.read`."""
        scope = {"run_id": run_id, "tenant": owner.tenant, "user": owner.user}
        rows = await self._db.rows(_ENTRIES, **scope)
        if not rows and await self._db.row(_OWNS, **scope) is None:
            raise NotFoundError
        chain = (rows[0]["hash"], rows[-1]["hash"]) if rows else (None, None)
        return trail(run_id, [(row["kind"], row["data"]) for row in rows], chain)
