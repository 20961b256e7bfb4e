"""An app's own endpoints: same caller, same strictness, same problems (R-TOOL-03)."""

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import BaseModel
from tests.unit.entrypoints.doubles import World, application, context
from tests.unit.entrypoints.http.conftest import client
from tests.unit.entrypoints.http.test_problems_of_requests import assert_problem

from yuzui import App, Ctx, NotFoundError, ToolError
from yuzui.entrypoints.http.business import business_router
from yuzui.errors import ConflictError, DeclarationError


class NoteBody(BaseModel):
    """A note; its author did not forbid unknown fields."""

    text: str
    day: date | None = None


@dataclass(frozen=True, kw_only=True)
class Note:
    id: str
    text: str
    day: date


def shop() -> App[Any]:
    app: App[Any] = App("shop", deps=lambda database: database, assets=Path(__file__).parent)

    @app.endpoint("GET", "/shop/notes")
    async def listing(ctx: Ctx[Any], limit: int = 10) -> list[Note]:
        """All notes."""
        return [Note(id=ctx.owner.user, text=str(limit), day=date(2026, 1, 2))]

    @app.endpoint("POST", "/v1/shop/notes", status=201)
    async def create(ctx: Ctx[Any], body: NoteBody) -> Note:
        """A new note."""
        if body.text == "twice":
            raise ConflictError("there is such a note")
        if body.text == "never":
            raise ToolError("Not today; try tomorrow.")
        return Note(id="n1", text=body.text, day=body.day or date(2026, 1, 2))

    @app.endpoint("DELETE", "/shop/notes/{note_id}", status=204)
    async def delete(ctx: Ctx[Any], note_id: str) -> None:
        """Remove one."""
        if note_id != "n1":
            raise NotFoundError

    return app


@pytest.fixture
def business(world: World) -> httpx2.AsyncClient:
    return client(application(world, shop())[0])


async def test_R_TOOL_03_handlers_get_the_authenticated_caller(business: httpx2.AsyncClient) -> None:
    listed = await business.get("/v1/shop/notes?limit=3")
    assert listed.json() == {"items": [{"id": "alice", "text": "3", "day": "2026-01-02"}], "next": None}
    business.headers["Authorization"] = "Bearer dev-bob"
    assert (await business.get("/v1/shop/notes")).json()["items"][0]["id"] == "bob"
    business.headers["Authorization"] = "Bearer nobody"
    assert_problem(await business.get("/v1/shop/notes"), 401, "unauthorized")


async def test_bodies_are_validated_and_refuse_unknown_fields_whatever_the_author_said(
    business: httpx2.AsyncClient,
) -> None:
    created = await business.post("/v1/shop/notes", json={"text": "milk", "day": "2026-03-04"})
    assert (created.status_code, created.json()) == (201, {"id": "n1", "text": "milk", "day": "2026-03-04"})
    for body in ({}, {"text": 1}, {"text": "x", "owner": "bob"}, {"text": "x", "day": "2026-02-30"}):
        assert_problem(await business.post("/v1/shop/notes", json=body), 422, "invalid_request")


async def test_errors_of_the_service_are_problems(business: httpx2.AsyncClient) -> None:
    assert_problem(await business.post("/v1/shop/notes", json={"text": "twice"}), 409, "conflict")
    refused = assert_problem(await business.post("/v1/shop/notes", json={"text": "never"}), 422, "refused")
    assert refused["detail"] == "Not today; try tomorrow."
    assert_problem(await business.delete("/v1/shop/notes/n2"), 404, "not_found")
    gone = await business.delete("/v1/shop/notes/n1")
    assert (gone.status_code, gone.content) == (204, b"")


async def test_endpoints_are_in_the_document_under_their_app(business: httpx2.AsyncClient) -> None:
    document = (await business.get("/openapi.json")).json()
    operation = document["paths"]["/v1/shop/notes"]["post"]
    assert operation["summary"] == "A new note."
    assert operation["tags"] == ["shop"]
    schema = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    assert document["components"]["schemas"][schema]["additionalProperties"] is False


def test_an_endpoint_that_cannot_be_served_is_refused_by_name() -> None:
    app: App[Any] = App("odd", deps=lambda database: database, assets=Path(__file__).parent)

    @app.endpoint("GET", "no-slash")
    async def odd(ctx: Ctx[Any]) -> None:
        """Odd."""

    with pytest.raises(DeclarationError, match="GET no-slash of app 'odd'"):
        business_router(app, context)


async def test_a_web_socket_is_closed(world: World) -> None:
    edge, _ = application(world)
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    await edge({"type": "websocket", "path": "/v1/x", "headers": []}, receive, send)
    assert sent[0]["type"] == "websocket.close"
