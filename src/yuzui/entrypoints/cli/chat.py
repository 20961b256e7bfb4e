"""`yuzui chat`: a terminal client of a running server."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from yuzui.entrypoints.cli.client import Client


def run(
    message: Annotated[str | None, typer.Argument(help="One message; without it a conversation begins.")] = None,
    app: Annotated[str, typer.Option(help="The app to talk to.")] = "home-menu",
    user: Annotated[str, typer.Option("--as", help="A dev user: alice, bob, olga, root.")] = "alice",
    token: Annotated[str | None, typer.Option(help="An API key instead of a dev user.")] = None,
    url: Annotated[str, typer.Option(help="The server.")] = "http://127.0.0.1:8000",
    language: Annotated[str, typer.Option(help="zh or en; by default the server's.")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Confirm what is asked without a question.")] = False,
) -> None:
    """Talk to a running server: steps are shown as they happen, a change asks y/n before anything is done."""
    from yuzui.entrypoints.cli.client import Client

    with Client(url, token or f"dev-{user}", language) as client:
        session = client.json("POST", "/v1/sessions", {"app": app})["id"]
        if message is not None:
            _turn(client, session, message, yes=yes)
            return
        typer.secho(
            "Type a message; an empty line or Ctrl-D ends. / 输入消息，空行或 Ctrl-D 结束。", dim=True, err=True
        )
        while line := _ask_line():
            _turn(client, session, line, yes=yes)


def _ask_line() -> str:
    try:
        return input("> ").strip()
    except EOFError:
        return ""


def _turn(client: "Client", session: str, message: str, *, yes: bool) -> None:
    failed = _show(client, "POST", f"/v1/sessions/{session}/runs", {"message": message}, yes=yes)
    if failed:
        raise typer.Exit(1)


def _show(client: "Client", method: str, path: str, body: Any, *, yes: bool) -> bool:
    """Print a run as it happens; True when it failed or was cancelled."""
    action: dict[str, Any] | None = None
    last = ""
    for event in client.events(method, path, body):
        last = event["type"]
        if last == "confirmation.required":
            action = event["data"]
        _print(last, event["data"], event["run_id"])
    if action is not None and action["approval"] == "self":
        return _decide(client, action, yes=yes)
    return last != "run.completed"


def _print(kind: str, data: dict[str, Any], run_id: str) -> None:
    match kind:
        case "tool.started":
            typer.secho(f"  · {data['tool']} …", dim=True, err=True)
        case "tool.finished" if data["outcome"] not in ("ok", "repeat"):
            typer.secho(f"  · {data['tool']}: {data['outcome']}", dim=True, err=True)
        case "run.restarted":
            typer.secho("  · restarted", dim=True, err=True)
        case "message.completed":
            typer.echo(data["text"])
            typer.secho(f"  ({data['source']} · {run_id})", dim=True, err=True)
        case "clarification.required":
            for choice in data["choices"]:
                typer.secho(f"  ? {choice['label']}: {choice['message']}", err=True)
        case "run.failed":
            typer.secho(f"  failed: {data['detail']} ({data['code']})", fg=typer.colors.RED, err=True)
        case "run.cancelled":
            typer.secho("  cancelled", err=True)
        case _:
            return


def _decide(client: "Client", action: dict[str, Any], *, yes: bool) -> bool:
    """Ask for a person's word; without a terminal and without --yes nothing is confirmed."""
    if not yes and not sys.stdin.isatty():
        typer.secho("  Not confirmed: there is no terminal to ask; use --yes.", err=True)
        return False
    path = f"/v1/pending-actions/{action['action_id']}"
    if not yes and not typer.confirm(f"  {action['summary']}", default=False, err=True):
        client.json("POST", f"{path}/reject")
        typer.secho("  Rejected; nothing was changed.", err=True)
        return False
    settled = client.json("POST", f"{path}/confirm")
    if settled["result_run_id"]:
        return _show(client, "GET", f"/v1/runs/{settled['result_run_id']}/events", None, yes=yes)
    return bool(settled["status"] != "executed")
