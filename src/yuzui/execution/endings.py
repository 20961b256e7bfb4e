"""How a run ends: the answer, the terminal event and the usage, made in one place."""

from collections.abc import Iterable, Sequence
from typing import Any

from yuzui.budget import Meter
from yuzui.execution.markup import to_html, without_images
from yuzui.provenance import ProvenanceNote
from yuzui.routing.route import Route
from yuzui.runs.actions import PendingAction
from yuzui.runs.events import (
    AnswerSource,
    Choice,
    ClarificationRequired,
    ConfirmationRequired,
    Explanation,
    MessageCompleted,
    Outcome,
    RunCompleted,
)
from yuzui.runs.run import Ending, RunRecord
from yuzui.tools.observation import Observation
from yuzui.tools.redact import redact_text
from yuzui.tools.tool import Card


def usage_of(meter: Meter) -> dict[str, Any]:
    """The public `usage` object; `seconds` is the wall time since the deadline was set."""
    seconds = meter.budget.seconds - meter.deadline.remaining()
    return {
        "model_calls": meter.model_calls,
        "tool_calls": meter.tool_calls,
        "tokens_in": meter.tokens_in,
        "tokens_out": meter.tokens_out,
        "cost": round(meter.cost, 6),
        "seconds": round(seconds, 3),
        "context": dict(meter.context),
    }


def card_json(card: Card) -> dict[str, Any]:
    """A card in its public form."""
    return {
        "kind": card.kind,
        "title": card.title,
        "fields": [{"label": label, "value": value} for label, value in card.fields],
        "items": list(card.items),
        "actions": [{"label": label, "message": message} for label, message in card.actions],
    }


def message(
    run: RunRecord,
    text: str,
    *,
    source: AnswerSource,
    explanation: Explanation = "none",
    grounded: bool = False,
    truncated: str | None = None,
    observations: Sequence[Observation] = (),
) -> MessageCompleted:
    """The answer of a run, with the cards and provenance its observations earned (R-PROV-01)."""
    shown = without_images(redact_text(text))
    return MessageCompleted(
        message_id=run.message_id,
        text=shown,
        html=to_html(shown),
        cards=tuple(card_json(card) for observation in observations for card in observation.cards),
        citations=(),
        source=source,
        explanation=explanation,
        grounded=grounded,
        truncated=truncated,
        provenance=_notes(note for observation in observations for note in observation.provenance),
    )


def _notes(notes: Iterable[ProvenanceNote]) -> tuple[ProvenanceNote, ...]:
    return tuple(dict.fromkeys(notes))


def succeeded(answer: MessageCompleted, outcome: Outcome, meter: Meter) -> Ending:
    """A run that ended with an answer."""
    usage = usage_of(meter)
    return Ending(
        event=RunCompleted(outcome=outcome, usage=usage),
        status="succeeded",
        message=answer,
        outcome=outcome,
        usage=usage,
    )


def clarify(run: RunRecord, route: Route, meter: Meter) -> Ending:
    """A question with choices instead of a guess (R-ROUTE-06)."""
    choices = tuple(Choice(label=option.label, message=option.message) for option in route.choices)
    lines = [route.question, *(f"- {choice.label}" for choice in choices)]
    usage = usage_of(meter)
    return Ending(
        event=RunCompleted(outcome="clarification", usage=usage),
        status="succeeded",
        events=(ClarificationRequired(question=route.question, choices=choices),),
        message=message(run, "\n".join(lines), source="direct"),
        outcome="clarification",
        usage=usage,
    )


def awaiting(run: RunRecord, action: PendingAction, meter: Meter, observations: Sequence[Observation] = ()) -> Ending:
    """A run that stopped at a pending action; the words are made by code and say that nothing was done (R-POL-03)."""
    zh = run.caller.locale == "zh"
    who = "需要另一位有审批权限的人批准。" if zh else "Another person with the approver role has to grant it."
    lead = "待确认，尚未执行：" if zh else "Waiting for your confirmation, nothing has been changed: "
    text = f"{lead}{action.summary}" + (f"\n{who}" if action.approval == "approver" else "")
    usage = usage_of(meter)
    event = ConfirmationRequired(
        action_id=action.id,
        tool=action.tool,
        summary=action.summary,
        arguments=action.arguments,
        expires_at=action.expires_at.isoformat().replace("+00:00", "Z"),
        approval=action.approval,
    )
    return Ending(
        event=RunCompleted(outcome="confirmation_required", usage=usage),
        status="succeeded",
        events=(event,),
        message=message(run, text, source="direct", observations=observations),
        outcome="confirmation_required",
        usage=usage,
        pending_action_id=action.id,
    )
