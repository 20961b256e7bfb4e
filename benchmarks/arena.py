"""Everything that stands ready during a comparison: database, model, contestants."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.database import Cluster, cluster
from benchmarks.driver import PostgresClock
from benchmarks.peers.server import PEERS
from benchmarks.sites import MockSite, PeerSite, SelectSite, floors, mock_model, peer
from benchmarks.yuzui_side import Product, product

JSON, NATIVE = "yuzui_json", "yuzui_native"
PRODUCT = {JSON: "json", NATIVE: "native"}
FLOORS = "floors"
CONTESTANTS = frozenset({*PRODUCT, FLOORS, *PEERS})


@dataclass(frozen=True, kw_only=True, slots=True)
class Arena:
    """The running servers. `clock` reads the CPU of the one database."""

    mock: MockSite
    database: Cluster
    clock: PostgresClock
    peers: dict[str, PeerSite]
    floors: SelectSite | None
    product: Product | None


@asynccontextmanager
async def arena(folder: Path, contestants: frozenset[str], database_url: str | None = None) -> AsyncGenerator[Arena]:
    """Start what takes part, each in its own process; all idle while one is measured."""
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(cluster(folder / "database", database_url))
        mock = await stack.enter_async_context(mock_model(folder))
        peers = {
            name: await stack.enter_async_context(peer(name, mock, database, folder))
            for name in PEERS
            if name in contestants
        }
        floor = await stack.enter_async_context(floors(database, folder)) if FLOORS in contestants else None
        ours = None
        if engines := tuple(engine for name, engine in PRODUCT.items() if name in contestants):
            ours = await stack.enter_async_context(product(mock, database, engines, folder))
        yield Arena(
            mock=mock,
            database=database,
            clock=await database.clock(),
            peers=peers,
            floors=floor,
            product=ours,
        )


def psycopg_floor(site: SelectSite) -> SelectSite:
    """The same floor through the driver that the product uses."""
    return replace(site, name="select_psycopg", path="/incident-psycopg")
