"""The HTTP application: FastAPI's router with every resource, inside the edge."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from yuzui.entrypoints.http import apps, audit, documents, health, pending_actions, problems, runs, sessions
from yuzui.entrypoints.http.business import business_router
from yuzui.entrypoints.http.edge import Edge
from yuzui.entrypoints.http.page import page_routes
from yuzui.entrypoints.http.run_events import RunEvents
from yuzui.entrypoints.http.run_requests import RunRequests
from yuzui.entrypoints.services import Services
from yuzui.errors import YuzuiError

DESCRIPTION = "Production chat agents whose model is a proposer, never a controller."


def http_application(services: Services) -> Edge:
    """The ASGI application over the given services."""
    api = FastAPI(
        title="Yuzui",
        version=services.version,
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    api.state.services = services
    for module in (sessions, runs, pending_actions, audit, apps, health, documents):
        api.include_router(module.router)
    for app in services.apps.values():
        api.include_router(business_router(app, services.contexts[app.name]))
    api.router.routes.extend(page_routes())
    api.add_exception_handler(YuzuiError, _platform)
    api.add_exception_handler(RequestValidationError, _validation)
    api.add_exception_handler(HTTPException, _status)
    api.add_exception_handler(Exception, _fault)
    api.openapi = lambda: _document(api)  # type: ignore[method-assign]
    events = RunEvents(services)
    return Edge(api, services, (RunRequests(services, events), events))


def _document(api: FastAPI) -> dict[str, Any]:
    if api.openapi_schema is None:
        api.openapi_schema = documents.document(api)
    return api.openapi_schema


async def _platform(_: Request, error: Exception) -> Response:
    return problems.response(problems.from_error(cast("YuzuiError", error)))


async def _validation(_: Request, error: Exception) -> Response:
    found = cast("Sequence[Mapping[str, Any]]", cast("RequestValidationError", error).errors())
    return problems.response(problems.from_validation(found))


async def _fault(_: Request, __: Exception) -> Response:
    return problems.response(problems.INTERNAL)  # raised on to the edge, which logs it


async def _status(_: Request, error: Exception) -> Response:
    raised = cast("HTTPException", error)
    response = problems.response(problems.from_status(raised.status_code))
    for name, value in (raised.headers or {}).items():
        response.headers[name] = value
    return response
