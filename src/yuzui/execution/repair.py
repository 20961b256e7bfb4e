"""The one repair of a broken action: a model rewrites it, at most once in a run, within its budget (R-REACT-02)."""

from yuzui.execution.action import Action, Broken, FinalAction, ToolAction, parse_action
from yuzui.execution.engine import Turn
from yuzui.execution.prompt import loop_prompt
from yuzui.model.messages import SystemMessage, UserMessage
from yuzui.model.port import ModelRequest

_MAX_SHOWN = 8_000


async def repair(turn: Turn, broken: Broken) -> Action:
    """The action the text was meant to be, or `broken` as it is: cut-off text and the last permitted step are not repaired.

    A repaired action is never `exact`, so that no write is drafted from it. Raises what the model raises.
    """
    if broken.cut or turn.meter.last_model_call or len(broken.text) > _MAX_SHOWN:
        return broken
    names = turn.catalog.names()
    prompt = loop_prompt("repair", tools=", ".join(names) or "none", problem=broken.problem)
    reply = await turn.model.complete(
        ModelRequest(
            messages=(SystemMessage(text=prompt), UserMessage(text=broken.text)),
            purpose="repair",
            deadline=turn.meter.deadline,
            max_tokens=turn.max_output_tokens,
            json_object=True,
        )
    )
    match parse_action(reply.text, names, cut=reply.finish_reason == "length"):
        case ToolAction(tool=tool, arguments=dict() as arguments) if tool in names:
            return ToolAction(tool=tool, arguments=arguments, exact=False)
        case FinalAction(answer=answer) if answer.strip():
            return FinalAction(answer=answer, degraded=True)
        case _:
            return broken
