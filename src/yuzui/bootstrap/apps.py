"""Finding apps: by their installed names, or by `module:attribute`. The platform itself knows none."""

import importlib
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib.metadata import entry_points
from typing import Any, Final, cast

from yuzui.app import App
from yuzui.errors import DeclarationError, SettingsError, UnknownAppError

APP_GROUP: Final = "yuzui.apps"


def load_app(name: str) -> App[Any]:
    """A declared app by its installed name or by `module:attribute`.

    Raises `UnknownAppError` that names the nearest installed one, `DeclarationError` when the declaration does not hold.
    """
    if ":" in name:
        module, _, attribute = name.partition(":")
        if "" not in sys.path:
            sys.path.insert(0, "")  # an app beside the place where the command was given
        try:
            found = getattr(importlib.import_module(module), attribute)
        except ModuleNotFoundError as error:
            raise UnknownAppError(_missing(name, module, error.name)) from error
        except AttributeError as error:
            raise UnknownAppError(f"{name!r}: {error}. An app is named module:attribute, as in pantry:app.") from error
    else:
        installed = {entry.name: entry for entry in entry_points(group=APP_GROUP)}
        if name not in installed:
            near = get_close_matches(name, installed, n=1)
            hint = (
                f"; did you mean {near[0]!r}?" if near else f"; installed are: {', '.join(sorted(installed)) or 'none'}"
            )
            raise UnknownAppError(f"there is no app {name!r}{hint}. An own app is named module:attribute.")
        found = installed[name].load()
    if not isinstance(found, App):
        raise DeclarationError(f"{name!r} is not an App but a {type(found).__name__}")
    return cast("App[object]", found)


def _missing(name: str, module: str, absent: str | None) -> str:
    if absent is not None and (module == absent or module.startswith(f"{absent}.")):
        return f"{name!r}: there is no module {absent!r} here. Run this in the folder that holds it, or set PYTHONPATH."
    return f"{name!r}: it imports {absent!r}, which is not installed in this environment."


def load_apps(names: Sequence[str]) -> tuple[App[Any], ...]:
    """The apps of these names, each once. Raises like `load_app`; `DeclarationError` for two of one name."""
    apps = [load_app(name) for name in dict.fromkeys(names)]
    if not apps:
        raise SettingsError("no app is named: YUZUI_APPS or --app")
    seen: dict[str, App[Any]] = {}
    for app in apps:
        if app.name in seen:
            raise DeclarationError(f"two apps are called {app.name!r}")
        seen[app.name] = app
    return tuple(apps)
