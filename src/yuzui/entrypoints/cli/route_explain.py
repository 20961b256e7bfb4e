"""`yuzui route explain`: what each routing layer says of a text (R-ROUTE-11)."""

import dataclasses
from typing import Annotated

import typer

from yuzui.entrypoints.cli.composer import Composer
from yuzui.entrypoints.cli.output import USAGE, emit_json, fail, show


def run(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="The message.")],
    app: Annotated[str, typer.Option(help="An installed app's name, or module:attribute.")] = "home-menu",
    locale: Annotated[str, typer.Option(help="zh or en.")] = "zh",
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Show every layer's verdict on a message; the last line decides. No model is asked."""
    if locale not in ("zh", "en"):
        fail("--locale is zh or en", status=USAGE)
    composer: Composer = context.obj
    verdicts = composer.explain(composer.app(app), text, "zh" if locale == "zh" else "en")
    if as_json:
        emit_json([dataclasses.asdict(verdict) for verdict in verdicts])
        return
    from rich.table import Table

    table = Table("Layer", "Intent", "Why", box=None, pad_edge=False)
    for verdict in verdicts:
        table.add_row(verdict.layer, verdict.intent or "-", verdict.detail)
    show(table)
