"""`yuzui.asgi`: the whole platform as one ASGI application, alone or inside another service (R-API-02)."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from starlette.types import Receive, Scope, Send

from yuzui.app import App
from yuzui.bootstrap.apps import load_apps
from yuzui.bootstrap.compose import Yuzui, build
from yuzui.entrypoints.auth import Authenticate, require_safe_bind
from yuzui.entrypoints.http.problems import from_status
from yuzui.entrypoints.http.requests import answer_problem
from yuzui.errors import YuzuiError
from yuzui.settings import Settings, load_settings


class AsgiApplication:
    """An ASGI application whose lifespan starts and stops everything.

    Run it alone (`uvicorn module:application`), or mount it and enter `lifespan` in the host's own lifespan: most
    frameworks do not run the lifespan of what they mount.
    """

    def __init__(self, settings: Settings, apps: Sequence[App[Any]], authenticate: Authenticate | None) -> None:
        self._settings = settings
        self._apps = tuple(apps)
        self._authenticate = authenticate
        self._running: Yuzui | None = None

    @asynccontextmanager
    async def lifespan(self, _: object = None) -> AsyncGenerator[None]:
        """Everything is started inside the block and stopped after it. Usable as a Starlette lifespan of the host."""
        async with build(self._settings, self._apps, authenticate=self._authenticate) as running:
            self._running = running
            try:
                yield
            finally:
                self._running = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or run the lifespan protocol."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif self._running is not None:
            await self._running.http(scope, receive, send)
        elif scope["type"] == "http":
            detail = "The application is not started: enter its lifespan in the lifespan of the host service."
            await answer_problem(send, from_status(503, detail))
        else:
            await receive()
            await send({"type": "websocket.close", "code": 1012, "reason": "not started"})

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(self.lifespan())
            except YuzuiError as error:
                await send({"type": "lifespan.startup.failed", "message": error.detail})
                return
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})


def create_asgi(
    apps: Sequence[App[Any] | str] | None = None,
    settings: Settings | None = None,
    authenticate: Authenticate | None = None,
) -> AsgiApplication:
    """The platform as an ASGI application.

    `apps` are declarations or their names (default: those of the settings); `settings` default to those of the process;
    `authenticate` makes the host's own login the caller. Raises `SettingsError` when dev tokens would be reachable from
    other machines by the settings' `host`, `UnknownAppError`, `DeclarationError`.
    """
    chosen = settings or load_settings()
    require_safe_bind(chosen.host, authenticated=chosen.authenticated or authenticate is not None)
    wanted = chosen.apps if apps is None else apps
    declared = [app for app in wanted if isinstance(app, App)]
    named = [app for app in wanted if isinstance(app, str)]
    return AsgiApplication(chosen, [*declared, *(load_apps(named) if named else ())], authenticate)
