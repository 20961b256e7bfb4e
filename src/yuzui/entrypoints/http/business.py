"""The apps' own endpoints: plain REST over the same services and the same caller (R-TOOL-03, R-DEG-01)."""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from types import new_class
from typing import Any, cast, get_origin

from fastapi import APIRouter, Request, Response
from fastapi.exceptions import FastAPIError
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from yuzui.app import App, Endpoint
from yuzui.entrypoints.auth import caller_of
from yuzui.entrypoints.http.dependencies import current_services
from yuzui.errors import DeclarationError, InvalidInputError, ToolError
from yuzui.tools.gateway import ContextFactory
from yuzui.tools.render import as_json

_REQUEST = "yuzui_request"


class ServiceRefusedError(InvalidInputError):
    """The service refused this."""

    code = "refused"


def business_router(app: App[Any], context: ContextFactory) -> APIRouter:
    """Routes for every declared endpoint of an app, under `/v1`. Raises `DeclarationError` for one that cannot be served."""
    router = APIRouter(tags=[app.name])
    for endpoint in app.endpoints:
        where = f"endpoint {endpoint.method} {endpoint.path} of app {app.name!r}"
        if not endpoint.path.startswith("/"):
            raise DeclarationError(f"{where}: the path begins with a slash")
        summary, _, description = (inspect.getdoc(endpoint.handler) or endpoint.handler.__name__).partition("\n")
        try:
            router.add_api_route(
                endpoint.path if endpoint.path.startswith("/v1/") else f"/v1{endpoint.path}",
                _route(endpoint, context),
                methods=[endpoint.method],
                status_code=endpoint.status,
                name=endpoint.handler.__name__,
                summary=summary.strip(),
                description=description.strip() or summary.strip(),
            )
        except (FastAPIError, ValueError, TypeError, NameError, AssertionError) as error:
            raise DeclarationError(f"{where}: {error}") from error
    return router


def _route(endpoint: Endpoint, context: ContextFactory) -> Callable[..., Awaitable[Response]]:
    handler = endpoint.handler
    signature = inspect.signature(handler, eval_str=True)
    declared = list(signature.parameters.values())[1:]

    async def call(**values: Any) -> Response:
        request: Request = values.pop(_REQUEST)
        caller = await caller_of(current_services(request).authenticator, request.scope)
        try:
            result = await handler(context(caller), **values)
        except ToolError as error:
            raise ServiceRefusedError(error.message) from error
        if endpoint.status == 204:
            return Response(status_code=204)
        return JSONResponse(_content(result), status_code=endpoint.status)

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter(_REQUEST, keyword, annotation=Request),
        *(parameter.replace(kind=keyword, annotation=_strict(parameter.annotation)) for parameter in declared),
    ]
    call.__signature__ = inspect.Signature(parameters, return_annotation=Response)  # type: ignore[attr-defined]
    call.__name__ = handler.__name__
    return call


def _content(result: Any) -> Any:
    """JSON of a result; a bare list becomes the list object that every list is."""
    ready: Any = as_json(result)
    return {"items": cast("Sequence[Any]", ready), "next": None} if isinstance(ready, list) else ready


def _strict(annotation: Any) -> Any:
    """A body model that refuses unknown fields, whatever its author said."""
    if get_origin(annotation) is not None or not inspect.isclass(annotation):
        return annotation
    if not issubclass(annotation, BaseModel) or annotation.model_config.get("extra") == "forbid":
        return annotation
    about = {"__module__": annotation.__module__, "__doc__": annotation.__doc__}
    return new_class(annotation.__name__, (annotation,), {"extra": "forbid"}, lambda namespace: namespace.update(about))
