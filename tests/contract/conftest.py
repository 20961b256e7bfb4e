"""The stores under contract, each in turn."""

from collections.abc import AsyncIterator

import pytest
from tests.contract.stores_case import Stores
from tests.integration.heart_case import echo, heart, prepare

from yuzui.adapters.postgres.heart import HeartOptions
from yuzui.runs.dispatcher import DispatchOptions
from yuzui.testing.stores import MemoryStores


@pytest.fixture(params=["memory", "postgres"])
def stores(request: pytest.FixtureRequest) -> Stores:
    """Ports over memory, then over PostgreSQL; nothing claims runs but the test."""
    found: Stores = request.getfixturevalue(f"{request.param}_stores")
    return found


@pytest.fixture
def memory_stores() -> Stores:
    """Ports over memory."""
    memory = MemoryStores()
    return Stores(
        runs=memory.runs,
        events=memory.events,
        sessions=memory.sessions,
        actions=memory.actions,
        ledger=memory.ledger,
        audit=memory.audit,
    )


@pytest.fixture
async def postgres_stores(migrated_dsn: str) -> AsyncIterator[Stores]:
    """Ports over PostgreSQL."""
    await prepare(migrated_dsn)
    options = HeartOptions(sweep_s=3600.0, dispatch=DispatchOptions(concurrency=0))
    async with heart(migrated_dsn, echo, options) as beats:
        yield Stores(
            runs=beats.runs,
            events=beats.hub,
            sessions=beats.sessions,
            actions=beats.actions,
            ledger=beats.ledger,
            audit=beats.audit,
        )
