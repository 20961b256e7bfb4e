"""Naming an own app wrongly: the message says which name is wrong and what to do."""

import sys
from pathlib import Path

import pytest

from yuzui.bootstrap.apps import load_app
from yuzui.errors import UnknownAppError


def test_a_module_that_is_not_here_says_where_to_run() -> None:
    with pytest.raises(
        UnknownAppError, match=r"no module 'no_such_pantry' here\. Run this in the folder that holds it"
    ):
        load_app("no_such_pantry:app")


def test_a_module_whose_own_import_fails_names_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "needy_pantry.py").write_text("import no_such_library\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(UnknownAppError, match="it imports 'no_such_library', which is not installed"):
        load_app("needy_pantry:app")


def test_a_wrong_attribute_is_named() -> None:
    with pytest.raises(UnknownAppError, match="no attribute 'nothing'"):
        load_app("yuzui_apps.home_menu:nothing")
