"""Confirmation: a draft stops the run; a person's word carries it out, once (R-POL-03, R-CONF-02, R-CONF-03)."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from yuzui.budget import Deadline
from yuzui.errors import ActionExpiredError, ActionSettledError, ToolError, YuzuiError
from yuzui.execution.drafts import Drafting, intact
from yuzui.execution.endings import awaiting, clarify, message, succeeded, usage_of
from yuzui.execution.scope import Execution
from yuzui.model.arguments import parse_strict
from yuzui.model.messages import SystemMessage, UserMessage
from yuzui.model.port import ModelRequest
from yuzui.policy import Confirm
from yuzui.routing.route import Route
from yuzui.runs.actions import ActionStatus, ActionStore, PendingAction
from yuzui.runs.events import RunFailed
from yuzui.runs.run import Ending
from yuzui.tools.gateway import CallRequest, ContextFactory
from yuzui.tools.observation import Observation

EXTRACT_SECONDS = 20.0
_ASK_AGAIN: Mapping[str, str] = {
    "zh": "请说清楚要改什么：名称和数量。",
    "en": "Please say exactly what to change: the name and the amount.",
}


async def confirmation(policy: Confirm, execution: Execution, drafting: Drafting, text: str) -> Ending:
    """Draft the write and stop. What the message lacks is asked for; nothing is invented."""
    if not execution.policy.proposals:
        return _ask(policy, execution)
    arguments = await _arguments(policy, execution, drafting.context, text)
    if arguments is None:
        return _ask(policy, execution)
    try:
        action = await drafting.propose(policy.tool, arguments)
    except ToolError as error:
        return _ask(policy, execution, error.message)
    return awaiting(execution.run, action, execution.meter)


async def _arguments(policy: Confirm, execution: Execution, context: ContextFactory, text: str) -> BaseModel | None:
    slots = {**execution.route.slots, **execution.route.targets}
    raw = policy.arguments(slots, context(execution.caller, run_id=execution.run.id)) if policy.arguments else slots
    if raw is not None:
        try:
            return policy.tool.arguments.model_validate(raw)
        except ValidationError:
            if execution.model is None:
                return None
    return await _extracted(policy, execution, text)


async def _extracted(policy: Confirm, execution: Execution, text: str) -> BaseModel | None:
    """Arguments proposed by a model, strictly parsed and validated: a person still reads them on the card (decision 2)."""
    model = execution.model
    if model is None:
        return None
    schema = json.dumps(policy.tool.schema, ensure_ascii=False)
    today = execution.run.created_at.astimezone(execution.caller.tz).date().isoformat()
    request = ModelRequest(
        messages=(
            SystemMessage(
                text=f"Extract the arguments of the action {policy.tool.name!r} from the person's message as one JSON object"
                f" that fits this JSON Schema: {schema}\nToday is {today}. Use only what the message states;"
                " when something required is not stated, answer with {}."
            ),
            UserMessage(text=text),
        ),
        purpose="react",
        deadline=Deadline.after(min(EXTRACT_SECONDS, execution.meter.deadline.remaining())),
        json_object=True,
        max_tokens=500,
    )
    try:
        reply = await model.complete(request)
        return policy.tool.arguments.model_validate(parse_strict(reply.text))
    except (YuzuiError, ValidationError, ValueError):
        return None


def _ask(policy: Confirm, execution: Execution, problem: str = "") -> Ending:
    locale = execution.locale
    question = problem or policy.question.get(locale) or _ASK_AGAIN[locale]
    route = Route(
        intent=execution.route.intent,
        confidence=execution.route.confidence,
        source=execution.route.source,
        needs_clarification=True,
        question=question,
    )
    return clarify(execution.run, route, execution.meter)


async def carry_out(action_id: str, execution: Execution, actions: ActionStore, action: PendingAction) -> Ending:
    """Execute an action that is `executing` for this run, through the gateway, and settle it (R-CONF-03)."""
    locale = execution.locale
    by = execution.caller.owner.user
    if not intact(action):
        await actions.settle(action_id, frm="executing", to="failed", by="system", outcome={"code": "digest_mismatch"})
        raise ActionSettledError("the stored action is not what was shown; it was not executed")
    observation = await execution.gateway.call(
        CallRequest(tool=action.tool, arguments=action.arguments, step=f"action:{action.id}")
    )
    status, text = _outcome(action, observation, locale)
    outcome: dict[str, Any] = {"text": text, "value": observation.value, "reused": observation.reused}
    await actions.settle(action_id, frm="executing", to=status, by=by, outcome=outcome)
    answer = message(execution.run, text, source="direct", grounded=status == "executed", observations=(observation,))
    if status == "executed":
        return succeeded(answer, "answered", execution.meter)
    code = "effect_uncertain" if status == "uncertain" else "effect_failed"
    usage = usage_of(execution.meter)
    error = {"code": code, "detail": text, "retryable": False}
    return Ending(
        event=RunFailed(code=code, detail=text, retryable=False),
        status="failed",
        message=answer,
        usage=usage,
        error=error,
    )


def _outcome(action: PendingAction, observation: Observation, locale: str) -> tuple[ActionStatus, str]:
    zh = locale == "zh"
    match observation.outcome:
        case "ok":
            return "executed", (f"已完成：{action.summary}" if zh else f"Done: {action.summary}")
        case "uncertain":
            return "uncertain", (
                f"结果未知，不会自动重试：{action.summary}"
                if zh
                else f"Outcome unknown, it is not repeated: {action.summary}"
            )
        case _:
            reason = observation.text
            return "failed", (
                f"未执行：{action.summary}（{reason}）" if zh else f"Not executed: {action.summary} ({reason})"
            )


def refuse_settled(action: PendingAction) -> None:
    """Raise for an action that can no longer be confirmed: expired, rejected, superseded, cancelled."""
    match action.status:
        case "expired":
            raise ActionExpiredError
        case "rejected" | "superseded" | "cancelled":
            raise ActionSettledError(f"the pending action is {action.status}; nothing was executed")
        case "pending" | "executing" | "executed" | "failed" | "uncertain":
            return
