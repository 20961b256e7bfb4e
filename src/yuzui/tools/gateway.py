"""★ The gateway: the one place where a tool is called (decision 1).

Direct reads, both engines, the confirmation executor and the MCP server all pass here. In this order: catalog, arguments,
effect, repeat, budget, deadline, claim, execution, redaction, events, audit. Router and engines only propose.
"""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol
from uuid import uuid4

from pydantic import BaseModel, ValidationError

from yuzui.budget import Meter
from yuzui.errors import DatabaseUnavailableError, FencedOutError, ToolError, YuzuiError
from yuzui.owner import Caller
from yuzui.runs.actions import PendingAction
from yuzui.runs.audit import ToolCallRecord
from yuzui.runs.claims import ClaimLedger, ClaimState
from yuzui.runs.database import Database
from yuzui.runs.events import ToolFinished, ToolOutcome, ToolStarted
from yuzui.runs.log import AttemptLog
from yuzui.tools.catalog import Catalog
from yuzui.tools.context import Ctx
from yuzui.tools.fence import Fence, canonical, fingerprint, step_key
from yuzui.tools.observation import Observation, ToolResult
from yuzui.tools.redact import redact_arguments, redact_text
from yuzui.tools.render import as_json, json_text
from yuzui.tools.tool import AnyTool, ReadTool, WriteTool

_LOGGED_ARGUMENTS = 4_000  # characters
# Threads cannot be cancelled: a timed-out sync tool keeps its thread until it returns, so the pool is bounded and its own.
_THREADS = ThreadPoolExecutor(max_workers=16, thread_name_prefix="yuzui-tool")


class ContextFactory(Protocol):
    """Makes the `Ctx` of a call from the authenticated caller (R-TOOL-02)."""

    def __call__(
        self,
        caller: Caller,
        *,
        run_id: str | None = None,
        db: Database | None = None,
        idempotency_key: str | None = None,
    ) -> Ctx[Any]:
        """A fresh context; `db` overrides the pool with an open transaction."""
        ...


Proposer = Callable[[WriteTool, BaseModel], Awaitable[PendingAction]]


@dataclass(frozen=True, kw_only=True, slots=True)
class CallRequest:
    """A proposed call. `arguments` is None when they could not be parsed; `problem` then says why. `step` is the logical step."""

    tool: str
    arguments: Mapping[str, Any] | None
    step: str
    call_id: str = field(default_factory=lambda: f"call_{uuid4().hex[:16]}")
    problem: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class GatewayScope:
    """What a gateway may do for one run: whose, with which catalog, and which confirmed action, if any.

    `estimate` lets a read ask the run's metered model for a figure it has no source for; a direct read has none.
    """

    caller: Caller
    run_id: str
    catalog: Catalog
    meter: Meter
    log: AttemptLog
    context: ContextFactory
    ledger: ClaimLedger
    token: str = ""
    fence: Fence = field(default_factory=Fence)
    propose: Proposer | None = None
    confirmed: tuple[WriteTool, PendingAction] | None = None
    estimate: Callable[[str], Awaitable[str | None]] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Done:
    outcome: ToolOutcome
    text: str
    value: Any = None
    transient: bool = False
    explained: bool = False
    reused: bool = False
    action_id: str | None = None
    result: ToolResult | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Written:
    result: ToolResult
    reused: bool = False


