"""`/v1/audit`: the evidence of one answer (R-AUD-02)."""

from typing import Any

from fastapi import APIRouter

from yuzui.entrypoints.http.dependencies import CurrentCaller, CurrentServices

router = APIRouter(prefix="/v1/audit", tags=["audit"])


@router.get("/runs/{run_id}", summary="Audit of a run")
async def of_run(run_id: str, caller: CurrentCaller, services: CurrentServices) -> dict[str, Any]:
    """Decisions, model calls, tool calls and confirmations of one run."""
    return await services.stores.audit.read(caller.owner, run_id)
