"""`yuzui`: registers the commands and maps errors to exit codes: 0 done, 1 the answer is no, 2 wrong use."""

import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final

import typer

from yuzui.entrypoints.cli.composer import Composer
from yuzui.errors import SettingsError, YuzuiError

# Group → commands. Each is `run` of the module of that name, which imports only light things at the top.
_COMMANDS: Final[dict[str, tuple[str, ...]]] = {
    "": ("serve", "worker", "migrate", "doctor", "chat"),
    "route": ("explain",),
    "policy": ("show",),
    "audit": ("show",),
}
_HELP: Final = {
    "route": "Routing: who decides what a message is.",
    "policy": "Policies: how each intent may run.",
    "audit": "The evidence behind an answer.",
}


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version as installed

        typer.echo(f"yuzui {installed('yuzui')}")
        raise typer.Exit


def command_line() -> typer.Typer:
    """The command tree. Invoke it with the `Composer` as `obj`."""
    root = typer.Typer(
        name="yuzui",
        help="Production chat agents whose model is a proposer, never a controller.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    for group, names in _COMMANDS.items():
        target = root
        if group:
            target = typer.Typer(no_args_is_help=True, help=_HELP[group], rich_markup_mode=None)
            root.add_typer(target, name=group)
        for name in names:
            module = importlib.import_module(f"yuzui.entrypoints.cli.{'_'.join(filter(None, (group, name)))}")
            command: Callable[..., Any] = module.run
            target.command(name)(command)
    root.callback(help=root.info.help if isinstance(root.info.help, str) else None)(_root)
    return root


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Nothing happens before a command."""


def run(composer: Composer, arguments: Sequence[str] | None = None) -> int:
    """Run one command line; the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        command_line()(given, obj=composer, prog_name="yuzui")
    except SystemExit as leave:
        return leave.code if isinstance(leave.code, int) else 1
    except SettingsError as error:
        return _refused(error, 2)
    except YuzuiError as error:
        return _refused(error, 1)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 0
    return 0


def _refused(error: YuzuiError, status: int) -> int:
    typer.secho(f"yuzui: {error.detail}", fg=typer.colors.RED, err=True)
    return status