class Gateway:
    """Dispatches the calls of one run. `call` never raises for what a model or a tool does: it returns an `Observation`.

    It raises `FencedOutError` when the attempt lost the run, `DatabaseUnavailableError` when the platform's own database is
    gone, and lets cancellation through.
    """

    def __init__(self, scope: GatewayScope) -> None:
        self._scope = scope
        self._locks: dict[str, asyncio.Lock] = {}
        self._observations: list[Observation] = []
        self._drafted: PendingAction | None = None

    @property
    def observations(self) -> tuple[Observation, ...]:
        """Everything observed so far, in order (R-FENCE-05)."""
        return tuple(self._observations)

    @property
    def drafted(self) -> PendingAction | None:
        """The pending action that a draft created, if one did."""
        return self._drafted

    async def call(self, request: CallRequest) -> Observation:
        """One call, checked and executed."""
        observation = await self._dispatch(request)
        self._observations.append(observation)
        return observation

    async def _dispatch(self, request: CallRequest) -> Observation:
        scope = self._scope
        tool = self._resolve(request.tool)
        if tool is None:
            known = ", ".join(scope.catalog.names()) or "none"
            return self._turned_away(
                request, "denied", f"There is no tool {request.tool[:80]!r} in this request. Available: {known}."
            )
        if request.arguments is None:
            return self._turned_away(
                request,
                "invalid",
                f"The arguments of {tool.name} could not be read: {request.problem or 'not an object'}.",
                tool,
            )
        try:
            arguments, ignored = _validate(tool, request.arguments)
        except ValidationError as error:
            return self._turned_away(request, "invalid", _explain(tool, error), tool)
        try:
            key = fingerprint(tool, arguments)
        except Exception as error:  # noqa: BLE001  the tool's own key function is the app's code, and this is the edge
            return self._turned_away(request, "error", f"{tool.name} failed ({type(error).__name__}).", tool)
        async with self._locks.setdefault(key, asyncio.Lock()):  # identical calls of one parallel step run once
            earlier = scope.fence.earlier(key) if isinstance(tool, ReadTool) else None
            if earlier is not None:
                return self._repeat(request, tool, arguments, earlier)
            if not scope.meter.reserve_tool():
                return self._turned_away(
                    request,
                    "denied",
                    "The tool budget of this request is used up; answer from what is known.",
                    tool,
                    counted=False,
                )
            observation = await self._execute(request, tool, arguments, ignored, key)
            scope.fence.remember(key, observation)
            return observation

    def _resolve(self, name: str) -> AnyTool | None:
        scope = self._scope
        if scope.confirmed is not None:
            tool, action = scope.confirmed
            return tool if name == tool.name == action.tool else None
        return scope.catalog.reads.get(name) or (scope.catalog.drafts.get(name) if scope.propose else None)

    async def _execute(
        self, request: CallRequest, tool: AnyTool, arguments: BaseModel, ignored: tuple[str, ...], call: str
    ) -> Observation:
        scope = self._scope
        public = redact_arguments(canonical(arguments), tool.redact)
        scope.log.emit(ToolStarted(call_id=request.call_id, tool=tool.name, arguments=public))
        started = time.monotonic()
        done = _Done(outcome="error", text="The call was cancelled.")
        call_key = ""
        try:
            match tool:
                case ReadTool():
                    call_key = step_key(run_id=scope.run_id, step=request.step, call=call)
                    done = await self._read(tool, arguments)
                case WriteTool() if scope.confirmed is not None:
                    call_key = confirmed_key(scope.confirmed[1])
                    done = await self._write(tool, arguments, scope.confirmed[1], call_key)
                case WriteTool():
                    done = await self._draft(tool, arguments)
        finally:
            # Also when the run is cancelled: a call that began has an end in the log and in the audit.
            ms = round((time.monotonic() - started) * 1000)
            text = _public_text(tool, done, ignored)
            self._report(request, tool, public, done, text, ms, call_key)
        result = done.result
        return Observation(
            call_id=request.call_id,
            tool=tool.name,
            outcome=done.outcome,
            text=text,
            value=done.value,
            duration_ms=ms,
            reused=done.reused,
            transient=done.transient,
            explained=done.explained,
            action_id=done.action_id,
            cards=result.cards if result else (),
            provenance=result.provenance if result else (),
        )

    def _report(
        self, request: CallRequest, tool: AnyTool, public: dict[str, Any], done: _Done, text: str, ms: int, key: str
    ) -> None:
        log = self._scope.log
        effect = "draft" if isinstance(tool, WriteTool) and self._scope.confirmed is None else tool.effect
        log.emit(
            ToolFinished(
                call_id=request.call_id,
                tool=tool.name,
                outcome=done.outcome,
                observation=text,
                duration_ms=ms,
                reused=done.reused,
            )
        )
        log.record(
            ToolCallRecord(
                key=key,
                tool=tool.name,
                effect=effect,
                arguments=public,
                outcome=done.outcome,
                ms=ms,
                reused=done.reused,
            )
        )

    async def _read(self, tool: ReadTool, arguments: BaseModel) -> _Done:
        scope = self._scope
        for left in range(tool.retries, -1, -1):
            ctx = scope.context(scope.caller, run_id=scope.run_id)
            if scope.estimate is not None:
                ctx = replace(ctx, estimate=scope.estimate)
            done = await self._guarded(tool, partial(_invoke, tool, ctx, arguments))
            running = done.outcome == "timeout" and not inspect.iscoroutinefunction(tool.fn)
            if running or not (done.transient and left and scope.meter.deadline.remaining() > 0.2):
                return done  # a thread cannot be cancelled: a second one beside it would do the work twice (decision 5)
            await asyncio.sleep(min(0.1, scope.meter.deadline.remaining()))
        raise AssertionError("the loop above always returns")

    async def _draft(self, tool: WriteTool, arguments: BaseModel) -> _Done:
        propose = self._scope.propose
        if propose is None:
            return _Done(outcome="denied", text="Proposing a change is not allowed in this request.")
        try:
            action = await propose(tool, arguments)
        except ToolError as error:
            return _Done(outcome="error", text=error.message, transient=error.transient)
        self._drafted = action
        return _Done(
            outcome="ok",
            text=f"Drafted, waiting for the person's confirmation, nothing was changed: {action.summary}",
            action_id=action.id,
        )

    async def _write(self, tool: WriteTool, arguments: BaseModel, action: PendingAction, key: str) -> _Done:
        if action.status != "executing":
            return _Done(outcome="denied", text="This write has no confirmed action.")
        return await (self._transactional if tool.transactional else self._external)(tool, arguments, action, key)

    async def _transactional(self, tool: WriteTool, arguments: BaseModel, action: PendingAction, key: str) -> _Done:
        scope = self._scope

        async def write() -> _Written:
            opened = scope.ledger.transaction(
                key=key, run_id=scope.run_id, tool=tool.name, owner=action.owner, arguments=action.arguments
            )
            async with opened as ledger:
                if ledger.earlier is not None:
                    return _Written(result=ToolResult(value=(ledger.earlier.result or {}).get("value")), reused=True)
                ctx = scope.context(scope.caller, run_id=scope.run_id, db=ledger.db, idempotency_key=key)
                if tool.check is not None:
                    await tool.check(ctx, arguments)
                result = _result(await _invoke(tool, ctx, arguments))
                await ledger.done({"value": as_json(result.value)})
                return _Written(result=result)

        return await self._guarded(tool, write)

    async def _external(self, tool: WriteTool, arguments: BaseModel, action: PendingAction, key: str) -> _Done:
        scope = self._scope
        entry = await scope.ledger.claim(
            key=key,
            run_id=scope.run_id,
            tool=tool.name,
            owner=action.owner,
            arguments=action.arguments,
            token=scope.token,
        )
        if not entry.fresh:
            return _settled(entry.state, entry.result)
        ctx = scope.context(scope.caller, run_id=scope.run_id, idempotency_key=key)
        if tool.check is not None:
            checked = await self._guarded(tool, partial(tool.check, ctx, arguments))
            if checked.outcome != "ok":
                await scope.ledger.settle(key, state="failed", result={"error": checked.text})
                return checked
        done = _Done(outcome="uncertain", text="The call was interrupted; its outcome is unknown.")
        try:
            done = await self._guarded(tool, partial(_invoke, tool, ctx, arguments), unknown_on_fault=True)
        finally:
            state: ClaimState = (
                "done" if done.outcome == "ok" else "uncertain" if done.outcome == "uncertain" else "failed"
            )
            result = {"value": done.value} if done.outcome == "ok" else {"error": done.text}
            await asyncio.shield(scope.ledger.settle(key, state=state, result=result))
        return done

    async def _guarded(
        self, tool: AnyTool, run: Callable[[], Awaitable[Any]], *, unknown_on_fault: bool = False
    ) -> _Done:
        """Run within the tool's time-out and the run's deadline, and say what came of it in the closed set of outcomes."""
        deadline = self._scope.meter.deadline
        lost: ToolOutcome = "uncertain" if unknown_on_fault else "timeout"
        try:
            async with deadline.scope(tool.timeout_s):
                value = await run()
            result = value.result if isinstance(value, _Written) else _result(value)
            ready = as_json(result.value)
            text = json_text(ready)
        except TimeoutError:
            return _Done(
                outcome=lost,
                text=f"{tool.name} did not answer within {min(tool.timeout_s, deadline.remaining() or tool.timeout_s):.0f} s.",
                transient=not unknown_on_fault,
            )
        except ToolError as error:
            return _Done(outcome="error", text=error.message, transient=error.transient, explained=True)
        except (FencedOutError, DatabaseUnavailableError):
            raise
        except YuzuiError as error:
            return _Done(
                outcome="denied" if error.status in (403, 404) else "error",
                text=f"{error.code}: {error.detail}",
                transient=error.retryable,
            )
        except (
            Exception,
            asyncio.CancelledError,
            SystemExit,
        ) as error:  # an edge: a tool's fault becomes an observation
            if isinstance(error, asyncio.CancelledError) and _being_cancelled():
                raise
            outcome: ToolOutcome = "uncertain" if unknown_on_fault else "error"
            return _Done(
                outcome=outcome,
                text=f"{tool.name} failed ({type(error).__name__}).",
                transient=isinstance(error, OSError) and not unknown_on_fault,
            )
        reused = isinstance(value, _Written) and value.reused
        return _Done(outcome="ok", text=text, value=ready, result=result, reused=reused)

    def _repeat(self, request: CallRequest, tool: AnyTool, arguments: BaseModel, earlier: Observation) -> Observation:
        public = redact_arguments(canonical(arguments), tool.redact)
        self._log_short(request, tool.name, public, "repeat", earlier.text, reused=True, effect=tool.effect)
        return Observation(
            call_id=request.call_id,
            tool=tool.name,
            outcome="repeat",
            text=earlier.text,
            value=earlier.value,
            reused=True,
            counted=False,
            cards=earlier.cards,
            provenance=earlier.provenance,
        )

    def _turned_away(
        self,
        request: CallRequest,
        outcome: ToolOutcome,
        text: str,
        tool: AnyTool | None = None,
        *,
        counted: bool = True,
    ) -> Observation:
        """A call that executes nothing still gets an observation, and counts, so that it cannot be tried for ever (R-TOOL-04)."""
        spent = counted and self._scope.meter.reserve_tool()
        name = tool.name if tool else request.tool[:80]
        given = redact_arguments(canonical(dict(request.arguments or {})), tool.redact if tool else frozenset())
        public = _bounded(given)
        self._log_short(request, name, public, outcome, text, reused=False, effect=tool.effect if tool else "read")
        return Observation(call_id=request.call_id, tool=name, outcome=outcome, text=text, counted=spent)

    def _log_short(
        self,
        request: CallRequest,
        name: str,
        public: dict[str, Any],
        outcome: ToolOutcome,
        text: str,
        *,
        reused: bool,
        effect: str,
    ) -> None:
        log = self._scope.log
        log.emit(ToolStarted(call_id=request.call_id, tool=name, arguments=public))
        log.emit(
            ToolFinished(
                call_id=request.call_id,
                tool=name,
                outcome=outcome,
                observation=redact_text(text),
                duration_ms=0,
                reused=reused,
            )
        )
        log.record(
            ToolCallRecord(key="", tool=name, effect=effect, arguments=public, outcome=outcome, ms=0, reused=reused)
        )


