"""`yuzui worker`: a worker alone."""

from pathlib import Path
from typing import Annotated

import typer

from yuzui.entrypoints.cli.composer import Composer, Given


def run(
    context: typer.Context,
    concurrency: Annotated[int | None, typer.Option(min=1, help="Runs at a time.", show_default="8")] = None,
    app: Annotated[
        list[str] | None, typer.Option(help="An installed app's name, or module:attribute; may be repeated.")
    ] = None,
    data_dir: Annotated[
        Path | None, typer.Option(help="Where a running server keeps its embedded PostgreSQL.", show_default=".yuzui")
    ] = None,
) -> None:
    """Carry out runs of a database that other processes share."""
    composer: Composer = context.obj
    given = Given(apps=tuple(app) if app else None, concurrency=concurrency, data_dir=data_dir)
    composer.work(given, ready=typer.echo)
