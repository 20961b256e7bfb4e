"""`yuzui serve`: API, worker and web page in one process."""

from pathlib import Path
from typing import Annotated

import typer

from yuzui.entrypoints.cli.composer import Composer, Given, Serving


def run(
    context: typer.Context,
    app: Annotated[
        list[str] | None, typer.Option(help="An installed app's name, or module:attribute; may be repeated.")
    ] = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on.", show_default="127.0.0.1")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, show_default="8000", help="0 takes a free one.")] = None,
    data_dir: Annotated[
        Path | None, typer.Option(help="Where the embedded PostgreSQL lives.", show_default=".yuzui")
    ] = None,
    worker: Annotated[bool, typer.Option("--worker/--no-worker", help="Carry runs out in this process.")] = True,
) -> None:
    """API, worker and web page in one process.

    With no database URL it starts its own embedded PostgreSQL under the data directory, migrates it and seeds demo data.
    """
    composer: Composer = context.obj
    given = Given(apps=tuple(app) if app else None, host=host, port=port, data_dir=data_dir)
    composer.serve(given, worker=worker, ready=_greet)


def _greet(serving: Serving) -> None:
    lines = ["", f"  Yuzui is ready:  {serving.url}/", f"  API documents:   {serving.url}/docs", ""]
    lines.append(f"  Apps:            {', '.join(app.name for app in serving.apps)}")
    lines.append(
        f"  Database:        {'embedded PostgreSQL' if serving.embedded else 'PostgreSQL by YUZUI_DATABASE_URL'}"
    )
    if serving.demo:
        lines.append("  Model:           none, so answers are labelled demo answers (set YUZUI_MODEL)")
    elif serving.model:
        lines.append(f"  Model:           {serving.model} (not asked yet; check it with: yuzui doctor)")
    if not serving.worker:
        lines.append("  Worker:          not in this process; start one with: yuzui worker")
    if serving.dev_tokens:
        lines.append("  Dev tokens:      dev-alice, dev-bob (users), dev-olga (approver), dev-root (admin)")
    for app in serving.apps:
        for heading, locale in (("试试", "zh"), ("Try", "en")):
            examples = list(app.suggestions.get("zh" if locale == "zh" else "en", ()))[:3]
            if examples:
                lines.append(f"  {heading + ':':<17}" + " · ".join(examples))
    lines.extend(("", "  Ctrl-C stops it.", ""))
    typer.echo("\n".join(lines))
