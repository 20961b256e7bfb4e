"""`/v1/sessions`: conversations of the caller."""

from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import Field

from yuzui.entrypoints.http.dependencies import AskedPage, Body, CurrentCaller, CurrentServices
from yuzui.entrypoints.http.views import message_json, page, session_json
from yuzui.errors import UnknownAppError

router = APIRouter(prefix="/v1/sessions", tags=["sessions"])


class NewSession(Body):
    """Which app to talk to."""

    app: Annotated[str, Field(min_length=1, max_length=100, examples=["home-menu"])]


@router.post("", status_code=201, summary="Open a session")
async def create(body: NewSession, caller: CurrentCaller, services: CurrentServices) -> dict[str, Any]:
    """A new session with an app. 404 `unknown_app` when this server does not run it."""
    if body.app not in services.apps:
        raise UnknownAppError(f"There is no app {body.app!r} here; there are: {', '.join(services.apps)}.")
    return session_json(await services.stores.sessions.create(caller, body.app))


@router.get("", summary="List sessions")
async def listing(asked: AskedPage, caller: CurrentCaller, services: CurrentServices) -> dict[str, Any]:
    """The caller's sessions, newest first."""
    items, following = await services.stores.sessions.list(caller.owner, limit=asked.limit, after=asked.after)
    return page(items, following, session_json)


@router.get("/{session_id}", summary="Get a session")
async def get(session_id: str, caller: CurrentCaller, services: CurrentServices) -> dict[str, Any]:
    """One session."""
    return session_json(await services.stores.sessions.get(caller.owner, session_id))


@router.delete("/{session_id}", status_code=204, summary="Delete a session")
async def delete(session_id: str, caller: CurrentCaller, services: CurrentServices) -> Response:
    """Remove a session with its messages, runs and events; the audit trail stays."""
    await services.stores.sessions.delete(caller.owner, session_id)
    return Response(status_code=204)


@router.get("/{session_id}/messages", summary="List messages")
async def messages(
    session_id: str, asked: AskedPage, caller: CurrentCaller, services: CurrentServices
) -> dict[str, Any]:
    """The session's messages in order of time."""
    items, following = await services.stores.sessions.messages(
        caller.owner, session_id, limit=asked.limit, after=asked.after
    )
    return page(items, following, message_json)
