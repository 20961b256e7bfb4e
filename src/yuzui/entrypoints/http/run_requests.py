"""POST `/v1/sessions/{id}/runs`: take a message, store it, then answer in the way the client asked for. Lean: bare ASGI."""

import asyncio
import hashlib
from collections import OrderedDict
from typing import Any, Final, cast

from starlette.types import Receive, Scope, Send

from yuzui.entrypoints.http import requests
from yuzui.entrypoints.http.body import BodyLimits, check_media_type, parse_json, read_body
from yuzui.entrypoints.http.problems import FieldError, InvalidBodyError
from yuzui.entrypoints.http.run_events import RunEvents
from yuzui.entrypoints.http.views import run_json
from yuzui.entrypoints.services import Services
from yuzui.errors import UnknownAppError
from yuzui.guard.screening import screen
from yuzui.owner import Caller, Owner
from yuzui.runs.run import Accepted, NewRun

_REMEMBERED_SESSIONS: Final = 10_000

OPERATION: Final[dict[str, Any]] = {
    "tags": ["runs"],
    "summary": "Send a message",
    "operationId": "create_run",
    "description": (
        "Stores the message and a run before any work. Answers 202 with the run's id; with `Accept: text/event-stream` the"
        " stream of its events; with `Prefer: wait=N` (at most 120 seconds) 200 and the finished run, or 202 when the time"
        " ran out. The same `Idempotency-Key` with the same message is the same run; with another message 409."
    ),
    "parameters": [
        {"name": "session_id", "in": "path", "required": True, "schema": {"type": "string"}},
        {"name": "Idempotency-Key", "in": "header", "schema": {"type": "string", "minLength": 1, "maxLength": 255}},
        {"name": "Prefer", "in": "header", "schema": {"type": "string", "examples": ["wait=30"]}},
        {"name": "view", "in": "query", "schema": {"type": "string", "enum": ["full", "simple"], "default": "full"}},
    ],
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["message"],
                    "additionalProperties": False,
                    "properties": {"message": {"type": "string", "minLength": 1}},
                }
            }
        },
    },
    "responses": {
        "200": {
            "description": "The finished run, or the stream",
            "content": {
                "application/json": {"schema": {"type": "object"}},
                "text/event-stream": {"schema": {"type": "string"}},
            },
        },
        "202": {
            "description": "Accepted: follow `events_url`",
            "content": {
                "application/json": {"schema": {"type": "object", "required": ["run_id", "status", "events_url"]}}
            },
        },
    },
}


class RunRequests:
    """Takes messages."""

    def __init__(self, services: Services, events: RunEvents) -> None:
        self._services = services
        self._events = events
        self._limits = BodyLimits(max_bytes=services.limits.max_body_bytes, max_depth=services.limits.max_json_depth)
        self._apps: OrderedDict[tuple[Owner, str], str] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send, caller: Caller, session_id: str) -> None:
        """Answer the request. Nothing is stored for a message that is refused."""
        services = self._services
        asked = requests.wanted(scope, services.limits.max_wait_s)
        chosen = requests.view(requests.query(scope))
        check_media_type(scope)
        text = _message(parse_json(await read_body(scope, receive, self._limits.max_bytes), self._limits.max_depth))
        app = await self._app_of(caller.owner, session_id)
        accepted = await self._accept(caller, session_id, app, text, asked.key)
        run = accepted.run
        if asked.stream:
            await self._events.stream(receive, send, run.id, self._events.frames(chosen, app, caller))
            return
        if asked.wait_s is not None and await self._ended(receive, run.id, asked.wait_s):
            finished = await services.stores.runs.get(caller.owner, run.id)
            applied = (b"preference-applied", b"wait=%d" % asked.wait_s)
            await requests.answer(send, 200, run_json(finished), applied)
            return
        url = f"{scope.get('root_path', '')}/v1/runs/{run.id}/events"
        content = {"run_id": run.id, "session_id": session_id, "status": run.status, "events_url": url}
        await requests.answer(send, 202, content, (b"location", url.removesuffix("/events").encode()))

    async def _accept(self, caller: Caller, session_id: str, app: str, text: str, key: str | None) -> Accepted:
        services = self._services
        screened = screen(text, max_chars=services.limits.max_message_chars)
        by_rules = services.reception.decided_by_rules(app, screened.stored, caller)
        new = NewRun(
            id=services.new_id("run"),
            session_id=session_id,
            app=app,
            caller=caller,
            text=screened.stored,
            message_id=services.new_id("msg"),
            user_message_id=services.new_id("msg"),
            masked=screened.masked,
            key=key,
            inline=by_rules,
            body_hash=hashlib.sha256(f"{session_id}\x1f{text}".encode()).hexdigest() if key else None,
        )
        accepted = await services.stores.runs.accept(new, claim=by_rules or services.dispatcher.free())
        if accepted.claim is not None:
            services.dispatcher.start(accepted.claim)
        return accepted

    async def _app_of(self, owner: Owner, session_id: str) -> str:
        """A session's app never changes, so it is asked once; a deleted session is refused when the run is stored."""
        known = self._apps.get((owner, session_id))
        if known is None:
            session = await self._services.stores.sessions.get(owner, session_id)
            known = session.app
            self._apps[owner, session_id] = known
            if len(self._apps) > _REMEMBERED_SESSIONS:
                self._apps.popitem(last=False)
        if known not in self._services.apps:
            raise UnknownAppError(f"This server does not run the app {known!r} of this session.")
        return known

    async def _ended(self, receive: Receive, run_id: str, wait_s: float) -> bool:
        """Wait for the end of the run as one of its viewers; False when the time ran out or the client left."""
        dispatcher = self._services.dispatcher
        following = asyncio.create_task(self._follow(run_id))
        leaving = asyncio.create_task(_left(receive))
        dispatcher.attach(run_id)
        try:
            await asyncio.wait({following, leaving}, timeout=wait_s, return_when=asyncio.FIRST_COMPLETED)
            return following.done() and following.result()
        finally:
            dispatcher.detach(run_id)
            following.cancel()
            leaving.cancel()
            await asyncio.wait({following, leaving})

    async def _follow(self, run_id: str) -> bool:
        async for batch in self._services.stores.events.follow(run_id, 0):
            if batch and batch[-1].terminal:
                return True
        return False


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _message(body: Any) -> str:
    if not isinstance(body, dict):
        raise InvalidBodyError((FieldError(field="", message='an object {"message": …} is expected'),))
    fields = cast("dict[str, Any]", body)
    errors = [FieldError(field=name[:80], message="unknown field") for name in fields if name != "message"]
    text = fields.get("message")
    if not isinstance(text, str):
        message = "a string is expected" if "message" in fields else "is missing"
        errors.insert(0, FieldError(field="message", message=message))
    if errors or not isinstance(text, str):
        raise InvalidBodyError(tuple(errors))
    return text
