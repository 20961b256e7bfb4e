"""GET `/v1/runs/{id}/events`: the run's log as a stream or as a list (R-EVT-01). Lean: a bare ASGI endpoint."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Final, TypeAlias

from starlette.types import Receive, Scope, Send

from yuzui.entrypoints.http import requests
from yuzui.entrypoints.projections.full import full_frame, json_text
from yuzui.entrypoints.projections.simple import SimpleView
from yuzui.entrypoints.services import Services
from yuzui.entrypoints.sse import Frame, Stream, one_line
from yuzui.owner import Caller
from yuzui.runs.events import StoredEvent

PAGE: Final = 1000
JsonText: TypeAlias = Callable[[StoredEvent], bytes]

OPERATION: Final[dict[str, Any]] = {
    "tags": ["runs"],
    "summary": "Events of a run",
    "operationId": "run_events",
    "description": (
        "The durable log of a run: a stream of server-sent events with `Accept: text/event-stream` (resumed by"
        " `Last-Event-ID` or `after`), else a JSON list of what is there now."
    ),
    "parameters": [
        {"name": "run_id", "in": "path", "required": True, "schema": {"type": "string"}},
        {"name": "after", "in": "query", "schema": {"type": "integer", "minimum": 0, "default": 0}},
        {"name": "view", "in": "query", "schema": {"type": "string", "enum": ["full", "simple"], "default": "full"}},
        {"name": "Last-Event-ID", "in": "header", "schema": {"type": "string"}},
    ],
    "responses": {
        "200": {
            "description": "The events",
            "content": {
                "text/event-stream": {"schema": {"type": "string"}},
                "application/json": {
                    "schema": {
                        "type": "object",
                        "required": ["items", "next"],
                        "properties": {
                            "items": {"type": "array", "items": {"type": "object"}},
                            "next": {"type": ["string", "null"]},
                        },
                    }
                },
            },
        }
    },
}


class RunEvents:
    """Shows a run's log to one client."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send, caller: Caller, run_id: str) -> None:
        """Answer the request. `NotFoundError` for a run that is not the caller's, `BadCursorError` for a bad cursor."""
        asked = requests.wanted(scope, 0)
        parameters = requests.query(scope)
        after = requests.cursor(asked.last_event_id or parameters.get("after"))
        chosen = requests.view(parameters)
        run = await self._services.stores.runs.get(caller.owner, run_id)
        if asked.stream:
            await self.stream(receive, send, run_id, self.frames(chosen, run.app, caller), after)
        else:
            await self._list(send, run_id, after, self._texts(chosen, run.app, caller))

    async def stream(self, receive: Receive, send: Send, run_id: str, frame: Frame, after: int = 0) -> None:
        """Follow the run until its end as server-sent events; the caller has been checked."""
        services = self._services
        start, ended = await self._resume(run_id, after) if after else (0, False)
        batches = _nothing() if ended else services.stores.events.follow(run_id, start)
        client = Stream(send, receive, streams=services.streams, heartbeat_s=services.limits.sse_heartbeat_s)
        services.dispatcher.attach(run_id)
        try:
            await client.run(batches, frame)
        finally:
            services.dispatcher.detach(run_id)

    def frames(self, view: str, app: str, caller: Caller) -> Frame:
        """How events are shown in a view."""
        return full_frame if view == "full" else self._simple(app, caller).frame

    def _texts(self, view: str, app: str, caller: Caller) -> JsonText:
        if view == "full":
            return json_text
        simple = self._simple(app, caller)

        def text(event: StoredEvent) -> bytes:
            found = simple.project(event)
            return b"" if found is None else found.json_text()

        return text

    def _simple(self, app: str, caller: Caller) -> SimpleView:
        declared = self._services.apps.get(app)
        tools = declared.tools if declared else {}
        labels = {name: tool.labels[caller.locale] for name, tool in tools.items() if caller.locale in tool.labels}
        return SimpleView(caller.locale, labels)

    async def _resume(self, run_id: str, after: int) -> tuple[int, bool]:
        """Where to go on, and whether the run had ended there. A cursor beyond the end means: only what is new."""
        events = self._services.stores.events
        last = await events.read(run_id, after - 1, 1)
        if last:
            return after, last[0].terminal and last[0].seq == after
        position, ended = 0, False
        while batch := await events.read(run_id, position, PAGE):
            position, ended = batch[-1].seq, batch[-1].terminal
        return position, ended

    async def _list(self, send: Send, run_id: str, after: int, text: JsonText) -> None:
        batch = await self._services.stores.events.read(run_id, after, PAGE)
        items = b",".join([one_line(item) for event in batch if (item := text(event))])
        following = b'"%d"' % batch[-1].seq if len(batch) == PAGE else b"null"
        body = b'{"items":[%s],"next":%s}' % (items, following)
        await requests.answer_bytes(send, 200, body, (b"content-type", b"application/json"))


async def _nothing() -> AsyncIterator[Sequence[StoredEvent]]:
    none: Sequence[Sequence[StoredEvent]] = ()
    for batch in none:
        yield batch
