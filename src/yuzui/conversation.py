"""★ The request path: text → guard → route → policy → one of three executions → the ending.

This module is the picture in `docs/architecture.md`. Everything it calls is a port or a pure function; everything durable
goes through the attempt's log, fenced by its token.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Literal, assert_never

from yuzui.app import App, Intent
from yuzui.budget import Budget, Deadline, Meter
from yuzui.context.system_prompt import system_prompt
from yuzui.context.turns import history
from yuzui.errors import ActionExpiredError, NotFoundError, RequiredToolMissingError
from yuzui.execution.bounded_react import React, bounded_react
from yuzui.execution.confirmation import carry_out, confirmation, refuse_settled
from yuzui.execution.direct_read import direct_read
from yuzui.execution.drafts import Drafting
from yuzui.execution.endings import clarify
from yuzui.execution.engine import Engine
from yuzui.execution.estimate import estimator
from yuzui.execution.fallbacks import blocked_ending, degraded_ending, nothing_to_confirm
from yuzui.execution.scope import Execution
from yuzui.guard import Screened, screen
from yuzui.model.metered import MeteredModel
from yuzui.model.port import Model
from yuzui.owner import Caller, Locale
from yuzui.policy import BoundedReact, CompiledPolicy, Confirm, DirectRead, compile_policy
from yuzui.routing.route import PlanKind, Route, RouterInput
from yuzui.routing.router import Router
from yuzui.routing.words import is_confirmation
from yuzui.runs.actions import ActionStore, PendingAction
from yuzui.runs.claims import ClaimLedger
from yuzui.runs.events import ContentReset, PolicyCompiled, RouteDecided
from yuzui.runs.log import AttemptLog, SessionStore
from yuzui.runs.run import Claim, Ending
from yuzui.tools.catalog import Catalog, compile_catalog
from yuzui.tools.gateway import ContextFactory, Gateway, GatewayScope
from yuzui.tools.tool import WriteTool

EFFECT_BUDGET = Budget(model_calls=1, tool_calls=1, seconds=60.0)
_READ_AHEAD = 256  # messages that were read at the door and whose runs have not begun yet


@dataclass(frozen=True, kw_only=True, slots=True)
class AppRuntime:
    """An app with what it needs to run: its router, its contexts, and which of its tools are out of reach right now."""

    app: App[Any]
    router: Router
    context: ContextFactory
    unavailable: Callable[[], frozenset[str]]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Read:
    """A message as screening and rules read it; `route` is None when rules do not decide it."""

    screened: Screened
    route: Route | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Ports:
    """What the conversation stands on. `model` and `classifier` are None in demo mode (R-DEG-01)."""

    sessions: SessionStore
    actions: ActionStore
    ledger: ClaimLedger
    engines: Mapping[Literal["json", "native"], Engine]
    model: Model | None
    classifier: Model | None
    max_message_chars: int
    action_ttl_s: float
    history_turns: int
    now: Callable[[], datetime]


class Conversation:
    """Carries out claimed runs of any app. Errors are `YuzuiError`s; the dispatcher maps them to retry or failure."""

    def __init__(self, apps: Mapping[str, AppRuntime], ports: Ports) -> None:
        self._apps = apps
        self._ports = ports
        # What an app's declaration compiles to never changes while it runs; both are kept per distinct route.
        self._policies: dict[tuple[str, str, PlanKind, bool], CompiledPolicy] = {}
        self._catalogs: dict[tuple[str, str, frozenset[str]], Catalog] = {}
        self._suggestions: dict[tuple[str, Locale], tuple[str, ...]] = {}
        # Reading is pure, so a run that begins in the process that accepted it takes what was read at the door.
        self._ahead: OrderedDict[tuple[str, str, Locale], _Read] = OrderedDict()

    def decided_by_rules(self, app: str, text: str, caller: Caller) -> bool:
        """Whether rules alone send this message to a direct read or a confirmation: such a run needs no worker slot."""
        runtime = self._apps[app]
        read = self._read(runtime, text, caller.locale)
        self._ahead[app, text, caller.locale] = read
        if len(self._ahead) > _READ_AHEAD:
            self._ahead.popitem(last=False)
        return _needs_no_slot(runtime.app, read.route)

    async def converse(self, claim: Claim, log: AttemptLog) -> None:
        """Run one claimed attempt to its end, and commit the ending."""
        runtime = self._apps.get(claim.run.app)
        if runtime is None:
            raise NotFoundError(f"this process does not serve the app {claim.run.app!r}")
        if claim.attempt > 1:  # whatever an earlier attempt streamed is void
            log.emit(ContentReset(message_id=claim.run.message_id))
        if claim.run.kind == "effect":
            await log.finish(await self._effect(runtime, claim, log, claim.run.action_id or ""))
        else:
            await log.finish(await self._message(runtime, claim, log))

    async def _message(self, runtime: AppRuntime, claim: Claim, log: AttemptLog) -> Ending:
        key = (runtime.app.name, claim.run.text, claim.run.caller.locale)
        read = self._ahead.pop(key, None) or self._read(runtime, claim.run.text, claim.run.caller.locale)
        screened = read.screened
        if is_confirmation(screened.matching):
            return await self._confirmed_in_words(runtime, claim, log)
        started = Meter(budget=Budget(), deadline=Deadline.after(Budget().seconds))
        route = read.route or await self._route(runtime, screened, claim, started, log)
        log.emit(_route_event(route))
        if screened.block is not None:
            return blocked_ending(claim.run, screened.block, started)
        if route.needs_clarification or route.intent is None:
            return clarify(claim.run, route, started)
        return await self._execute(runtime, runtime.app.intents[route.intent], route, claim, log, started)

    async def _route(
        self, runtime: AppRuntime, screened: Screened, claim: Claim, meter: Meter, log: AttemptLog
    ) -> Route:
        model = self._ports.classifier
        classifier = None if model is None else MeteredModel(model, meter, log.record)
        return await runtime.router.decide(_router_input(screened), claim.run.caller.locale, classifier, meter.deadline)

    async def _execute(
        self, runtime: AppRuntime, intent: Intent, route: Route, claim: Claim, log: AttemptLog, spent: Meter
    ) -> Ending:
        declared = intent.policy
        policy = self._policy(runtime, intent, route)
        meter = Meter(
            budget=policy.budget,
            deadline=Deadline.after(policy.budget.seconds),
            tokens_in=spent.tokens_in,
            tokens_out=spent.tokens_out,
            cost=spent.cost,
        )
        try:
            catalog = self._catalog(runtime, policy)
        except RequiredToolMissingError as missing:
            if isinstance(declared, BoundedReact) and declared.degraded:
                return degraded_ending(claim.run, declared, missing, meter)
            raise
        log.emit(_policy_event(policy, catalog))
        drafting = Drafting(
            run=claim.run,
            token=claim.token,
            policy=policy,
            catalog_version=catalog.version,
            actions=self._ports.actions,
            context=runtime.context,
            ttl_s=self._ports.action_ttl_s,
        )
        scope = self._scope(runtime, claim, log, meter, catalog, drafting)
        if isinstance(declared, BoundedReact) and self._ports.model is not None:
            scope = replace(
                scope, estimate=estimator(MeteredModel(self._ports.model, meter, log.record), meter.deadline)
            )
        execution = self._execution(claim, route, policy, scope)
        match declared:
            case DirectRead():
                return await direct_read(declared, execution)
            case Confirm():
                return await confirmation(declared, execution, drafting, claim.run.text)
            case BoundedReact():
                return await bounded_react(
                    declared, execution, await self._react(runtime, intent, declared, claim, catalog)
                )
            case _:
                assert_never(declared)

    async def _react(
        self, runtime: AppRuntime, intent: Intent, declared: BoundedReact, claim: Claim, catalog: Catalog
    ) -> React:
        app, ports, run = runtime.app, self._ports, claim.run
        check = declared.review
        earlier = await ports.sessions.recent(
            run.caller.owner, run.session_id, turns=ports.history_turns, before_run=run.id
        )
        return React(
            engine=ports.engines[app.engine],
            fallback_engine=ports.engines["json"],
            system=system_prompt(app.prompt("system"), intent.description, run.caller, ports.now()),
            history=history(earlier, turns=ports.history_turns),
            catalog=catalog,
            on_repeat=app.on_repeat,
            review=None if check is None else partial(check, runtime.context(run.caller, run_id=run.id)),
            suggestions=self._suggested(runtime, run.caller.locale),
        )

    async def _confirmed_in_words(self, runtime: AppRuntime, claim: Claim, log: AttemptLog) -> Ending:
        """ "确认" counts only when exactly one pending action of this caller and session is open (R-CONF-05)."""
        run = claim.run
        open_actions, _ = await self._ports.actions.list(
            run.caller.owner, status="pending", session_id=run.session_id, limit=2
        )
        mine = [action for action in open_actions if action.approval == "self"]
        if len(open_actions) != 1 or len(mine) != 1:
            meter = Meter(budget=EFFECT_BUDGET, deadline=Deadline.after(EFFECT_BUDGET.seconds))
            return nothing_to_confirm(run, open_actions, meter)
        return await self._effect(runtime, claim, log, mine[0].id)

    async def _effect(self, runtime: AppRuntime, claim: Claim, log: AttemptLog, action_id: str) -> Ending:
        """Claim the action for this run, committed before the effect, then carry it out through the gateway."""
        run, actions = claim.run, self._ports.actions
        action = await actions.begin(run.caller.owner, action_id, run.id, by=run.caller.owner.user)
        if action is None:
            current = await actions.get(run.caller.owner, action_id)
            refuse_settled(current)
            raise (
                ActionExpiredError if current.status == "pending" else NotFoundError(f"the action is {current.status}")
            )
        meter = Meter(budget=EFFECT_BUDGET, deadline=Deadline.after(EFFECT_BUDGET.seconds))
        tool = runtime.app.tools.get(action.tool)
        catalog = Catalog(reads={}, drafts={}, required=(), version=action.catalog_version)
        confirmed = (tool, action) if isinstance(tool, WriteTool) else None
        scope = self._scope(runtime, claim, log, meter, catalog, None, confirmed)
        policy = CompiledPolicy(
            intent="confirmed_action",
            mode="confirmation_required",
            tools=(action.tool,),
            required_tools=(action.tool,),
            proposals=(),
            budget=EFFECT_BUDGET,
            plan="DIRECT",
            postconditions=("action_settled",),
        )
        route = Route(intent="confirmed_action", confidence=1.0, source="rule", rule_id="confirmation")
        log.emit(_route_event(route))
        log.emit(_policy_event(policy, catalog))
        return await carry_out(action_id, self._execution(claim, route, policy, scope), actions, action)

    def _read(self, runtime: AppRuntime, text: str, locale: Locale) -> _Read:
        screened = screen(text, runtime.app.blocks, max_chars=self._ports.max_message_chars)
        return _Read(screened=screened, route=runtime.router.decide_by_rules(_router_input(screened), locale))

    def _suggested(self, runtime: AppRuntime, locale: Locale) -> tuple[str, ...]:
        """The app's suggestions that work without a model."""
        app = runtime.app
        if (app.name, locale) not in self._suggestions:
            self._suggestions[app.name, locale] = tuple(
                text
                for text in app.suggestions.get(locale, ())
                if _needs_no_slot(app, self._read(runtime, text, locale).route)
            )
        return self._suggestions[app.name, locale]

    def _policy(self, runtime: AppRuntime, intent: Intent, route: Route) -> CompiledPolicy:
        narrowed = "suspected_injection" in route.flags
        key = (runtime.app.name, intent.name, route.plan, narrowed)
        if key not in self._policies:
            self._policies[key] = compile_policy(intent.name, intent.policy, plan=route.plan, narrowed=narrowed)
        return self._policies[key]

    def _catalog(self, runtime: AppRuntime, policy: CompiledPolicy) -> Catalog:
        unavailable = runtime.unavailable()
        key = (runtime.app.name, policy.policy_hash, unavailable)
        if key not in self._catalogs:
            self._catalogs[key] = compile_catalog(
                runtime.app.tools,
                reads=policy.tools,
                drafts=policy.proposals,
                required=policy.required_tools,
                unavailable=unavailable,
            )
        return self._catalogs[key]

    def _scope(
        self,
        runtime: AppRuntime,
        claim: Claim,
        log: AttemptLog,
        meter: Meter,
        catalog: Catalog,
        drafting: Drafting | None,
        confirmed: tuple[WriteTool, PendingAction] | None = None,
    ) -> GatewayScope:
        return GatewayScope(
            caller=claim.run.caller,
            run_id=claim.run.id,
            catalog=catalog,
            meter=meter,
            log=log,
            context=runtime.context,
            ledger=self._ports.ledger,
            token=claim.token,
            propose=drafting.propose if drafting is not None and catalog.drafts else None,
            confirmed=confirmed,
        )

    def _execution(self, claim: Claim, route: Route, policy: CompiledPolicy, scope: GatewayScope) -> Execution:
        model = self._ports.model
        return Execution(
            run=claim.run,
            route=route,
            policy=policy,
            gateway=Gateway(scope),
            meter=scope.meter,
            log=scope.log,
            model=None if model is None else MeteredModel(model, scope.meter, scope.log.record),
        )


def _needs_no_slot(app: App[Any], route: Route | None) -> bool:
    if route is None or route.needs_clarification or route.intent is None:
        return route is not None
    return not isinstance(app.intents[route.intent].policy, BoundedReact)


def _router_input(screened: Screened) -> RouterInput:
    return RouterInput(
        matching=screened.matching, original=screened.stored, flags=screened.flags, blocked=screened.block
    )


def _route_event(route: Route) -> RouteDecided:
    return RouteDecided(
        intent=route.intent,
        confidence=route.confidence,
        source=route.source,
        rule_id=route.rule_id,
        targets=dict(route.targets),
        plan=route.plan,
        needs_clarification=route.needs_clarification,
        blocked_reason=route.blocked_reason,
        flags=tuple(route.flags),
    )


def _policy_event(policy: CompiledPolicy, catalog: Catalog) -> PolicyCompiled:
    public = policy.public()
    return PolicyCompiled(
        mode=policy.mode,
        tools=policy.tools,
        required_tools=policy.required_tools,
        budget=public["budget"],
        postconditions=policy.postconditions,
        policy_hash=policy.policy_hash,
        catalog_version=catalog.version,
    )
