"""Bounded ReAct: a model chooses among reads, within budgets and one deadline (R-POL-04)."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

import structlog

from yuzui.errors import DeadlineExceededError, ModelError
from yuzui.execution.endings import awaiting, message, succeeded
from yuzui.execution.engine import Answer, Engine, Turn
from yuzui.execution.fallbacks import degraded_ending, demo_ending, model_failed_ending
from yuzui.execution.scope import Execution
from yuzui.model.messages import Message
from yuzui.policy import BoundedReact
from yuzui.runs.actions import PendingAction
from yuzui.runs.run import Ending
from yuzui.tools.catalog import Catalog

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class React:
    """What a ReAct execution needs besides the scope: the engine, the envelope's parts, the catalog."""

    engine: Engine
    fallback_engine: Engine
    system: str
    history: tuple[Message, ...]
    catalog: Catalog
    on_repeat: Literal["abort", "finalize"]
    suggestions: tuple[str, ...]
    review: Callable[[str], Awaitable[str | None]] | None = None


async def bounded_react(policy: BoundedReact, execution: Execution, react: React) -> Ending:
    """Run the engine and judge what it brought: grounded only when every required tool was really called (R-POL-06)."""
    if execution.model is None:
        return demo_ending(execution.run, execution.meter, react.suggestions)
    engine = react.engine if execution.model.capabilities.native_tools else react.fallback_engine
    turn = Turn(
        system=react.system,
        history=react.history,
        user=execution.run.text,
        catalog=react.catalog,
        gateway=execution.gateway,
        model=execution.model,
        meter=execution.meter,
        log=execution.log,
        message_id=execution.run.message_id,
        locale=execution.locale,
        on_repeat=react.on_repeat,
        may_call_in_parallel=execution.policy.plan == "PARALLEL",
    )
    try:
        answer = await engine.run(turn)
    except (ModelError, DeadlineExceededError) as error:
        _log.warning("model_gave_no_answer", run_id=execution.run.id, code=error.code, detail=error.detail)
        if policy.degraded:
            return degraded_ending(execution.run, policy, error, execution.meter)
        return model_failed_ending(execution.run, execution.meter, error, execution.gateway.observations)
    action = execution.gateway.drafted
    if answer.action_id is not None and action is not None:
        return _stopped_at(action, answer, execution)
    note = await react.review(answer.text) if react.review is not None else None
    return _answered(answer, execution, note)


def _stopped_at(action: PendingAction, answer: Answer, execution: Execution) -> Ending:
    return awaiting(execution.run, action, execution.meter, answer.observations)


def _answered(answer: Answer, execution: Execution, note: str | None) -> Ending:
    called = {observation.tool for observation in answer.observations if observation.outcome in ("ok", "repeat")}
    required = set(execution.policy.required_tools)
    grounded = required <= called if required else bool(called)
    done = message(
        execution.run,
        answer.text if note is None else f"{answer.text}\n\n{note}",
        source=answer.source,
        explanation="degraded" if answer.parse_degraded else "none",
        grounded=grounded,
        truncated=answer.truncated,
        observations=answer.observations,
    )
    return succeeded(done, "answered", execution.meter)
