"""`ClaimLedger` over PostgreSQL: a side effect has one row, for ever (IDEM)."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from yuzui.adapters.postgres import queries
from yuzui.adapters.postgres.database import PooledDatabase, TransactionDatabase
from yuzui.adapters.postgres.payloads import payload
from yuzui.errors import FencedOutError
from yuzui.owner import Owner
from yuzui.runs.claims import ClaimState, LedgerEntry

_SQL = queries.load(Path(__file__).parent / "sql" / "claims.sql")
_CLAIM, _GIVE_UP, _GET, _SETTLE = (
    _SQL["claim_effect"],
    _SQL["give_up_effect"],
    _SQL["get_effect"],
    _SQL["settle_effect"],
)
_OPEN, _EARLIER, _CLOSE = _SQL["open_effect"], _SQL["earlier_effect"], _SQL["close_effect"]


class PostgresClaims:
    """The ledger."""

    def __init__(self, db: PooledDatabase) -> None:
        self._db = db

    async def claim(
        self, *, key: str, run_id: str, tool: str, owner: Owner, arguments: dict[str, Any], token: str
    ) -> LedgerEntry:
        """See `ClaimLedger.claim`; `FencedOutError` when the token does not hold, or the key is another owner's."""
        scope = {"key": key, "tenant": owner.tenant, "user": owner.user, "run_id": run_id, "token": token}
        row = await self._db.row(_CLAIM, tool=tool, arguments=payload(arguments).decode(), **scope)
        if row is not None:
            return LedgerEntry(key=key, state="claimed", fresh=True, result=None)
        await self._db.execute(_GIVE_UP, key=key)
        row = await self._db.row(_GET, **scope)
        if row is None:
            raise FencedOutError
        return LedgerEntry(key=key, state=row["state"], fresh=False, result=row["result"])

    async def settle(self, key: str, *, state: ClaimState, result: dict[str, Any] | None) -> None:
        """See `ClaimLedger.settle`."""
        await self._db.execute(
            _SETTLE, key=key, state=state, result=None if result is None else payload(result).decode()
        )

    @asynccontextmanager
    async def transaction(
        self, *, key: str, run_id: str, tool: str, owner: Owner, arguments: dict[str, Any]
    ) -> AsyncGenerator["PostgresLedgerTransaction"]:
        """See `ClaimLedger.transaction`; `FencedOutError` when the run has ended meanwhile, RuntimeError without `done`."""
        scope = {"key": key, "tenant": owner.tenant, "user": owner.user}
        async with self._db.transaction() as db:
            row = await db.row(_OPEN, run_id=run_id, tool=tool, arguments=payload(arguments).decode(), **scope)
            earlier: LedgerEntry | None = None
            if row is None:
                found = await db.row(_EARLIER, **scope)
                if found is None:
                    raise FencedOutError
                earlier = LedgerEntry(key=key, state=found["state"], fresh=False, result=found["result"])
            opened = PostgresLedgerTransaction(db, key, earlier)
            yield opened
            if earlier is None and not opened.closed:
                raise RuntimeError("a transactional write ends with done(), or it is rolled back")


class PostgresLedgerTransaction:
    """`LedgerTransaction`: the write and its ledger row, in one transaction."""

    def __init__(self, db: TransactionDatabase, key: str, earlier: LedgerEntry | None) -> None:
        self.db = db
        self.earlier = earlier
        self.closed = False
        self._key = key

    async def done(self, result: dict[str, Any]) -> None:
        """See `LedgerTransaction.done`; `FencedOutError` when the run has ended meanwhile."""
        if not await self.db.execute(_CLOSE, key=self._key, result=payload(result).decode()):
            raise FencedOutError
        self.closed = True
