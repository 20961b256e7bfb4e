"""Direct read: facts without a model (R-POL-02).

The structured result is the main thing; a model's wording is a view of it that may fail.
"""

from typing import Any

from yuzui.budget import Deadline
from yuzui.errors import PostconditionError, YuzuiError
from yuzui.execution.endings import message, succeeded
from yuzui.execution.scope import Execution
from yuzui.model.json_values import is_mapping
from yuzui.model.messages import SystemMessage, UserMessage
from yuzui.model.port import ModelRequest
from yuzui.policy import DirectRead
from yuzui.runs.events import Explanation
from yuzui.runs.run import Ending
from yuzui.tools.gateway import CallRequest
from yuzui.tools.observation import Observation

EXPLAIN_SECONDS = 10.0


class ToolFailedError(YuzuiError):
    """The data could not be read."""

    code = "tool_failed"
    status = 502


async def direct_read(policy: DirectRead, execution: Execution) -> Ending:
    """Read, check the postconditions, answer. Raises `ToolFailedError` or `PostconditionError`; neither is dressed up as an answer."""
    slots = {**execution.route.slots, **execution.route.targets}
    arguments = policy.arguments(slots) if policy.arguments else _known(policy, slots)
    observation = await execution.gateway.call(CallRequest(tool=policy.tool.name, arguments=arguments, step="direct"))
    if observation.explained:  # the tool says what is missing; that is an answer, and it is labelled as no result
        told = message(execution.run, observation.text, source="fallback")
        return succeeded(told, "answered", execution.meter)
    if observation.outcome != "ok":
        raise ToolFailedError(observation.text)
    _check(policy, observation)
    text = policy.render(observation.value, execution.locale) if policy.render else observation.text
    explanation: Explanation = "none"
    if policy.explain and execution.model is not None:
        text, explanation = await _explained(text, observation, execution)
    answer = message(
        execution.run,
        text,
        source="direct",
        explanation=explanation,
        grounded=True,
        observations=(observation,),
    )
    return succeeded(answer, "answered", execution.meter)


def _known(policy: DirectRead, slots: dict[str, str]) -> dict[str, Any]:
    return {name: value for name, value in slots.items() if name in policy.tool.arguments.model_fields}


def _check(policy: DirectRead, observation: Observation) -> None:
    value: Any = observation.value
    missing = [name for name in policy.requires if not is_mapping(value) or value.get(name) is None]
    if missing:
        raise PostconditionError(f"the result of {policy.tool.name} lacks {', '.join(missing)}")


async def _explained(text: str, observation: Observation, execution: Execution) -> tuple[str, Explanation]:
    model = execution.model
    if model is None:
        return text, "degraded"
    language = "Chinese" if execution.locale == "zh" else "English"
    request = ModelRequest(
        messages=(
            SystemMessage(
                text=f"Explain the JSON result in plain {language}, two sentences at most. Use only what it holds."
            ),
            UserMessage(text=observation.text),
        ),
        purpose="explain",
        deadline=Deadline.after(min(EXPLAIN_SECONDS, execution.meter.deadline.remaining())),
        max_tokens=300,
    )
    try:
        reply = await model.complete(request)
    except YuzuiError:
        return text, "degraded"
    if not reply.text.strip():
        return text, "degraded"
    return f"{text}\n\n{reply.text.strip()}", "ok"
