"""The OpenAPI document and its plain listing: complete, offline, with one problem shape for every error (R-API-01)."""

import hashlib
from base64 import b64encode
from html import escape
from typing import Any, Final

from fastapi import APIRouter, FastAPI, Request
from fastapi.openapi.utils import get_openapi
from fastapi.responses import HTMLResponse

from yuzui.entrypoints.http import run_events, run_requests

router = APIRouter(include_in_schema=False)

_HOT: Final[dict[str, dict[str, Any]]] = {
    "/v1/sessions/{session_id}/runs": {"post": run_requests.OPERATION},
    "/v1/runs/{run_id}/events": {"get": run_events.OPERATION},
}
_PROBLEM: Final[dict[str, Any]] = {
    "type": "object",
    "title": "Problem",
    "description": "RFC 9457",
    "required": ["type", "title", "status", "code", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string"},
        "detail": {"type": "string"},
        "retry_after": {"type": "number"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["field", "message"],
                "properties": {"field": {"type": "string"}, "message": {"type": "string"}},
            },
        },
    },
}
_ERROR: Final[dict[str, Any]] = {
    "description": "A problem",
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
}
_STYLE: Final = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1f24;background:#fff}"
    "table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.4rem .6rem;border-bottom:1px solid #ccc;"
    "vertical-align:top}code{font-family:ui-monospace,monospace}"
    "@media(prefers-color-scheme:dark){body{background:#14171a;color:#e8eaed}a{color:#8ab4f8}}"
)
_STYLE_HASH: Final = b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()


def document(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document of an application, with the hot routes that FastAPI does not know."""
    found: dict[str, Any] = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes
    )
    paths: dict[str, Any] = found.setdefault("paths", {})
    for path, operations in _HOT.items():
        paths.setdefault(path, {}).update(operations)
    components = found.setdefault("components", {})
    schemas: dict[str, Any] = components.setdefault("schemas", {})
    schemas["Problem"] = _PROBLEM
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    components.setdefault("securitySchemes", {})["HTTPBearer"] = {"type": "http", "scheme": "bearer"}
    for path, operations in paths.items():
        for operation in operations.values():
            responses: dict[str, Any] = operation.setdefault("responses", {})
            responses.pop("422", None)
            responses["default"] = _ERROR
            if path.startswith("/v1/"):
                operation["security"] = [{"HTTPBearer": []}]
    return found


@router.get("/docs")
async def docs(request: Request) -> HTMLResponse:
    """A plain listing of the OpenAPI document: nothing is loaded from elsewhere."""
    found: dict[str, Any] = request.app.openapi()
    root = request.scope.get("root_path", "")
    rows = "".join(
        f"<tr><td><code>{method.upper()}</code></td><td><code>{escape(path)}</code></td>"
        f"<td>{escape(operation.get('summary', ''))}<br><small>{escape(operation.get('description', ''))}</small></td></tr>"
        for path, operations in sorted(found["paths"].items())
        for method, operation in operations.items()
    )
    html = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(found["info"]["title"])} API</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>'
        f"<h1>{escape(found['info']['title'])} API {escape(found['info']['version'])}</h1>"
        f"<p>{escape(found['info'].get('description', ''))} The machine-readable document: "
        f'<a href="{escape(root)}/openapi.json">openapi.json</a>.</p>'
        f"<table><thead><tr><th>Method</th><th>Path</th><th>What it does</th></tr></thead><tbody>{rows}</tbody></table>"
        "</body></html>"
    )
    policy = f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; frame-ancestors 'none'; base-uri 'none'"
    return HTMLResponse(html, headers={"content-security-policy": policy})
