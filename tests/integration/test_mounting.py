"""The platform inside another service: its login, its lifespan (R-API-02)."""

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from starlette.requests import HTTPConnection

from yuzui import App, BoundedReact, Budget, Caller, Ctx, DirectRead, Owner, Rule, asgi
from yuzui.errors import SettingsError
from yuzui.settings import Settings


def notes() -> App[Any]:
    """An app with one direct read."""
    app: App[Any] = App("notes", deps=lambda database: database, assets=Path(__file__).parent)

    @app.read
    async def whoami(ctx: Ctx[Any]) -> dict[str, str]:
        """Says who asks."""
        return {"tenant": ctx.owner.tenant, "user": ctx.owner.user}

    app.intent("whoami", "Asks who they are.", rules=[Rule("who am i", yes=["who am i"])], policy=DirectRead(whoami))
    app.intent("chat", "Anything else.", policy=BoundedReact([], budget=Budget(model_calls=1)))
    return app


def login(connection: HTTPConnection) -> Caller | None:
    """The host's own login: a cookie."""
    name = connection.cookies.get("user")
    return Caller(owner=Owner(tenant="acme", user=name), name=name) if name else None


async def test_R_API_02_the_hosts_login_and_lifespan_are_used(database_url: str) -> None:
    inner = asgi([notes()], Settings(database_url=database_url, host="0.0.0.0"), authenticate=login)  # noqa: S104
    host = FastAPI(lifespan=inner.lifespan)
    host.mount("/assistant", inner)
    transport = httpx2.ASGITransport(app=host)
    async with httpx2.AsyncClient(transport=transport, base_url="http://host.example") as client:
        early = await client.get("/assistant/healthz")
        assert early.status_code == 503
        assert "lifespan" in early.json()["detail"]
        async with host.router.lifespan_context(host):
            assert (await client.get("/assistant/v1/sessions")).status_code == 401
            dev = {"Authorization": "Bearer dev-root"}
            assert (await client.get("/assistant/v1/sessions", headers=dev)).status_code == 401
            client.cookies.set("user", "ann")
            session = (await client.post("/assistant/v1/sessions", json={"app": "notes"})).json()["id"]
            path = f"/assistant/v1/sessions/{session}/runs"
            response = await client.post(path, json={"message": "who am i"}, headers={"Prefer": "wait=20"})
            assert response.status_code == 200, response.text
            assert json.loads(response.json()["message"]["text"]) == {"tenant": "acme", "user": "ann"}
            accepted = await client.post(path, json={"message": "who am i"})
            events = await client.get(accepted.json()["events_url"], headers={"Accept": "text/event-stream"})
            assert b"event: run.completed" in events.content
        assert (await client.get("/assistant/healthz")).status_code == 503


def test_R_AUTH_01_dev_tokens_are_refused_for_a_public_host() -> None:
    with pytest.raises(SettingsError, match="YUZUI_API_KEYS_FILE"):
        asgi([notes()], Settings(host="0.0.0.0"))  # noqa: S104


async def test_the_application_runs_the_lifespan_protocol_itself(database_url: str) -> None:
    application = asgi([notes()], Settings(database_url=database_url))
    sent: list[dict[str, Any]] = []
    steps = iter(({"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}))

    async def receive() -> Any:
        return next(steps)

    async def send(message: Any) -> None:
        sent.append(message)

    await application({"type": "lifespan"}, receive, send)
    assert [message["type"] for message in sent] == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


async def test_a_start_that_fails_says_why() -> None:
    application = asgi([notes()], Settings(database_url="postgresql://u:secret@127.0.0.1:9/x"))
    sent: list[dict[str, Any]] = []

    async def receive() -> Any:
        return {"type": "lifespan.startup"}

    async def send(message: Any) -> None:
        sent.append(message)

    await application({"type": "lifespan"}, receive, send)
    assert sent[0]["type"] == "lifespan.startup.failed"
    assert "127.0.0.1:9" in sent[0]["message"]
    assert "secret" not in sent[0]["message"]
