"""The composition root: settings → adapters → ports. Everything that starts is stopped here, in the opposite order."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from yuzui.bootstrap.asgi import create_asgi

__all__ = ["create_asgi", "main"]


def main() -> int:
    """The `yuzui` command; its exit status."""
    from yuzui.bootstrap.commands import Commands
    from yuzui.entrypoints.cli.main import run

    return run(Commands())


def __getattr__(name: str) -> Any:
    if name != "create_asgi":
        raise AttributeError(f"module 'yuzui.bootstrap' has no attribute {name!r}")
    from yuzui.bootstrap.asgi import create_asgi

    return create_asgi
