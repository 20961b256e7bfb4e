"""`yuzui audit show`: the evidence of one answer (R-AUD-02)."""

from typing import Annotated, Any

import typer

from yuzui.entrypoints.cli.output import emit_json, show


def run(
    run_id: Annotated[str, typer.Argument(metavar="RUN", help="The run's id.")],
    user: Annotated[str, typer.Option("--as", help="A dev user: alice, bob, olga, root.")] = "alice",
    token: Annotated[str | None, typer.Option(help="An API key instead of a dev user.")] = None,
    url: Annotated[str, typer.Option(help="The server.")] = "http://127.0.0.1:8000",
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Route, policy, model calls, tool calls and confirmations of a run."""
    from yuzui.entrypoints.cli.client import Client

    with Client(url, token or f"dev-{user}") as client:
        found: dict[str, Any] = client.json("GET", f"/v1/audit/runs/{run_id}")
    if as_json:
        emit_json(found)
        return
    from rich.table import Table

    route: dict[str, Any] = found.get("route") or {}
    policy: dict[str, Any] = found.get("policy") or {}
    typer.echo(f"Run      {found['run_id']}")
    typer.echo(f"Route    {route.get('intent')} by {route.get('source')} {route.get('rule_id') or ''}")
    typer.echo(f"Policy   {policy.get('mode')} {policy.get('policy_hash') or ''}")
    for title, key, columns in (
        ("Model calls", "model_calls", ("n", "purpose", "model", "tokens_in", "tokens_out", "ms", "cost", "outcome")),
        ("Tool calls", "tool_calls", ("tool", "effect", "outcome", "ms", "reused", "arguments")),
        ("Confirmations", "confirmations", ("action_id", "by", "at", "decision")),
    ):
        rows: list[dict[str, Any]] = found.get(key) or []
        if rows:
            table = Table(*columns, title=title, title_justify="left", box=None, pad_edge=False)
            for row in rows:
                table.add_row(*(str(row.get(column, "")) for column in columns))
            show(table)
