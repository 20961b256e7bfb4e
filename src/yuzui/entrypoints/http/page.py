"""The web page: `/` and `/assets/…`, served from the package folder `yuzui/web` under a strict Content-Security-Policy.

The files are read once, when the routes are made; a request can name only what was found then, so no path leads outside.
"""

import hashlib
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self' data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Names carry no version, so a browser asks each time and mostly gets a 304.
    "Cache-Control": "no-cache",
}
_MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
_INDEX = "index.html"


@dataclass(frozen=True, kw_only=True, slots=True)
class Asset:
    """One file of the page with the headers that go with it."""

    body: bytes
    media_type: str
    etag: str

    def answer(self, request: Request) -> Response:
        """The file, or 304 when the browser's copy is this one. HEAD is answered by the server without the body."""
        headers = {**_HEADERS, "ETag": self.etag}
        known = {tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")}
        if self.etag in known or "*" in known:
            return Response(status_code=304, headers=headers)
        return Response(self.body, media_type=self.media_type, headers=headers)


def _assets(folder: Traversable) -> dict[str, Asset]:
    """Every servable file of the folder by its name; other files (there for tools) are left out."""
    found: dict[str, Asset] = {}
    for entry in folder.iterdir():
        media_type = _MEDIA_TYPES.get("." + entry.name.rpartition(".")[2])
        if media_type is None or not entry.is_file():
            continue
        body = entry.read_bytes()
        etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        found[entry.name] = Asset(body=body, media_type=media_type, etag=etag)
    return found


def page_routes() -> list[BaseRoute]:
    """Routes for `/` and `/assets/{name}` (GET, HEAD). An unknown name is a 404 problem (`not_found`)."""
    assets = _assets(files("yuzui") / "web")
    index = assets.pop(_INDEX)

    async def home(request: Request) -> Response:
        return index.answer(request)

    async def asset(request: Request) -> Response:
        found = assets.get(request.path_params["name"])
        if found is not None:
            return found.answer(request)
        problem = b'{"type":"about:blank","title":"Not found.","status":404,"code":"not_found","detail":"The page has no such file."}'
        return Response(problem, status_code=404, media_type="application/problem+json", headers=_HEADERS)

    return [Route("/", home, methods=["GET"]), Route("/assets/{name:path}", asset, methods=["GET"])]
