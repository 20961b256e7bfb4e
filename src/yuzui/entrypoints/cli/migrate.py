"""`yuzui migrate`: the schema, up to date."""

from pathlib import Path
from typing import Annotated

import typer

from yuzui.entrypoints.cli.composer import Composer, Given
from yuzui.entrypoints.cli.output import emit_json


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
    """Bring the database schema up to date. Safe to run in several processes at once."""
    composer: Composer = context.obj
    applied = list(composer.migrate(Given(apps=tuple(app) if app else None, data_dir=data_dir)))
    if as_json:
        emit_json({"applied": applied})
        return
    for label in applied:
        typer.echo(f"applied {label}")
    if not applied:
        typer.echo("The schema is up to date.")