def confirmed_key(action: PendingAction) -> str:
    """The idempotency key of a confirmed action's effect: one action, one key, whichever attempt carries it out."""
    return f"{action.id}:{action.digest[:32]}"


def _validate(tool: AnyTool, raw: Mapping[str, Any]) -> tuple[BaseModel, tuple[str, ...]]:
    """Validated arguments, and the unknown fields that were dropped. Only reads forgive unknown fields; a reserved `_name` never counts."""
    known = {name: value for name, value in raw.items() if not name.startswith("_")}
    ignored: tuple[str, ...] = ()
    if isinstance(tool, ReadTool):
        ignored = tuple(sorted(name for name in known if name not in tool.arguments.model_fields))
        known = {name: value for name, value in known.items() if name not in ignored}
    return tool.arguments.model_validate(known), ignored


def _public_text(tool: AnyTool, done: _Done, ignored: tuple[str, ...]) -> str:
    text = redact_text(done.text)[: tool.max_output]
    names = ", ".join(name[:40] for name in ignored[:8])
    return f"{text}\n(ignored unknown fields: {names})" if ignored else text


def _bounded(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments of a call that was turned away, for the log: nobody checked how long they are."""
    length = len(json_text(arguments))
    return arguments if length <= _LOGGED_ARGUMENTS else {"omitted_characters": length}


def _explain(tool: AnyTool, error: ValidationError) -> str:
    problems = "; ".join(
        f"{'.'.join(map(str, item['loc'])) or 'arguments'}: {item['msg']}"
        for item in error.errors(include_url=False)[:5]
    )
    return f"Invalid arguments for {tool.name}: {problems}."


async def _invoke(tool: AnyTool, ctx: Ctx[Any], arguments: BaseModel) -> Any:
    values = {name: getattr(arguments, name) for name in type(arguments).model_fields}
    if inspect.iscoroutinefunction(tool.fn):
        return await tool.fn(ctx, **values)
    value = await asyncio.get_running_loop().run_in_executor(_THREADS, partial(tool.fn, ctx, **values))
    return await value if inspect.isawaitable(value) else value


def _being_cancelled() -> bool:
    """Whether somebody asked this task to stop: a `CancelledError` without that is a tool's own, as of a task it waited for."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _result(value: Any) -> ToolResult:
    return value if isinstance(value, ToolResult) else ToolResult(value=value)


def _settled(state: str, result: dict[str, Any] | None) -> _Done:
    match state:
        case "done":
            value = (result or {}).get("value")
            return _Done(outcome="ok", text=json_text(value), value=value, reused=True)
        case "failed":
            return _Done(outcome="error", text=str((result or {}).get("error", "failed before")), reused=True)
        case _:
            return _Done(
                outcome="uncertain",
                text="An earlier attempt of this call has an unknown outcome; it is not repeated.",
                reused=True,
            )
