"""`/v1/apps` and `/v1/models`: what this server can talk about."""

from typing import Any

from fastapi import APIRouter

from yuzui.app import App
from yuzui.entrypoints.http.dependencies import CurrentCaller, CurrentServices

router = APIRouter(prefix="/v1", tags=["apps"])


@router.get("/apps", summary="List apps")
async def apps(caller: CurrentCaller, services: CurrentServices) -> dict[str, Any]:
    """Every app with its title, examples to begin with, and what its tools are called for people."""
    return {"items": [_app_json(app) for app in services.apps.values()], "next": None}


@router.get("/models", summary="List models")
async def models(caller: CurrentCaller, services: CurrentServices) -> dict[str, Any]:
    """The OpenAI-compatible list: an app is a model."""
    return {
        "object": "list",
        "data": [{"id": name, "object": "model", "created": 0, "owned_by": "yuzui"} for name in services.apps],
    }


def _app_json(app: App[Any]) -> dict[str, Any]:
    return {
        "id": app.name,
        "name": app.name,
        "title": dict(app.title),
        "examples": {locale: list(texts) for locale, texts in app.suggestions.items()},
        "tools": {name: {"effect": tool.effect, "labels": dict(tool.labels)} for name, tool in app.tools.items()},
        "intents": {name: intent.description for name, intent in app.intents.items()},
    }
