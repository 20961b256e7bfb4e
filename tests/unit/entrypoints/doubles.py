"""The HTTP interface over doubles: what a client sees, without a database or a worker."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

from yuzui.app import App
from yuzui.entrypoints.auth import dev_authenticator
from yuzui.entrypoints.http.application import http_application
from yuzui.entrypoints.http.edge import Edge
from yuzui.entrypoints.services import Check, Limits, Services, Stores
from yuzui.entrypoints.sse import Streams
from yuzui.errors import ActionExpiredError, IdempotencyMismatchError, NotFoundError
from yuzui.owner import Caller, Owner
from yuzui.runs.actions import ActionStatus, PendingAction
from yuzui.runs.events import StoredEvent
from yuzui.runs.feedback import Feedback
from yuzui.runs.ids import new_id
from yuzui.runs.log import AttemptLog
from yuzui.runs.run import Accepted, Claim, NewRun, RunRecord, Session, StoredMessage
from yuzui.testing.harness import NoDatabase
from yuzui.tools.context import Ctx, utc_now
from yuzui.tools.database import Database

ENDED = frozenset({"run.completed", "run.failed", "run.cancelled"})


@dataclass(kw_only=True)
class World:
    """Sessions, runs, events and actions in dictionaries. `say` appends an event to a run and wakes its followers."""

    sessions: dict[str, Session] = field(default_factory=dict[str, Session])
    runs: dict[str, RunRecord] = field(default_factory=dict[str, RunRecord])
    log: dict[str, list[StoredEvent]] = field(default_factory=dict[str, list[StoredEvent]])
    keys: dict[tuple[str, str], tuple[str | None, str]] = field(
        default_factory=dict[tuple[str, str], tuple[str | None, str]]
    )
    actions: dict[str, PendingAction] = field(default_factory=dict[str, PendingAction])
    feedback: dict[str, Feedback] = field(default_factory=dict[str, Feedback])
    viewers: dict[str, int] = field(default_factory=dict[str, int])
    started: list[Claim] = field(default_factory=list[Claim])
    problems: list[Check] = field(default_factory=list[Check])
    following: int = 0
    fault: Exception | None = None
    news: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def say(self, run_id: str, kind: str, **data: Any) -> None:
        """One more event of a run."""
        events = self.log.setdefault(run_id, [])
        events.append(
            StoredEvent(
                run_id=run_id,
                seq=len(events) + 1,
                type=kind,
                at="2026-01-02T03:04:05.000006Z",
                attempt=1,
                data=orjson.dumps(data),
            )
        )
        if kind in ENDED:
            self.runs[run_id] = replace(self.runs[run_id], status="succeeded", outcome="answered")
        async with self.news:
            self.news.notify_all()

    def mine(self, owner: Owner, run_id: str) -> RunRecord:
        """A run of an owner."""
        if self.fault is not None:
            raise self.fault
        run = self.runs.get(run_id)
        if run is None or run.owner != owner:
            raise NotFoundError
        return run


class Sessions:
    def __init__(self, world: World) -> None:
        self._world = world

    async def create(self, caller: Caller, app: str) -> Session:
        session = Session(
            id=new_id("ses"), app=app, owner=caller.owner, title="", memory_status="ok", created_at=utc_now()
        )
        self._world.sessions[session.id] = session
        return session

    async def get(self, owner: Owner, session_id: str) -> Session:
        found = self._world.sessions.get(session_id)
        if found is None or found.owner != owner:
            raise NotFoundError
        return found

    async def list(self, owner: Owner, *, limit: int, after: str | None) -> tuple[Sequence[Session], str | None]:
        mine = sorted((s for s in self._world.sessions.values() if s.owner == owner), key=lambda s: s.id, reverse=True)
        rest = [session for session in mine if after is None or session.id < after]
        return rest[:limit], rest[limit - 1].id if len(rest) > limit else None

    async def delete(self, owner: Owner, session_id: str) -> None:
        del self._world.sessions[(await self.get(owner, session_id)).id]

    async def messages(
        self, owner: Owner, session_id: str, *, limit: int, after: str | None
    ) -> tuple[Sequence[StoredMessage], str | None]:
        await self.get(owner, session_id)
        said = [
            StoredMessage(
                id=run.message_id,
                session_id=session_id,
                run_id=run.id,
                role="user",
                text=run.text,
                html="",
                status="ok",
                created_at=run.created_at,
            )
            for run in self._world.runs.values()
            if run.session_id == session_id
        ]
        return said[:limit], None

    async def recent(self, owner: Owner, session_id: str, *, turns: int, before_run: str) -> Sequence[StoredMessage]:
        return (await self.messages(owner, session_id, limit=turns, after=None))[0]


class Runs:
    def __init__(self, world: World) -> None:
        self._world = world

    async def accept(self, new: NewRun, *, claim: bool) -> Accepted:
        world = self._world
        if new.key is not None:
            known = world.keys.setdefault((new.session_id, new.key), (new.body_hash, new.id))
            if known[0] != new.body_hash:
                raise IdempotencyMismatchError
            if known[1] != new.id:
                return Accepted(run=world.runs[known[1]], created=False, claim=None)
        run = _record(new)
        world.runs[new.id] = run
        await world.say(new.id, "run.created", status="queued")
        return Accepted(run=run, created=True, claim=Claim(run=run, attempt=1, token="t") if claim else None)

    async def get(self, owner: Owner, run_id: str) -> RunRecord:
        return self._world.mine(owner, run_id)

    async def claim(self, run_id: str) -> Claim | None:
        return Claim(run=self._world.runs[run_id], attempt=1, token="t")

    def attempt_log(self, claim: Claim) -> AttemptLog:
        raise NotImplementedError

    async def hand_over(self, claim: Claim, reason: str) -> None:
        raise NotImplementedError

    async def request_cancel(self, owner: Owner, run_id: str, *, by: str, reason: str) -> RunRecord:
        self._world.mine(owner, run_id)
        await self._world.say(run_id, "run.cancelled", by=by, reason=reason)
        return self._world.mine(owner, run_id)


class Events:
    def __init__(self, world: World) -> None:
        self._world = world

    async def read(self, run_id: str, after: int, limit: int = 1000) -> Sequence[StoredEvent]:
        return self._world.log.get(run_id, [])[after : after + limit]

    async def follow(self, run_id: str, after: int) -> AsyncIterator[Sequence[StoredEvent]]:
        world, position = self._world, after
        world.following += 1
        try:
            while True:
                async with world.news:
                    while len(world.log.get(run_id, [])) <= position:
                        await world.news.wait()
                batch = world.log[run_id][position:]
                position = batch[-1].seq
                yield batch
                if batch[-1].type in ENDED:
                    return
        finally:
            world.following -= 1


class Actions:
    def __init__(self, world: World) -> None:
        self._world = world

    async def get(self, owner: Owner, action_id: str) -> PendingAction:
        found = self._world.actions.get(action_id)
        if found is None or found.owner != owner:
            raise NotFoundError
        return found

    async def list(
        self,
        owner: Owner,
        *,
        status: ActionStatus | None,
        session_id: str | None = None,
        limit: int = 50,
        after: str | None = None,
    ) -> tuple[Sequence[PendingAction], str | None]:
        mine = [a for a in self._world.actions.values() if a.owner == owner and status in (None, a.status)]
        return mine[:limit], None

    async def create(self, action: PendingAction, *, token: str) -> PendingAction:
        self._world.actions[action.id] = action
        return action

    async def begin(self, owner: Owner, action_id: str, result_run_id: str, *, by: str) -> PendingAction | None:
        raise NotImplementedError

    async def settle(
        self, action_id: str, *, frm: ActionStatus, to: ActionStatus, by: str, outcome: dict[str, Any] | None = None
    ) -> bool:
        action = self._world.actions[action_id]
        if action.status != frm:
            return False
        self._world.actions[action_id] = replace(action, status=to)
        return True

    async def supersede(
        self, owner: Owner, action_id: str, replacement: PendingAction, *, by: str
    ) -> PendingAction | None:
        raise NotImplementedError


class Confirmations:
    def __init__(self, world: World) -> None:
        self._world = world
        self._actions = Actions(world)

    async def confirm(self, caller: Caller, action_id: str) -> PendingAction:
        action = await self._actions.get(caller.owner, action_id)
        if action.status == "expired":
            raise ActionExpiredError
        await self._actions.settle(action_id, frm="pending", to="executed", by=caller.owner.user)
        return await self._actions.get(caller.owner, action_id)

    async def reject(self, caller: Caller, action_id: str) -> PendingAction:
        await self._actions.get(caller.owner, action_id)
        await self._actions.settle(action_id, frm="pending", to="rejected", by=caller.owner.user)
        return await self._actions.get(caller.owner, action_id)

    async def amend(self, caller: Caller, action_id: str, arguments: Mapping[str, Any]) -> PendingAction:
        old = await self._actions.get(caller.owner, action_id)
        new = replace(old, id=new_id("act"), arguments={**old.arguments, **arguments})
        return await self._actions.create(new, token="")


class Dispatcher:
    def __init__(self, world: World) -> None:
        self._world = world

    def free(self) -> bool:
        return True

    def start(self, claim: Claim) -> None:
        self._world.started.append(claim)

    def attach(self, run_id: str) -> None:
        self._world.viewers[run_id] = self._world.viewers.get(run_id, 0) + 1

    def detach(self, run_id: str) -> None:
        self._world.viewers[run_id] -= 1


class Reception:
    def decided_by_rules(self, app: str, text: str, caller: Caller) -> bool:
        return "rule" in text


class Audit:
    def __init__(self, world: World) -> None:
        self._world = world

    async def read(self, owner: Owner, run_id: str) -> dict[str, Any]:
        self._world.mine(owner, run_id)
        return {"run_id": run_id, "model_calls": [], "tool_calls": [], "confirmations": []}


class FeedbackBox:
    def __init__(self, world: World) -> None:
        self._world = world

    async def add(self, caller: Caller, run_id: str, feedback: Feedback) -> None:
        self._world.mine(caller.owner, run_id)
        self._world.feedback[run_id] = feedback


class Health:
    def __init__(self, world: World) -> None:
        self._world = world

    async def checks(self) -> Sequence[Check]:
        return [Check(part="database"), *self._world.problems]


def _record(new: NewRun) -> RunRecord:
    return RunRecord(
        id=new.id,
        session_id=new.session_id,
        app=new.app,
        owner=new.caller.owner,
        status="queued",
        outcome=None,
        attempt=0,
        text=new.text,
        message_id=new.message_id,
        caller=new.caller,
        route=None,
        policy=None,
        message=None,
        usage=None,
        pending_action_id=None,
        error=None,
        cancel_requested_by=None,
        kind=new.kind,
        action_id=new.action_id,
        created_at=utc_now(),
        finished_at=None,
    )


def pending_action(owner: Owner, **changes: Any) -> PendingAction:
    """An action that waits for its owner."""
    action = PendingAction(
        id=new_id("act"),
        run_id=new_id("run"),
        session_id=new_id("ses"),
        app="notes",
        owner=owner,
        tool="add_note",
        arguments={"text": "milk"},
        summary="Add the note: milk",
        digest="d",
        policy_hash="p",
        catalog_version="c",
        approval="self",
        status="pending",
        created_at=datetime(2026, 1, 2, tzinfo=UTC),
        expires_at=datetime(2026, 1, 2, tzinfo=UTC) + timedelta(minutes=15),
    )
    return replace(action, **changes)


def context(
    caller: Caller, *, run_id: str | None = None, db: Database | None = None, idempotency_key: str | None = None
) -> Ctx[Any]:
    """A context without a database."""
    return Ctx(caller=caller, deps=None, db=db or NoDatabase(), now=utc_now(), run_id=run_id)


def notes_app() -> App[Any]:
    """An app with a few endpoints of its own."""
    return App(
        "notes", deps=lambda database: database, assets=Path(__file__).parent, title={"zh": "便条", "en": "Notes"}
    )


def application(world: World, app: App[Any] | None = None, limits: Limits | None = None) -> tuple[Edge, Services]:
    """The ASGI application over a world."""
    chosen = app or notes_app()
    services = Services(
        apps={chosen.name: chosen},
        contexts={chosen.name: context},
        stores=Stores(
            runs=Runs(world),
            events=Events(world),
            sessions=Sessions(world),
            actions=Actions(world),
            audit=Audit(world),
            feedback=FeedbackBox(world),
        ),
        reception=Reception(),
        confirmations=Confirmations(world),
        dispatcher=Dispatcher(world),
        authenticator=dev_authenticator(),
        health=Health(world),
        streams=Streams(),
        limits=limits or Limits(),
        version="0.0.0",
        new_id=new_id,
        metrics=lambda: b"# none\n",
    )
    return http_application(services), services
