"""How commands speak: results to standard output, everything else to standard error, no traceback for a known fault."""

import json
import sys
from typing import TYPE_CHECKING, Any, NoReturn

import typer

if TYPE_CHECKING:
    from rich.table import Table

USAGE = 2
NO = 1


def fail(message: str, *, hint: str = "", status: int = NO) -> NoReturn:
    """Say what went wrong and what to do next, and leave."""
    typer.secho(f"yuzui: {message}", fg=typer.colors.RED, err=True)
    if hint:
        typer.secho(f"  {hint}", err=True)
    raise typer.Exit(status)


def emit_json(value: Any) -> None:
    """Machine-readable output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def show(table: "Table") -> None:
    """A table, as wide as it needs to be when nobody is at the terminal."""
    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(table)
