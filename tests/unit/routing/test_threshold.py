"""The confidence below which a classification becomes a question: an operator's setting, or an intent's own number."""

import json
from pathlib import Path

import pytest
from tests.unit.routing.sample import said

from yuzui import App, BoundedReact, Database
from yuzui.budget import Deadline
from yuzui.testing.models import ScriptedModel


def shop() -> App[Database]:
    """One intent that sets no threshold, one that sets its own."""
    app: App[Database] = App("shop", deps=lambda db: db, assets=Path(__file__).parent)
    app.intent("chat", "Anything else.", policy=BoundedReact())
    app.intent("ideas", "Wants ideas.", policy=BoundedReact())
    app.intent("gifts", "Wants a gift.", policy=BoundedReact(), threshold=0.4)
    return app


@pytest.mark.parametrize(
    ("intent", "threshold", "asks"), [("ideas", 0.6, True), ("ideas", 0.45, False), ("gifts", 0.6, False)]
)
async def test_R_ROUTE_06_the_setting_is_the_threshold_of_intents_that_set_none(
    intent: str, threshold: float, asks: bool
) -> None:
    verdict = {"intent": intent, "confidence": 0.5, "needsClarification": False, "plan": "DIRECT"}
    model = ScriptedModel(script=[json.dumps(verdict)])
    route = await shop().router(threshold=threshold).decide(said("来点什么吧"), "zh", model, Deadline.after(30))
    assert route.needs_clarification is asks
