"""A small server that keeps the contract of the HTTP interface and can misbehave on request: cut, refuse or hold streams.

It serves the real page through `page_routes()`, so the Content-Security-Policy under test is the product's own.
"""

import asyncio
import itertools
import json
import socket
import threading
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from tests.browser import fake_scripts as scripts

from yuzui.entrypoints.http.page import page_routes

TOKENS = ("dev-alice", "dev-bob", "dev-olga", "dev-root")
TERMINAL = ("run.completed", "run.failed", "run.cancelled")


class CutError(Exception):
    """The fake drops this connection on purpose."""


def problem(status: int, code: str, detail: str, **extra: Any) -> JSONResponse:
    """An RFC 9457 answer."""
    body = {"type": "about:blank", "title": code, "status": status, "code": code, "detail": detail, **extra}
    return JSONResponse(body, status_code=status, media_type="application/problem+json")


def now() -> str:
    """UTC, RFC 3339."""
    return datetime.now(UTC).isoformat()


@dataclass(kw_only=True)
class FakeRun:
    """One run: its log grows as its script is played."""

    id: str
    session_id: str
    text: str
    events: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def ended(self) -> bool:
        return bool(self.events) and self.events[-1]["type"] in TERMINAL

    def append(self, kind: str, data: dict[str, Any]) -> None:
        if kind.startswith(("content.", "message.")):
            data = {"message_id": f"msg_{self.id}", **data}
        event = {"run_id": self.id, "seq": len(self.events) + 1, "type": kind, "at": now(), "attempt": 1, "data": data}
        self.events.append(event)


@dataclass(kw_only=True)
class Fake:
    """The state of the server and its knobs, which a test sets before it acts."""

    cut_after: list[int] = field(default_factory=list[int])
    """Streams are dropped after so many events: the first stream after the first number, and so on."""
    refuse_streams: bool = False
    hold_at: str | None = None
    """Runs wait before the first event of this type until `release()`."""
    lifetime: timedelta = timedelta(minutes=15)
    confirm_problem: tuple[int, str] | None = None
    dev_tokens: bool = True
    requests: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    """Method, path with query, Last-Event-ID."""
    sessions: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    runs: dict[str, FakeRun] = field(default_factory=dict[str, FakeRun])
    actions: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    cuts: int = 0
    _released: threading.Event = field(default_factory=threading.Event)
    _ids: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])
    by_key: dict[str, str] = field(default_factory=dict[str, str])

    def new_id(self, kind: str) -> str:
        return f"{kind}_{next(self._ids):04d}"

    def release(self) -> None:
        """Let held runs go on."""
        self._released.set()

    def cut(self) -> None:
        """Drop every stream that is open now."""
        self.cuts += 1

    def start(self, session_id: str, text: str, script: Iterator[scripts.Payload]) -> FakeRun:
        run = FakeRun(id=self.new_id("run"), session_id=session_id, text=text)
        self.runs[run.id] = run
        task = asyncio.get_running_loop().create_task(self._play(run, script))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return run

    async def _play(self, run: FakeRun, script: Iterator[scripts.Payload]) -> None:
        for kind, data in script:
            while kind == self.hold_at and not self._released.is_set() and not run.cancelled.is_set():
                await asyncio.sleep(0.01)
            if run.cancelled.is_set():
                run.append("run.cancelled", {"by": "user", "reason": "asked"})
                return
            run.append(kind, data)
            await asyncio.sleep(0)

    def script_for(self, run_text: str) -> Iterator[scripts.Payload]:
        if "meal" in run_text or "饮食" in run_text or "lunch" in run_text:
            action_id = self.new_id("act")
            self.actions[action_id] = {
                "id": action_id, "status": "pending", "result_run_id": None, "expires": datetime.now(UTC) + self.lifetime
            }  # fmt: skip
            return scripts.log_meal(action_id, self.lifetime)
        found = next((script for word, script in scripts.SCRIPTS.items() if word in run_text.lower()), scripts.bmi)
        return found(run_text)


def fake_of(request: Request) -> Fake:
    """The fake behind this request."""
    found: Fake = request.app.state.fake
    return found


async def health(request: Request) -> Response:
    return JSONResponse({"status": "ok", "dev_tokens": fake_of(request).dev_tokens})


async def apps(_: Request) -> Response:
    return JSONResponse({"items": scripts.APPS})


async def sessions(request: Request) -> Response:
    fake = fake_of(request)
    if request.method == "GET":
        return JSONResponse({"items": list(reversed(fake.sessions.values())), "next": None})
    session_id = fake.new_id("ses")
    app = (await request.json())["app"]
    fake.sessions[session_id] = {"id": session_id, "app": app, "title": "", "memory_status": "ok", "created_at": now()}
    return JSONResponse(fake.sessions[session_id], status_code=201)


async def session(request: Request) -> Response:
    fake = fake_of(request)
    session_id = request.path_params["id"]
    if session_id not in fake.sessions:
        return problem(404, "not_found", "There is no such session.")
    if request.method == "DELETE":
        del fake.sessions[session_id]
        return Response(status_code=204)
    return JSONResponse(fake.sessions[session_id])


def messages_of(fake: Fake, session_id: str) -> Iterator[dict[str, Any]]:
    """User and assistant messages in order of time."""
    for run in fake.runs.values():
        if run.session_id != session_id:
            continue
        if run.text:
            yield {
                "id": f"msg_u{run.id}",
                "role": "user",
                "text": run.text,
                "html": "",
                "run_id": run.id,
                "status": "ok",
            }
        answer = next((event["data"] for event in run.events if event["type"] == "message.completed"), None)
        if answer and run.ended:
            shown = {"text": answer["text"], "html": answer["html"]}
            yield {"id": f"msg_{run.id}", "role": "assistant", **shown, "run_id": run.id, "status": "ok"}


