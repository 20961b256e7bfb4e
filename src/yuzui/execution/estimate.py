"""A model's estimate for a tool that has no source for a figure: one metered call, never an authority (R-PROV-01)."""

from collections.abc import Awaitable, Callable
from typing import Final

from yuzui.budget import Deadline
from yuzui.errors import YuzuiError
from yuzui.model.messages import SystemMessage, UserMessage
from yuzui.model.metered import MeteredModel
from yuzui.model.port import ModelRequest

ESTIMATE_SECONDS: Final = 15.0


def estimator(model: MeteredModel, deadline: Deadline) -> Callable[[str], Awaitable[str | None]]:
    """`estimate(question)` answers with JSON text, or None when the model fails or no call is left in the budget."""

    async def estimate(question: str) -> str | None:
        request = ModelRequest(
            messages=(
                SystemMessage(text="You estimate figures. Answer with one JSON object and nothing else."),
                UserMessage(text=question),
            ),
            purpose="react",
            deadline=Deadline.after(min(ESTIMATE_SECONDS, deadline.remaining())),
            json_object=True,
            max_tokens=100,
        )
        try:
            return (await model.complete(request)).text
        except YuzuiError:
            return None

    return estimate
