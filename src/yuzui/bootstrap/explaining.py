"""`yuzui route explain`: each layer's verdict as lines for people."""

from typing import Any

from yuzui.app import App
from yuzui.budget import Deadline
from yuzui.entrypoints.cli.composer import LayerVerdict
from yuzui.guard.screening import screen
from yuzui.owner import Locale
from yuzui.routing.explain import explain
from yuzui.routing.route import RouterInput
from yuzui.settings import Settings


async def explain_text(app: App[Any], text: str, locale: Locale, settings: Settings) -> list[LayerVerdict]:
    """Screen and route a text without a model. Raises `EmptyMessageError` or `MessageTooLongError`."""
    screened = screen(text, app.blocks, max_chars=settings.max_message_chars)
    request = RouterInput(
        matching=screened.matching, original=screened.stored, flags=screened.flags, blocked=screened.block
    )
    told = await explain(app.router(), request, locale, None, Deadline.after(5.0))
    route = told.route
    verdicts = [
        LayerVerdict(
            layer="guard", intent=None, detail=told.blocked_reason or ", ".join(told.flags) or "nothing to object"
        ),
        *(
            LayerVerdict(
                layer=f"rule {rule.rule_id}",
                intent=rule.intent if rule.excluded_by is None else None,
                detail=f"matched {rule.matched!r}" + (f", kept out by: {rule.excluded_by}" if rule.excluded_by else ""),
            )
            for rule in told.rules
        ),
        LayerVerdict(layer="classifier", intent=None, detail=told.classifier),
    ]
    asks = f", asks: {route.question}" if route.needs_clarification else ""
    targets = "".join(f", {kind}={value}" for kind, value in route.targets.items())
    verdicts.append(
        LayerVerdict(
            layer="decision",
            intent=route.intent,
            detail=f"{route.source} {route.rule_id or ''}".strip()
            + f", confidence {route.confidence:.2f}{targets}{asks}",
        )
    )
    return verdicts
