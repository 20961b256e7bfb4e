"""`/v1/runs`: one run, its cancellation, a person's word about it. Creation and events are the hot routes."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Response
from pydantic import Field

from yuzui.entrypoints.http.dependencies import Body, CurrentCaller, CurrentServices
from yuzui.entrypoints.http.views import run_json
from yuzui.runs.feedback import Feedback

router = APIRouter(prefix="/v1/runs", tags=["runs"])


class NewFeedback(Body):
    """`rating` 1 is good, -1 is bad; `correct_intent` names the intent that was meant."""

    rating: Literal[-1, 1]
    comment: Annotated[str, Field(max_length=2_000)] = ""
    correct_intent: Annotated[str | None, Field(max_length=100)] = None


@router.get("/{run_id}", summary="Get a run")
async def get(run_id: str, caller: CurrentCaller, services: CurrentServices) -> dict[str, Any]:
    """Status, route, policy, answer, usage, pending action, error."""
    return run_json(await services.stores.runs.get(caller.owner, run_id))


@router.post("/{run_id}/cancel", status_code=202, summary="Cancel a run")
async def cancel(run_id: str, caller: CurrentCaller, services: CurrentServices) -> dict[str, Any]:
    """Ask for cancellation, on whichever worker the run is; an ended run is returned as it is."""
    run = await services.stores.runs.request_cancel(
        caller.owner, run_id, by=caller.owner.user, reason="cancelled by the user"
    )
    return run_json(run)


@router.post("/{run_id}/feedback", status_code=204, summary="Rate an answer")
async def feedback(run_id: str, body: NewFeedback, caller: CurrentCaller, services: CurrentServices) -> Response:
    """Store a person's word about an answer; the later one counts."""
    said = Feedback(rating=body.rating, comment=body.comment, correct_intent=body.correct_intent)
    await services.stores.feedback.add(caller, run_id, said)
    return Response(status_code=204)
