"""`yuzui doctor`: what is configured, what is missing or unreachable, and what still works."""

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from yuzui.entrypoints.cli.composer import Composer, Given
from yuzui.entrypoints.cli.output import NO, emit_json, show


def run(
    context: typer.Context,
    app: Annotated[
        list[str] | None, typer.Option(help="An installed app's name, or module:attribute; may be repeated.")
    ] = None,
    data_dir: Annotated[
        Path | None, typer.Option(help="Where the embedded PostgreSQL lives.", show_default=".yuzui")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Check the configuration. Status 1 when a configured part is broken; a part that is only not set is no fault."""
    composer: Composer = context.obj
    parts = composer.diagnose(Given(apps=tuple(app) if app else None, data_dir=data_dir))
    broken = any(part.state in ("unreachable", "invalid") for part in parts)
    if as_json:
        emit_json({"ok": not broken, "parts": [dataclasses.asdict(part) for part in parts]})
    else:
        from rich.table import Table

        table = Table("Part", "State", "What was found", "What still works", "What to do", box=None, pad_edge=False)
        for part in parts:
            table.add_row(part.name, part.state, part.detail, part.works, part.remedy)
        show(table)
    if broken:
        raise typer.Exit(NO)
