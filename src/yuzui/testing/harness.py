"""A gateway and a turn over fakes, so that tools, fences and engines are tested without a database or a server."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from pydantic import BaseModel

from yuzui.budget import Budget, Deadline, Meter
from yuzui.errors import NotFoundError
from yuzui.execution.engine import Turn
from yuzui.model.messages import Message
from yuzui.model.metered import MeteredModel
from yuzui.model.port import Model
from yuzui.owner import Caller, Locale, Owner
from yuzui.runs.actions import PendingAction, action_digest
from yuzui.runs.claims import ClaimState, LedgerEntry
from yuzui.testing.logs import MemoryLog
from yuzui.tools.catalog import Catalog, compile_catalog
from yuzui.tools.context import Ctx
from yuzui.tools.database import Database
from yuzui.tools.fence import Fence, canonical, canonical_json
from yuzui.tools.gateway import Gateway, GatewayScope
from yuzui.tools.schema import arguments_model, json_schema
from yuzui.tools.tool import AnyTool, ReadTool, WriteTool

ALICE = Caller(owner=Owner(tenant="family-a", user="alice"), name="Alice")


class NoDatabase:
    """A `Database` without any data: a tool that reaches for it in a test gets `NotFoundError`."""

    async def rows(self, sql: str, **params: Any) -> list[dict[str, Any]]:
        """Always raises."""
        raise NotFoundError(f"this test has no database for {sql[:40]!r} with {sorted(params)}")

    async def row(self, sql: str, **params: Any) -> dict[str, Any] | None:
        """Always raises."""
        return (await self.rows(sql, **params))[0]

    async def execute(self, sql: str, **params: Any) -> int:
        """Always raises."""
        return len(await self.rows(sql, **params))

    def transaction(self) -> AbstractAsyncContextManager[Database]:
        """A transaction in which nothing can be done."""
        return _nothing()


@asynccontextmanager
async def _nothing() -> AsyncGenerator[Database]:
    yield NoDatabase()


@dataclass(kw_only=True)
class MemoryLedger:
    """A `ClaimLedger` in memory; `entries` shows what was claimed and settled."""

    entries: dict[str, LedgerEntry] = field(default_factory=dict[str, LedgerEntry])

    async def claim(
        self, *, key: str, run_id: str, tool: str, owner: Owner, arguments: dict[str, Any], token: str
    ) -> LedgerEntry:
        """Fresh for the first caller; an unfinished earlier claim comes back as `uncertain`."""
        earlier = self.entries.get(key)
        if earlier is not None:
            state: ClaimState = "uncertain" if earlier.state == "claimed" else earlier.state
            return LedgerEntry(key=key, state=state, fresh=False, result=earlier.result)
        self.entries[key] = LedgerEntry(key=key, state="claimed", fresh=True, result=None)
        return self.entries[key]

    async def settle(self, key: str, *, state: ClaimState, result: dict[str, Any] | None) -> None:
        """Record the outcome."""
        self.entries[key] = LedgerEntry(key=key, state=state, fresh=False, result=result)

    @asynccontextmanager
    async def transaction(
        self, *, key: str, run_id: str, tool: str, owner: Owner, arguments: dict[str, Any]
    ) -> AsyncGenerator["MemoryTransaction"]:
        """Keeps the result only when the block ends normally."""
        opened = MemoryTransaction(earlier=self.entries.get(key))
        yield opened
        if opened.result is not None:
            self.entries[key] = LedgerEntry(key=key, state="done", fresh=False, result=opened.result)


@dataclass(kw_only=True)
class MemoryTransaction:
    """The open transaction of a `MemoryLedger`."""

    earlier: LedgerEntry | None
    result: dict[str, Any] | None = None
    db: Database = field(default_factory=NoDatabase)

    async def done(self, result: dict[str, Any]) -> None:
        """Hold the result until the block ends."""
        self.result = result


def read_tool(fn: Callable[..., Any], **options: Any) -> ReadTool:
    """A read tool of a function whose first parameter is the context; `options` are fields of `ReadTool`."""
    arguments = arguments_model(fn)
    made = _parts(fn, arguments)
    return ReadTool(**{**made, **options})


def _parts(fn: Callable[..., Any], arguments: type[BaseModel]) -> dict[str, Any]:
    name = fn.__name__
    return {
        "name": name,
        "description": fn.__doc__ or name,
        "fn": fn,
        "arguments": arguments,
        "schema": json_schema(arguments),
    }


def write_tool(fn: Callable[..., Any], **options: Any) -> WriteTool:
    """A write tool of a function; its summary names the tool unless `summary` is given."""
    arguments = arguments_model(fn)
    made = _parts(fn, arguments)

    def summary(_ctx: Any, held: BaseModel) -> str:
        return f"{fn.__name__} {canonical_json(held)}"

    more: dict[str, Any] = {"retries": 0, "summary": summary}
    return WriteTool(**{**more, **made, **options})


@dataclass(kw_only=True)
class Harness:
    """One run over fakes: `gateway()` for its tools, `turn()` for an engine. `actions` holds what was proposed."""

    tools: Sequence[AnyTool] = ()
    budget: Budget = field(default_factory=Budget)
    caller: Caller = ALICE
    confirmed: tuple[WriteTool, PendingAction] | None = None
    may_propose: bool = True
    log: MemoryLog = field(default_factory=MemoryLog)
    ledger: MemoryLedger = field(default_factory=MemoryLedger)
    fence: Fence = field(default_factory=Fence)
    actions: list[PendingAction] = field(default_factory=list[PendingAction])
    deps: Any = None

    def __post_init__(self) -> None:
        self.meter = Meter(budget=self.budget, deadline=Deadline.after(self.budget.seconds))
        self.catalog = self._catalog()

    def _catalog(self) -> Catalog:
        registry: Mapping[str, AnyTool] = {tool.name: tool for tool in self.tools}
        reads = [tool.name for tool in self.tools if isinstance(tool, ReadTool)]
        drafts = [tool.name for tool in self.tools if isinstance(tool, WriteTool)]
        return compile_catalog(registry, reads=reads, drafts=drafts)

    def context(
        self,
        caller: Caller,
        *,
        run_id: str | None = None,
        db: Database | None = None,
        idempotency_key: str | None = None,
    ) -> Ctx[Any]:
        """The `ContextFactory` of the gateway."""
        return Ctx(
            caller=caller,
            deps=self.deps,
            db=db or NoDatabase(),
            now=datetime.now(UTC),
            run_id=run_id,
            idempotency_key=idempotency_key,
        )

    async def propose(self, tool: WriteTool, arguments: BaseModel) -> PendingAction:
        """Keep a draft instead of storing it."""
        action = pending(tool, arguments, caller=self.caller, run_id=self.log.run_id, number=len(self.actions) + 1)
        self.actions.append(action)
        return action

    def gateway(self) -> Gateway:
        """A gateway for this run."""
        return Gateway(
            GatewayScope(
                caller=self.caller,
                run_id=self.log.run_id,
                catalog=self.catalog,
                meter=self.meter,
                log=self.log,
                context=self.context,
                ledger=self.ledger,
                fence=self.fence,
                propose=self.propose if self.may_propose else None,
                confirmed=self.confirmed,
            )
        )

    def turn(
        self,
        model: Model,
        user: str = "现在有死锁吗？",
        *,
        system: str = "You are a careful assistant.",
        history: tuple[Message, ...] = (),
        on_repeat: Literal["abort", "finalize"] = "finalize",
        parallel: bool = False,
        locale: Locale = "zh",
    ) -> Turn:
        """A turn for an engine."""
        return Turn(
            system=system,
            history=history,
            user=user,
            catalog=self.catalog,
            gateway=self.gateway(),
            model=MeteredModel(model, self.meter, self.log.record),
            meter=self.meter,
            log=self.log,
            message_id="msg_test",
            locale=locale,
            on_repeat=on_repeat,
            may_call_in_parallel=parallel,
        )


def pending(
    tool: WriteTool, arguments: BaseModel, *, caller: Caller = ALICE, run_id: str = "run_test", number: int = 1
) -> PendingAction:
    """A pending action of validated arguments, as the confirmation would store it."""
    now = datetime.now(UTC)
    expires = now + timedelta(minutes=15)
    digest = action_digest(
        tool=tool.name,
        arguments=canonical_json(arguments),
        owner=caller.owner,
        policy_hash="policy",
        expires_at=expires,
    )
    return PendingAction(
        id=f"act_{number}",
        run_id=run_id,
        session_id="ses_test",
        app="test",
        owner=caller.owner,
        tool=tool.name,
        arguments=canonical(arguments),
        summary=tool.summary(None, arguments),
        digest=digest,
        policy_hash="policy",
        catalog_version="catalog",
        approval=tool.approval,
        status="pending",
        created_at=now,
        expires_at=expires,
    )
