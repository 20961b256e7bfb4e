"""The edge: the one pure ASGI layer around everything. It authenticates, bounds and checks bodies, and turns every fault into a
problem (R-AUTH-01, RFC 9457). The two hot routes are answered here, ahead of FastAPI.
"""

from collections.abc import Iterable
from typing import Final

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from yuzui.entrypoints.auth import TokenAuthenticator, caller_of
from yuzui.entrypoints.http import problems
from yuzui.entrypoints.http.body import ClientGoneError, check_media_type, check_target, parse_json, read_body
from yuzui.entrypoints.http.requests import answer_problem, route_path
from yuzui.entrypoints.http.run_events import RunEvents
from yuzui.entrypoints.http.run_requests import RunRequests
from yuzui.entrypoints.services import Services
from yuzui.errors import NotFoundError, YuzuiError
from yuzui.owner import Caller

PROTECTED: Final = ("/v1/", "/ag-ui/", "/mcp/")
_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_SECURITY: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)
_log = structlog.get_logger(__name__)


class Edge:
    """Wraps the application's router. Holds no state of a request."""

    def __init__(self, router: ASGIApp, services: Services, hot: tuple[RunRequests, RunEvents]) -> None:
        self._router = router
        self._services = services
        self._requests, self._events = hot

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; whatever goes wrong becomes a problem, and is logged when it is our fault."""
        if scope["type"] != "http":
            await self._refuse_socket(receive, send)
            return
        started = False

        async def tracked(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._answer(scope, receive, tracked)
        except ClientGoneError:
            return
        except YuzuiError as error:
            if error.status >= 500:
                _log.warning("http.unavailable", path=scope["path"], code=error.code, detail=error.detail)
            if not started:
                await answer_problem(send, problems.from_error(error))
        except Exception:  # noqa: BLE001  the edge of HTTP: a fault is logged whole and shown as nothing but a 500
            _log.exception("http.fault", method=scope["method"], path=scope["path"])
            if not started:
                await answer_problem(send, problems.INTERNAL)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = route_path(scope)
        if path.startswith(PROTECTED):
            authenticator = self._services.authenticator
            if isinstance(authenticator, TokenAuthenticator):
                caller = authenticator.identify(scope)
                scope.setdefault("state", {})["yuzui.caller"] = caller
            else:
                caller = await caller_of(authenticator, scope)
            if await self._hot(path, caller, scope, receive, send):
                return
        check_target(scope)
        if scope["method"] in _WITH_BODY:
            receive = await self._checked(scope, receive)
        await self._router(scope, receive, _secured(send, private=path.startswith(PROTECTED)))

    async def _hot(self, path: str, caller: Caller, scope: Scope, receive: Receive, send: Send) -> bool:
        parts = path.split("/")  # "", "v1", collection, id, rest
        if len(parts) != 5:
            return False
        match (scope["method"], parts[2], parts[4]):
            case ("POST", "sessions", "runs"):
                await self._requests(scope, receive, send, caller, _identifier(parts[3]))
            case ("GET", "runs", "events"):
                await self._events(scope, receive, send, caller, _identifier(parts[3]))
            case (_, "sessions", "runs"):
                await answer_problem(send, problems.from_status(405), (b"allow", b"POST"))
            case (_, "runs", "events"):
                await answer_problem(send, problems.from_status(405), (b"allow", b"GET"))
            case _:
                return False
        return True

    async def _checked(self, scope: Scope, receive: Receive) -> Receive:
        """Read the body within its limit, check it strictly, and give it to the router again."""
        limits = self._services.limits
        body = await read_body(scope, receive, limits.max_body_bytes)
        if body:
            check_media_type(scope)
            parse_json(body, limits.max_json_depth)
        given = False

        async def replay() -> Message:
            nonlocal given
            if given:
                return await receive()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        return replay

    async def _refuse_socket(self, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "websocket.close", "code": 1000, "reason": "there is no WebSocket here"})


def _identifier(text: str) -> str:
    """An id as it stands in a path; what cannot be one is nobody's object."""
    if not (text.isascii() and text.replace("_", "").replace("-", "").isalnum() and len(text) <= 80):
        raise NotFoundError
    return text


def _secured(send: Send, *, private: bool) -> Send:
    """Add the security headers that an answer does not set itself; answers about a person are not stored."""
    wanted: Iterable[tuple[bytes, bytes]] = (*_SECURITY, (b"cache-control", b"no-store")) if private else _SECURITY

    async def secured(message: Message) -> None:
        if message["type"] == "http.response.start":
            present = {name.lower() for name, _ in message["headers"]}
            message["headers"] = [*message["headers"], *(pair for pair in wanted if pair[0] not in present)]
        await send(message)

    return secured
