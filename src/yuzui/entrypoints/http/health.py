"""Probes and metrics: `/healthz` (the process lives), `/readyz` (it can serve), `/metrics` (Prometheus)."""

from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from yuzui.entrypoints.http.dependencies import CurrentServices
from yuzui.entrypoints.http.problems import CONTENT_TYPE, from_status

router = APIRouter(tags=["operations"])


@router.get("/healthz", summary="Liveness")
async def healthz(services: CurrentServices) -> dict[str, Any]:
    """The process answers. Says whether the public dev tokens are accepted."""
    return {"status": "ok", "dev_tokens": services.authenticator.dev_tokens, "version": services.version}


@router.get("/readyz", summary="Readiness", responses={503: {"description": "Something is missing"}})
async def readyz(services: CurrentServices) -> Response:
    """200 when requests can be served; 503 with each part that is missing, and why."""
    checks = await services.health.checks()
    missing = [check for check in checks if check.problem]
    parts = {check.part: check.problem or "ok" for check in checks}
    if not missing:
        return JSONResponse({"status": "ready", "parts": parts})
    detail = "; ".join(f"{check.part}: {check.problem}" for check in missing)
    problem = from_status(503, detail)
    return Response(problem.body(), status_code=503, headers={"retry-after": "1", "content-type": CONTENT_TYPE})


@router.get("/metrics", summary="Prometheus metrics", response_class=Response)
async def metrics(services: CurrentServices) -> Response:
    """The text format of Prometheus. No name of a person is in it."""
    return Response(services.metrics(), headers={"content-type": "text/plain; version=0.0.4; charset=utf-8"})