async def messages(request: Request) -> Response:
    """Two to a page, so that paging is used."""
    found = list(messages_of(fake_of(request), request.path_params["id"]))
    start = int(request.query_params.get("after", "0"))
    return JSONResponse({"items": found[start : start + 2], "next": str(start + 2) if start + 2 < len(found) else None})


async def create_run(request: Request) -> Response:
    fake = fake_of(request)
    text = (await request.json())["message"]
    if "too many" in text:
        return problem(429, "too_many_runs", "Too many runs are waiting.", retry_after=3)
    key = request.headers["idempotency-key"]
    session_id = request.path_params["id"]
    if key not in fake.by_key:
        fake.sessions[session_id]["title"] = fake.sessions[session_id]["title"] or text[:40]
        fake.by_key[key] = fake.start(session_id, text, fake.script_for(text)).id
    run_id = fake.by_key[key]
    return JSONResponse(
        {"run_id": run_id, "status": "queued", "events_url": f"/v1/runs/{run_id}/events"}, status_code=202
    )


async def frames(fake: Fake, run: FakeRun, after: int) -> AsyncIterator[bytes]:
    """SSE frames behind `after`, in awkward chunks; a cut comes where the knob says."""
    limit = fake.cut_after.pop(0) if fake.cut_after else None
    sent = 0
    cuts = fake.cuts
    yield b": hello\n\n"
    while True:
        while len(run.events) <= after and not run.ended:
            if fake.cuts > cuts:
                raise CutError
            await asyncio.sleep(0.01)
        for event in run.events[after:]:
            if limit is not None and sent >= limit:
                raise CutError
            frame = f"id: {event['seq']}\nevent: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode()
            for start in range(0, len(frame), 37):
                yield frame[start : start + 37]
            sent += 1
            after = event["seq"]
        if run.ended and after >= len(run.events):
            return


async def events(request: Request) -> Response:
    fake = fake_of(request)
    run = fake.runs.get(request.path_params["id"])
    if run is None:
        return problem(404, "not_found", "There is no such run.")
    after = int(request.headers.get("last-event-id") or request.query_params.get("after", "0"))
    if "text/event-stream" not in request.headers.get("accept", ""):
        return JSONResponse({"items": run.events[after : after + 5], "next": None})
    if fake.refuse_streams:
        return problem(502, "bad_gateway", "No streams here.")
    return StreamingResponse(
        frames(fake, run, after), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
    )


async def cancel(request: Request) -> Response:
    run = fake_of(request).runs[request.path_params["id"]]
    run.cancelled.set()
    return JSONResponse({"id": run.id, "status": "running"}, status_code=202)


def public(action: dict[str, Any]) -> dict[str, Any]:
    """The action as the API shows it: an open one past its time is expired."""
    if action["status"] == "pending" and action["expires"] <= datetime.now(UTC):
        action["status"] = "expired"
    return {name: value for name, value in action.items() if name != "expires"}


async def action(request: Request) -> Response:
    return JSONResponse(public(fake_of(request).actions[request.path_params["id"]]))


async def decide(request: Request) -> Response:
    fake = fake_of(request)
    found = fake.actions[request.path_params["id"]]
    verb = request.path_params["verb"]
    if fake.confirm_problem is not None:
        status, code = fake.confirm_problem
        found["status"] = "expired"
        return problem(status, code, "The pending action has expired; nothing was executed.")
    if public(found)["status"] == "pending" and verb == "confirm":
        session_id = next(reversed(fake.sessions))
        found.update(status="executed", result_run_id=fake.start(session_id, "", scripts.effect("")).id)
    elif found["status"] == "pending":
        found["status"] = "rejected"
    elif (found["status"] == "executed") != (verb == "confirm"):
        return problem(409, f"action_{found['status']}", "The pending action was settled before.")
    return JSONResponse(public(found))


class Gate:
    """Records requests and turns away those without a known token."""

    def __init__(self, app: ASGIApp, fake: Fake) -> None:
        self.app = app
        self.fake = fake

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        self.fake.requests.append((request.method, target, request.headers.get("last-event-id", "")))
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if request.url.path.startswith("/v1") and token not in TOKENS:
            await problem(401, "unauthorized", "The request carries no valid credentials.")(scope, receive, send)
            return
        try:
            await self.app(scope, receive, send)
        except CutError:
            # The response is left unfinished: the server closes the connection in the middle of the body.
            return


def build(fake: Fake) -> Starlette:
    """The application around one fake."""
    api = [
        Route("/healthz", health),
        Route("/v1/apps", apps),
        Route("/v1/sessions", sessions, methods=["GET", "POST"]),
        Route("/v1/sessions/{id}", session, methods=["GET", "DELETE"]),
        Route("/v1/sessions/{id}/messages", messages),
        Route("/v1/sessions/{id}/runs", create_run, methods=["POST"]),
        Route("/v1/runs/{id}/events", events),
        Route("/v1/runs/{id}/cancel", cancel, methods=["POST"]),
        Route("/v1/pending-actions/{id}", action),
        Route("/v1/pending-actions/{id}/{verb}", decide, methods=["POST"]),
    ]
    app = Starlette(routes=[*page_routes(), *api], middleware=[Middleware(Gate, fake=fake)])
    app.state.fake = fake
    return app


@contextmanager
def serving(fake: Fake) -> Generator[str]:
    """The address of a running server; it stops at the end."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(build(fake), log_level="critical", lifespan="off", ws="none", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="fake-server")
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        fake.release()
        server.should_exit = True
        thread.join(timeout=15)
        listener.close()
    if thread.is_alive():
        raise RuntimeError("the fake server did not stop")
