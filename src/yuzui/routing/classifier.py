"""The classifier: a model proposes an intent in fixed fields, code validates every one of them (R-ROUTE-05…07)."""

import json
import math
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, get_args

from yuzui.budget import Deadline
from yuzui.errors import InvalidInputError, YuzuiError
from yuzui.model.arguments import ArgumentsError, parse_lenient
from yuzui.model.messages import AssistantMessage, Message, SystemMessage, UserMessage
from yuzui.model.port import Model, ModelReply, ModelRequest
from yuzui.model.splitter import split_reasoning
from yuzui.routing.ids import Found, IdBook
from yuzui.routing.intents import RoutableIntent
from yuzui.routing.route import PlanKind, RouterInput

CLASSIFY_SECONDS = 8.0
CLASSIFY_TOKENS = 300
_EXAMPLES_PER_INTENT = 4
_FENCED = re.compile(r"\s*```[a-z]*\s*\n(.*?)\n?\s*```\s*", re.DOTALL | re.IGNORECASE)
_PLANS: tuple[PlanKind, ...] = get_args(PlanKind)


class BadProposalError(InvalidInputError):
    """The classifier's answer does not fit the fixed fields."""

    code = "bad_classification"


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposal:
    """What a classifier proposed, every field validated. `targets` holds only ids that stand in the message."""

    intent: str
    confidence: float
    targets: Mapping[str, str]
    needs_clarification: bool
    plan: PlanKind


@dataclass(frozen=True, kw_only=True, slots=True)
class NoProposal:
    """The classifier gave nothing usable; `reason` is a stable code."""

    reason: str


class Classifier:
    """Asks a model once, and once more when the answer does not fit; both within `seconds` and the run's deadline."""

    def __init__(
        self,
        app: str,
        intents: Sequence[RoutableIntent],
        ids: IdBook,
        fallback: str,
        *,
        seconds: float = CLASSIFY_SECONDS,
    ) -> None:
        self._app = app
        self._intents = {intent.name: intent for intent in intents}
        self._ids = ids
        self._fallback = fallback
        self._seconds = seconds
        self._fields = {kind: target_field(kind) for kind in ids.kinds}

    async def propose(
        self, request: RouterInput, found: Found, model: Model, deadline: Deadline
    ) -> Proposal | NoProposal:
        """A validated proposal, or why there is none. Raises nothing but a cancellation."""
        within = Deadline.after(min(self._seconds, deadline.remaining()), deadline.clock)
        messages = self._messages(request)
        try:
            async with within.scope():
                reply = await model.complete(_asking(messages, within))
                try:
                    return self._validated(reply, found)
                except (BadProposalError, ArgumentsError) as problem:
                    if reply.finish_reason == "content_filter":
                        return NoProposal(reason="content_filter")
                    again = (*messages, *_correction(reply, problem))
                    return self._validated(await model.complete(_asking(again, within)), found)
        except (BadProposalError, ArgumentsError):
            return NoProposal(reason=BadProposalError.code)
        except TimeoutError:
            return NoProposal(reason="deadline_exceeded")
        except YuzuiError as error:
            return NoProposal(reason=error.code)

    def prompt(self, nonce: str) -> str:
        """The system prompt, made of the intents' own names, descriptions and examples."""
        names = ", ".join(json.dumps(name) for name in self._intents)
        targets = "".join(
            f'- "{name}": the {kind} id exactly as it stands in the message, or null\n'
            for kind, name in self._fields.items()
        )
        return _template().format(
            app=self._app,
            nonce=nonce,
            intents="\n".join(map(_described, self._intents.values())),
            names=names,
            targets=targets,
            fallback=self._fallback,
        )

    def _messages(self, request: RouterInput) -> tuple[Message, ...]:
        nonce = secrets.token_hex(4)
        text = f"<message-{nonce}>\n{request.original}\n</message-{nonce}>"
        return (SystemMessage(text=self.prompt(nonce)), UserMessage(text=text))

    def _validated(self, reply: ModelReply, found: Found) -> Proposal:
        if reply.finish_reason == "length":
            raise BadProposalError("the answer was cut off")
        fields = _object(reply.text)
        allowed = {"intent", "confidence", "needsClarification", "plan", *self._fields.values()}
        if unknown := sorted(fields.keys() - allowed):
            raise BadProposalError(f"unknown fields: {', '.join(unknown)[:100]}")
        return Proposal(
            intent=self._intent(fields.get("intent")),
            confidence=_confidence(fields.get("confidence")),
            targets=self._targets(fields, found),
            needs_clarification=_flag(fields.get("needsClarification", False)),
            plan=_plan(fields.get("plan", "DIRECT")),
        )

    def _intent(self, value: Any) -> str:
        if not isinstance(value, str) or value not in self._intents:
            raise BadProposalError(f'"intent" must be one of {", ".join(self._intents)}')
        return value

    def _targets(self, fields: Mapping[str, Any], found: Found) -> dict[str, str]:
        targets: dict[str, str] = {}
        for kind, name in self._fields.items():
            value = fields.get(name)
            if value is None or value == "":
                continue
            canonical = value.lower() if isinstance(value, str) else ""
            if not self._ids.valid(kind, canonical) or canonical not in found.ids.get(kind, ()):
                raise BadProposalError(f'"{name}" must be an id that stands in the message, or null')
            targets[kind] = canonical
        return targets


def target_field(kind: str) -> str:
    """The JSON field for a target of that kind: `incident` → `incidentId`, `diagnostic_task` → `diagnosticTaskId`."""
    head, *rest = [part for part in kind.split("_") if part] or [kind]
    camel = head + "".join(part.title() for part in rest)
    return camel if camel.endswith("Id") else f"{camel}Id"


def _asking(messages: tuple[Message, ...], deadline: Deadline) -> ModelRequest:
    return ModelRequest(
        messages=messages,
        purpose="classify",
        deadline=deadline,
        json_object=True,
        max_tokens=CLASSIFY_TOKENS,
        temperature=0.0,
    )


def _correction(reply: ModelReply, problem: YuzuiError) -> tuple[Message, ...]:
    shown = split_reasoning(reply.text)[0] or "(empty)"
    note = f"That does not fit: {problem.detail}. Answer again with the one JSON object, exactly the fixed fields."
    return (AssistantMessage(text=shown), UserMessage(text=note))


def _object(text: str) -> dict[str, Any]:
    public = split_reasoning(text)[0]
    if fenced := _FENCED.fullmatch(public):
        public = fenced[1]
    if not public.strip():
        raise BadProposalError("the answer is empty")
    return parse_lenient(public)


def _confidence(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or not 0 <= value <= 1:
        raise BadProposalError('"confidence" must be a number from 0 to 1')
    return float(value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise BadProposalError('"needsClarification" must be true or false')
    return value


def _plan(value: Any) -> PlanKind:
    for plan in _PLANS:
        if value == plan:
            return plan
    raise BadProposalError('"plan" must be DIRECT, SEQUENTIAL or PARALLEL')


def _described(intent: RoutableIntent) -> str:
    examples = " | ".join(dict.fromkeys(intent.sentences[:_EXAMPLES_PER_INTENT]))
    needs = f" Needs: {', '.join(intent.needs)} id." if intent.needs else ""
    return f'- "{intent.name}": {intent.description}{needs}' + (f" Examples: {examples}" if examples else "")


@cache
def _template() -> str:
    return files("yuzui.routing").joinpath("prompts", "classify.md").read_text(encoding="utf-8")
