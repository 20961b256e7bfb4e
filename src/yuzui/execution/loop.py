"""What both engines share: which step may use tools, how proposed calls are carried out, how the loop ends (R-FENCE-04, 05, 08)."""

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace

from yuzui.budget import BudgetName
from yuzui.errors import DeadlineExceededError, ModelError
from yuzui.execution.action import resolve_name
from yuzui.execution.answer import REPEATED, AnswerWriter, compose
from yuzui.execution.engine import Answer, Turn
from yuzui.execution.frame import frame
from yuzui.execution.markup import without_images
from yuzui.execution.prompt import loop_prompt
from yuzui.model.arguments import ArgumentsError, parse_lenient, parse_strict
from yuzui.model.messages import ToolCall
from yuzui.tools.fence import canonical_json
from yuzui.tools.gateway import CallRequest
from yuzui.tools.observation import Observation
from yuzui.tools.redact import redact_text

_CUT = "the output stopped at the token limit, so they are not complete; send a shorter call"


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposal:
    """A call that an engine proposes to the gateway. `arguments` is None when they were no object; `problem` says why."""

    tool: str
    arguments: dict[str, object] | None
    problem: str = ""


class Loop:
    """The state of one bounded loop."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        self.writer = AnswerWriter(turn.log, turn.message_id)
        self.observations: list[Observation] = []
        self.parse_degraded = False
        self.action_id: str | None = None
        self._nonce = secrets.token_hex(4)
        self._step = 0
        self._repeated = False
        self._reminded = False
        self._limit: BudgetName | None = None
        self._calls: set[str] = set()

    @property
    def ended(self) -> BudgetName | None:
        """The limit that took the tools from the step asked for last, if one was reached after work had begun."""
        return "repeat" if self._repeated else self._limit

    def offers_tools(self) -> bool:
        """Whether the next model step may propose calls; the last permitted one never may (R-FENCE-04).

        Asked before the step is reserved: afterwards nobody can tell a step that a limit cut from one that ended freely.
        """
        meter = self.turn.meter
        if not self.turn.catalog.names():
            return False
        limit: BudgetName | None = (
            "tool_calls" if meter.tools_left <= 0 else "model_calls" if meter.last_model_call else None
        )
        self._limit = limit if self._step else None
        return limit is None and not self._repeated

    @property
    def aborted(self) -> bool:
        """True when a repeat stops the run at once (R-FENCE-03)."""
        return self._repeated and self.turn.on_repeat == "abort"

    def reminder(self, *, with_tools: bool) -> str | None:
        """A note to a model that answers before it has used a required tool, once per run; the text so far is void (R-POL-06)."""
        called = {item.tool for item in self.observations if item.outcome in ("ok", "repeat")}
        missing = [name for name in self.turn.catalog.required if name not in called]
        if not with_tools or not missing or self._reminded:
            return None
        self._reminded = True
        self.writer.reset()
        return loop_prompt("required", tools=", ".join(missing))

    async def dispatch(self, proposals: Sequence[Proposal]) -> list[Observation]:
        """Carry out one step's calls through the gateway, each with an observation, in order; reads together when the plan allows it.

        A draft that created a pending action ends the loop: calls after it are not made.
        """
        self._step += 1
        seen_before = frozenset(self._calls)
        requests = [
            CallRequest(tool=item.tool, arguments=item.arguments, step=f"{self._step}.{n}", problem=item.problem)
            for n, item in enumerate(proposals)
        ]
        reads = self.turn.catalog.reads
        if self.turn.may_call_in_parallel and len(requests) > 1 and all(item.tool in reads for item in requests):
            made = await self._together(requests)
        else:
            made = [await self._one(request) for request in requests]
        for request, observation in zip(requests, made, strict=True):
            key = f"{request.tool}:{canonical_json(dict(request.arguments or {}))}"
            self._calls.add(key)
            if observation.outcome == "repeat" and key in seen_before:
                self._repeated = True
        self.observations.extend(made)
        return made

    async def _together(self, requests: Sequence[CallRequest]) -> list[Observation]:
        tasks = [asyncio.ensure_future(self._one(request)) for request in requests]
        try:
            return list(await asyncio.gather(*tasks))
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _one(self, request: CallRequest) -> Observation:
        if self.action_id is not None:
            text = "Not carried out: a change is waiting for the person's confirmation."
            return Observation(call_id=request.call_id, tool=request.tool, outcome="denied", text=text, counted=False)
        observation = await self.turn.gateway.call(request)
        if observation.action_id is not None:
            self.action_id = observation.action_id
        return observation

    def framed(self, observation: Observation) -> str:
        """The observation as quoted data for the model."""
        return frame(observation, self._nonce)

    def proposal(self, call: ToolCall) -> Proposal:
        """A native call as a proposal: drafts need strict JSON, reads allow one repair, what was cut off is never repaired."""
        catalog = self.turn.catalog
        name = resolve_name(call.name, catalog.names())
        if call.truncated:
            return Proposal(tool=name, arguments=None, problem=_CUT)
        try:
            arguments = (parse_lenient if name in catalog.reads else parse_strict)(call.arguments)
        except ArgumentsError as error:
            return Proposal(tool=name, arguments=None, problem=error.detail)
        return Proposal(tool=name, arguments=arguments)

    def answer(self, text: str) -> Answer:
        """The end with a model's text; an empty one is replaced by what was observed."""
        if not text.strip():
            return self.composed()
        text = without_images(redact_text(text)).strip()
        self.writer.settle(text)
        return Answer(
            text=text,
            observations=tuple(self.observations),
            truncated=self.ended,
            parse_degraded=self.parse_degraded,
        )

    def composed(self, truncated: BudgetName | None = None) -> Answer:
        """The end with a text made by code."""
        text = without_images(compose(self.observations, self.turn.catalog, self.turn.locale))
        self.writer.settle(text)
        return Answer(
            text=text,
            observations=tuple(self.observations),
            truncated=truncated or self.ended,
            source="fallback",
            parse_degraded=self.parse_degraded,
        )

    def stopped(self) -> Answer:
        """The end by a repeat under `abort`."""
        text = REPEATED[self.turn.locale]
        self.writer.settle(text)
        answer = Answer(text=text, observations=tuple(self.observations), truncated="repeat", source="fallback")
        return replace(answer, parse_degraded=self.parse_degraded)

    def drafted(self) -> Answer:
        """The end at a pending action: nothing is said here, the confirmation speaks."""
        self.writer.reset()
        text = next((item.text for item in self.observations if item.action_id == self.action_id), "")
        return Answer(
            text=text,
            observations=tuple(self.observations),
            action_id=self.action_id,
            parse_degraded=self.parse_degraded,
        )

    def failed(self, error: ModelError | DeadlineExceededError) -> Answer:
        """The end by a failing model: partial text at the deadline, else what was observed; raises `error` when there is neither."""
        late = isinstance(error, DeadlineExceededError)
        shown = self.writer.shown.strip()
        if late and shown:
            return Answer(
                text=shown,
                observations=tuple(self.observations),
                truncated="deadline",
                parse_degraded=self.parse_degraded,
            )
        if not self.observations:
            self.writer.reset()
            raise error
        return self.composed("deadline" if late else None)
