"""Demo data: laid out once per app and database."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from yuzui.runs import queries
from yuzui.tools.database import Database

_CLAIM = queries.load(Path(__file__).parent / "sql" / "feedback.sql")["claim_seed"]


async def seed_once(database: Database, app: str, seed: Callable[[Database], Awaitable[None]]) -> bool:
    """Run an app's seed in the transaction that records it; False when it was done before, here or by another process."""
    async with database.transaction() as transaction:
        if await transaction.row(_CLAIM, app=app) is None:
            return False
        await seed(transaction)
        return True
