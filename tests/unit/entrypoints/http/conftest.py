from collections.abc import AsyncIterator

import httpx2
import pytest
from tests.unit.entrypoints.doubles import World, application

BASE = "http://127.0.0.1:8000"


def client(app: object, user: str | None = "dev-alice") -> httpx2.AsyncClient:
    """A client of an ASGI application with the token of a dev user."""
    token = user
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    transport = httpx2.ASGITransport(app=app)  # type: ignore[arg-type]
    return httpx2.AsyncClient(transport=transport, base_url=BASE, headers=headers)


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
async def alice(world: World) -> AsyncIterator[httpx2.AsyncClient]:
    async with client(application(world)[0]) as connected:
        yield connected
