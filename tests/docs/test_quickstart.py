"""The quickstart's files, written out and run as they stand."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```\w+ file=(?P<path>\S+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every file of the quickstart."""
    folder = tmp_path_factory.mktemp("quickstart")
    blocks = list(BLOCK.finditer((ROOT / "docs" / "quickstart.md").read_text("utf-8")))
    assert len(blocks) >= 4
    for block in blocks:
        path = folder / block["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block["text"], "utf-8")
    return folder


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command of the console script, in the folder."""
    script = Path(sys.executable).parent / "yuzui"
    return subprocess.run([script, *arguments], cwd=folder, capture_output=True, text=True, timeout=60, check=False)


def test_R_POL_08_the_quickstart_app_shows_its_policy_table(written: Path) -> None:
    shown = run(written, "policy", "show", "pantry:app", "--json")
    assert shown.returncode == 0, shown.stderr
    modes = {row["intent"]: row["mode"] for row in json.loads(shown.stdout)}
    assert modes == {"list": "direct_read", "add": "confirmation_required", "chat": "bounded_react"}


def test_the_quickstart_apps_rules_route_as_the_text_says(written: Path) -> None:
    told = run(written, "route", "explain", "put 3 beans in the pantry", "--app", "pantry:app", "--json")
    assert told.returncode == 0, told.stderr
    assert '"add"' in told.stdout


def test_what_the_quickstart_says_the_types_refuse_is_refused_at_import(written: Path) -> None:
    for wrong in ("DirectRead(add_item)", "BoundedReact([add_item])", "Confirm(list_items)"):
        code = f"from pantry import *\nfrom pantry import add_item, list_items\n{wrong}"
        tried = subprocess.run([sys.executable, "-c", code], cwd=written, capture_output=True, text=True, check=False)
        assert "DeclarationError" in tried.stderr, (wrong, tried.stderr)
