"""`/v1/pending-actions`: writes that wait for a person (R-CONF-02)."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from fastapi.responses import JSONResponse

from yuzui.entrypoints.http.dependencies import AskedPage, Body, CurrentCaller, CurrentServices
from yuzui.entrypoints.http.views import action_json, page
from yuzui.runs.actions import ActionStatus

router = APIRouter(prefix="/v1/pending-actions", tags=["pending actions"])


class Nothing(Body):
    """An empty body: what is confirmed was fixed when it was drafted, and cannot be changed here."""


class Amendment(Body):
    """The arguments of the draft that replaces this one."""

    arguments: dict[str, Any]


@router.get("", summary="List pending actions")
async def listing(
    asked: AskedPage,
    caller: CurrentCaller,
    services: CurrentServices,
    status: Annotated[ActionStatus | None, Query()] = None,
) -> dict[str, Any]:
    """The caller's actions, newest first, of one status or of all."""
    items, following = await services.stores.actions.list(
        caller.owner, status=status, limit=asked.limit, after=asked.after
    )
    return page(items, following, action_json)


@router.get("/{action_id}", summary="Get a pending action")
async def get(action_id: str, caller: CurrentCaller, services: CurrentServices) -> dict[str, Any]:
    """One action."""
    return action_json(await services.stores.actions.get(caller.owner, action_id))


@router.post("/{action_id}/confirm", summary="Confirm", responses={202: {"description": "The effect still runs"}})
async def confirm(
    action_id: str, caller: CurrentCaller, services: CurrentServices, body: Nothing | None = None
) -> Response:
    """Carry the action out, once; a later confirm answers the same. 409 when it expired, was rejected or superseded."""
    action = await services.confirmations.confirm(caller, action_id)
    return JSONResponse(action_json(action), status_code=202 if action.status in {"pending", "executing"} else 200)


@router.post("/{action_id}/reject", summary="Reject")
async def reject(
    action_id: str, caller: CurrentCaller, services: CurrentServices, body: Nothing | None = None
) -> dict[str, Any]:
    """Nothing will be executed; a second reject answers the same."""
    return action_json(await services.confirmations.reject(caller, action_id))


@router.post("/{action_id}/amend", status_code=201, summary="Amend")
async def amend(action_id: str, body: Amendment, caller: CurrentCaller, services: CurrentServices) -> dict[str, Any]:
    """A new draft with other arguments; the old one is superseded. Nothing is executed until the new one is confirmed."""
    return action_json(await services.confirmations.amend(caller, action_id, body.arguments))
