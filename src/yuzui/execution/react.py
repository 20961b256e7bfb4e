"""The JSON-action loop: ReAct for models without tool calling, and the plainest engine for all others (R-REACT-02)."""

import json
from dataclasses import replace
from typing import assert_never

from yuzui.errors import DeadlineExceededError, ModelError, ModelStreamCutError
from yuzui.execution.action import Action, Broken, FinalAction, Prose, ToolAction, parse_action
from yuzui.execution.answer_stream import JsonAnswerStream
from yuzui.execution.engine import Answer, Turn
from yuzui.execution.loop import Loop, Proposal
from yuzui.execution.prompt import loop_prompt
from yuzui.execution.repair import repair
from yuzui.model.messages import AssistantMessage, Message, SystemMessage, UserMessage
from yuzui.model.port import ModelReply, ModelRequest
from yuzui.model.validator import prepare


class JsonActionEngine:
    """An `Engine` that asks for one JSON action at a time. Stateless: one object serves every run."""

    async def run(self, turn: Turn) -> Answer:
        """Answer one turn."""
        return await _Run(turn).answer()


class _Run:
    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._loop = Loop(turn)
        self._repaired = False
        plain = replace(turn.model.capabilities, native_tools=False)
        system = SystemMessage(text="\n\n".join(part for part in (turn.system.strip(), _instructions(turn)) if part))
        self._messages: list[Message] = [system, *prepare(turn.history, plain), UserMessage(text=turn.user)]

    async def answer(self) -> Answer:
        try:
            while (answer := await self._step()) is None:
                pass
        except (ModelError, DeadlineExceededError) as error:
            return self._loop.failed(error)
        return answer

    async def _step(self) -> Answer | None:
        """One model step and what follows from it; an answer ends the loop."""
        loop = self._loop
        reply, with_tools = await self._ask()
        action: Action = parse_action(reply.text, self._turn.catalog.names(), cut=reply.finish_reason == "length")
        if isinstance(action, Broken) and not self._repaired:
            self._repaired = True
            action = await self._mended(action)
        if isinstance(action, FinalAction | Prose) and (note := loop.reminder(with_tools=with_tools)):
            self._messages += [AssistantMessage(text=reply.text), UserMessage(text=note)]
            return None
        match action:
            case FinalAction(answer=text, degraded=degraded):
                loop.parse_degraded |= degraded
                return loop.answer(text)
            case Prose(text=text):
                loop.parse_degraded |= bool(self._turn.catalog.names()) and bool(text)
                return loop.answer(text)
            case Broken(text=text):
                loop.parse_degraded = True
                return loop.answer(text)
            case ToolAction():
                if not with_tools:
                    return loop.composed()
                return await self._call(action, reply)
            case _:
                assert_never(action)

    async def _mended(self, broken: Broken) -> Action:
        self._loop.parse_degraded = True
        try:
            return await repair(self._turn, broken)
        except ModelError:
            return broken  # the original text is kept and shown

    async def _ask(self) -> tuple[ModelReply, bool]:
        """One model call and whether it was offered tools; a stream that broke off is asked again while calls are left."""
        meter = self._turn.meter
        while True:
            with_tools = self._loop.offers_tools()
            try:
                return await self._complete(with_tools=with_tools), with_tools
            except ModelStreamCutError:
                self._loop.writer.reset()
                if meter.model_calls >= meter.budget.model_calls:
                    raise

    async def _complete(self, *, with_tools: bool) -> ModelReply:
        turn, writer, stream = self._turn, self._loop.writer, JsonAnswerStream()
        messages = self._messages
        if not with_tools and turn.catalog.names():
            messages = [*messages, UserMessage(text=loop_prompt("last_step"))]
        request = ModelRequest(
            messages=tuple(messages),
            purpose="react",
            deadline=turn.meter.deadline,
            max_tokens=turn.max_output_tokens,
            json_object=True,
        )
        return await turn.model.complete(request, lambda text: writer.push(stream.feed(text)))

    async def _call(self, action: ToolAction, reply: ModelReply) -> Answer | None:
        loop = self._loop
        proposal = self._proposal(action)
        loop.writer.reset()
        loop.parse_degraded |= not action.exact
        (observation,) = await loop.dispatch([proposal])
        if loop.action_id is not None:
            return loop.drafted()
        if loop.aborted:
            return loop.stopped()
        self._messages.append(AssistantMessage(text=_as_asked(action), reasoning=reply.reasoning))
        self._messages.append(UserMessage(text=loop.framed(observation)))
        return None

    def _proposal(self, action: ToolAction) -> Proposal:
        if action.tool in self._turn.catalog.drafts and not action.exact:
            problem = "a change is only drafted from a reply that is exactly one JSON action; send it again"
            return Proposal(tool=action.tool, arguments=None, problem=problem)
        return Proposal(tool=action.tool, arguments=action.arguments, problem=action.problem)


def _instructions(turn: Turn) -> str:
    specs = turn.catalog.specs()
    lines = [
        f"- {spec.name}: {spec.description}\n  arguments: {json.dumps(spec.parameters, ensure_ascii=False)}"
        for spec in specs
    ]
    return loop_prompt("action", tools="\n".join(lines) or "none: answer directly")


def _as_asked(action: ToolAction) -> str:
    """The model's action in the form asked for, so that drift does not teach it more drift."""
    shown = {"action": "tool", "tool": action.tool, "arguments": action.arguments or {}}
    return json.dumps(shown, ensure_ascii=False)
