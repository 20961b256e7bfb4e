"""A write where a read is asked for is a type error, for both type checkers, and so is the reverse (R-TOOL-05)."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEAD = '''
from pathlib import Path
from yuzui import App, BoundedReact, Confirm, Ctx, DirectRead

app = App("diet", deps=lambda database: database, assets=Path())

@app.read
async def get_bmi(ctx: Ctx[object]) -> float:
    """Body-mass index."""
    return 1.0

@app.read(retries=2)
async def get_total(ctx: Ctx[object]) -> float:
    """Day total."""
    return 1.0

@app.write(summary=lambda ctx, arguments: "Log a meal")
async def log_meal(ctx: Ctx[object], food: str) -> str:
    """Add one meal."""
    return food
'''
ACCEPTED = """
DirectRead(get_bmi)
DirectRead(get_total)
Confirm(log_meal)
BoundedReact([get_bmi, get_total], must_use=[get_bmi], may_propose=[log_meal])
BoundedReact(tools=[get_bmi])
"""
REFUSED = """
DirectRead(log_meal)
Confirm(get_bmi)
Confirm(get_total)
BoundedReact(tools=[log_meal])
BoundedReact(tools=[get_bmi, log_meal])
BoundedReact(tools=[get_bmi], must_use=[log_meal])
BoundedReact(tools=[get_bmi], may_propose=[get_total])
"""


def _module(folder: Path) -> tuple[Path, set[int], set[int]]:
    """The module to check, with the line numbers that must and must not have an error."""
    text = HEAD + ACCEPTED + REFUSED
    lines = text.splitlines()
    numbered = {line: number for number, line in enumerate(lines, start=1)}
    path = folder / "declarations.py"
    path.write_text(text, encoding="utf-8")
    refused = {numbered[line] for line in REFUSED.split("\n") if line}
    return path, refused, set(range(1, len(lines) + 1)) - refused


def _run(*command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, timeout=110, check=False
    )
    return done.stdout + done.stderr


def test_R_TOOL_05_mypy_refuses_a_write_where_a_read_is_asked_for(tmp_path: Path) -> None:
    path, refused, accepted = _module(tmp_path)
    output = _run("mypy", "--strict", "--config-file=", str(path))
    wrong = {int(number) for number in re.findall(r"declarations\.py:(\d+): error", output)}
    assert wrong == refused, output
    assert not wrong & accepted


def test_R_TOOL_05_pyright_refuses_a_write_where_a_read_is_asked_for(tmp_path: Path) -> None:
    path, refused, accepted = _module(tmp_path)
    settings = {
        "include": [path.name],
        "typeCheckingMode": "standard",
        "pythonVersion": "3.11",
        "extraPaths": [str(ROOT / "src")],
    }
    project = tmp_path / "pyrightconfig.json"
    project.write_text(json.dumps(settings), encoding="utf-8")
    output = _run("pyright", "--outputjson", "--pythonpath", sys.executable, "--project", str(project))
    found = json.loads(output[output.index("{") :])["generalDiagnostics"]
    wrong = {one["range"]["start"]["line"] + 1 for one in found if one["severity"] == "error"}
    assert wrong == refused, output
    assert not wrong & accepted


@pytest.mark.parametrize("line", [line for line in REFUSED.split("\n") if line])
def test_R_TOOL_05_the_same_declarations_are_refused_at_run_time(line: str) -> None:
    from yuzui.errors import DeclarationError

    names: dict[str, object] = {}
    exec(HEAD, names)  # noqa: S102 - the module under test is the text above
    with pytest.raises(DeclarationError):
        eval(line, names)  # noqa: S307 - one line of the text above
