"""Answers that code gives when nobody else can: blocked, degraded, demo. Each says what it is (R-DEG-01, R-DEG-02)."""

from collections.abc import Sequence

from yuzui.budget import Meter
from yuzui.errors import YuzuiError
from yuzui.execution.endings import clarify, message, succeeded
from yuzui.guard import Block
from yuzui.policy import BoundedReact
from yuzui.routing.route import Option, Route
from yuzui.runs.actions import PendingAction
from yuzui.runs.run import Ending, RunRecord
from yuzui.tools.observation import Observation


def blocked_ending(run: RunRecord, block: Block, meter: Meter) -> Ending:
    """The block's fixed answer; no model saw the message (R-SAFE-02)."""
    text = block.answer_zh if run.caller.locale == "zh" else block.answer_en
    return succeeded(message(run, text, source="direct"), "refused", meter)


def degraded_ending(run: RunRecord, policy: BoundedReact, cause: YuzuiError, meter: Meter) -> Ending:
    """The intent's declared degraded answer, with the true reason (R-POL-06)."""
    locale = run.caller.locale
    reason = f"（原因：{cause.detail}）" if locale == "zh" else f" (reason: {cause.detail})"
    text = policy.degraded.get(locale, "")
    return succeeded(message(run, f"{text}{reason}", source="fallback"), "answered", meter)


def demo_ending(run: RunRecord, meter: Meter, suggestions: Sequence[str]) -> Ending:
    """The labelled answer of a server without a model (R-DEG-01)."""
    if run.caller.locale == "zh":
        lead = "演示模式：没有配置模型（设置 YUZUI_MODEL 后可回答开放式问题）。"
        lead += "以下功能不需要模型，可以直接使用：" if suggestions else ""
    else:
        lead = "Demo mode: no model is configured (set YUZUI_MODEL to have open questions answered)."
        lead += " These work without one:" if suggestions else ""
    text = "\n".join([lead, *(f"- {suggestion}" for suggestion in suggestions)])
    return succeeded(message(run, text, source="demo"), "answered", meter)


def model_failed_ending(run: RunRecord, meter: Meter, cause: YuzuiError, observations: Sequence[Observation]) -> Ending:
    """What is known when the model failed: the code, and the observations as they are (R-DEG-02).

    The provider's own words are for whoever runs the server; they are in its log, not in an answer.
    """
    zh = run.caller.locale == "zh"
    lead = (
        f"模型没有给出回答（{cause.code}），请稍后再试；原因记录在服务日志里。"
        if zh
        else f"The model gave no answer ({cause.code}). Try again later; the reason is in the server's log."
    )
    facts = [f"- {observation.tool}: {observation.text}" for observation in observations if observation.outcome == "ok"]
    if facts:
        lead += "已查到的数据：" if zh else " What was read:"
    answer = message(run, "\n".join([lead, *facts]), source="fallback", grounded=bool(facts), observations=observations)
    return succeeded(answer, "answered", meter)


def nothing_to_confirm(run: RunRecord, actions: Sequence[PendingAction], meter: Meter) -> Ending:
    """The answer to "确认" when not exactly one action is open: nothing is executed."""
    zh = run.caller.locale == "zh"
    if not actions:
        question = (
            "没有待确认的操作，什么都没有执行。" if zh else "Nothing is waiting for confirmation; nothing was done."
        )
    else:
        question = (
            "有多个待确认的操作，请在卡片上逐个确认：" if zh else "Several actions wait; confirm each on its card:"
        )
    options = tuple(Option(label=action.summary, message=action.summary) for action in actions)
    route = Route(
        intent=None, confidence=1.0, source="rule", needs_clarification=True, question=question, choices=options
    )
    return clarify(run, route, meter)
