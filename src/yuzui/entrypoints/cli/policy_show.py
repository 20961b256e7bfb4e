"""`yuzui policy show`: the compiled table of everything an app may ever do (R-POL-08)."""

from typing import Annotated, Any

import typer

from yuzui.entrypoints.cli.composer import Composer
from yuzui.entrypoints.cli.output import emit_json, show
from yuzui.policy import CompiledPolicy, compile_policy


def run(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="An installed app's name, or module:attribute.")],
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Print every intent with its mode, tools, proposals, budgets and postconditions."""
    composer: Composer = context.obj
    app = composer.app(name)
    policies = [compile_policy(intent.name, intent.policy) for intent in app.intents.values()]
    if as_json:
        emit_json([{**policy.public(), "policy_hash": policy.policy_hash} for policy in policies])
        return
    from rich.table import Table

    columns = ("Intent", "Mode", "Tools", "May propose", "Calls", "Seconds", "Postconditions", "Hash")
    table = Table(*columns, box=None, pad_edge=False)
    for policy in policies:
        table.add_row(*_row(policy))
    show(table)
    if any(policy.required_tools for policy in policies):
        typer.echo("* must be called, or the answer is marked as ungrounded")


def _row(policy: CompiledPolicy) -> tuple[Any, ...]:
    required = set(policy.required_tools)
    tools = ", ".join(f"{tool}*" if tool in required else tool for tool in policy.tools) or "-"
    budget = policy.budget
    calls = f"{budget.model_calls} model, {budget.tool_calls} tool, {budget.rewrites} rewrite"
    return (
        policy.intent,
        policy.mode,
        tools,
        ", ".join(policy.proposals) or "-",
        calls if policy.mode == "bounded_react" else "1 tool",
        f"{budget.seconds:g}",
        ", ".join(policy.postconditions) or "-",
        policy.policy_hash,
    )
