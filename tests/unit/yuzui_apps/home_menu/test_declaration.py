"""The home menu's declaration holds to the documented limits."""

from yuzui.policy import BoundedReact, Confirm, compile_policy
from yuzui.tools.tool import ReadTool
from yuzui_apps.home_menu import app


def test_R_POL_07_a_suggestion_has_four_model_steps_and_five_reads() -> None:
    policy = app.intents["suggest"].policy
    assert isinstance(policy, BoundedReact)
    compiled = compile_policy("suggest", policy)
    assert compiled.budget.model_calls == 4
    assert len(compiled.tools) == 5
    assert all(isinstance(app.tools[name], ReadTool) for name in compiled.tools)
    assert compiled.required_tools == ("family_profile",)


def test_no_intent_reaches_a_write_without_a_confirmation() -> None:
    for intent in app.intents.values():
        compiled = compile_policy(intent.name, intent.policy)
        assert all(app.tools[name].effect == "read" for name in compiled.tools)
        if compiled.proposals and not isinstance(intent.policy, Confirm):
            assert compiled.mode == "bounded_react"
