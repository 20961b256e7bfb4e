"""An app whose reads take as long as the message says, for tests of waiting, leaving and shutting down."""

import asyncio
from pathlib import Path
from typing import Any

from yuzui import App, BoundedReact, Budget, Ctx, DirectRead, Rule


def _app(name: str, on_lost_client: Any) -> App[Any]:
    declared: App[Any] = App(
        name, deps=lambda database: database, assets=Path(__file__).parent / "assets", on_lost_client=on_lost_client
    )

    @declared.read(timeout_s=60)
    async def wait(ctx: Ctx[Any], seconds: float) -> dict[str, float]:
        """Waits."""
        await asyncio.sleep(seconds)
        return {"waited": seconds}

    declared.intent(
        "wait",
        "Asks to wait.",
        rules=[Rule(r"wait (?P<seconds>\d+(?:\.\d+)?)", yes=["wait 3"])],
        policy=DirectRead(wait, arguments=lambda slots: {"seconds": float(slots["seconds"])}, seconds=60),
    )
    declared.intent("chat", "Anything else.", policy=BoundedReact([], budget=Budget(model_calls=1)))
    return declared


patient = _app("patient", "continue")
hasty = _app("hasty", "cancel")
