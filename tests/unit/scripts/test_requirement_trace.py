"""The trace between requirement ids and tests: every way in which the two can disagree is found."""

from pathlib import Path

import pytest
from scripts.requirement_trace import main, problems, read_requirements, read_tests

AREA = "DEMO"


def _id(number: int, *, name: bool = False) -> str:
    """An id of a requirement that this project does not have, so that this file itself names none."""
    return f"R_{AREA}_{number:02}" if name else f"R-{AREA}-{number:02}"


def _checkout(folder: Path, tests: str, planned: str = "", titles: int = 2) -> Path:
    lines = "\n".join(f"- **{_id(number)}** Does thing {number}." for number in range(1, titles + 1))
    (folder / "docs").mkdir()
    (folder / "docs" / "requirements.md").write_text(
        f"# R\n\n## Demo\n\n{lines}\n\n## Planned\n\n{planned}\n", encoding="utf-8"
    )
    (folder / "tests" / "unit").mkdir(parents=True)
    (folder / "tests" / "unit" / "test_demo.py").write_text(tests, encoding="utf-8")
    return folder


def _problems(root: Path) -> list[str]:
    text = (root / "docs" / "requirements.md").read_text(encoding="utf-8")
    return problems(read_requirements(text), read_tests(root / "tests"))


def test_ids_in_names_and_comments_both_count(tmp_path: Path) -> None:
    root = _checkout(tmp_path, f"def test_{_id(1, name=True)}_it_works(): ...\nassert True  # {_id(2)}\n")
    assert _problems(root) == []
    assert main(["--root", str(root)]) == 0


@pytest.mark.parametrize(
    ("named", "planned", "problem"),
    [
        ([1], "", f"{_id(2)} has no test"),
        ([1, 2, 9], "", f"{_id(9)} is named in tests/unit/test_demo.py but is no requirement"),
        ([1, 2], f"- {_id(2)}", f"{_id(2)} is planned, yet tests/unit/test_demo.py names it"),
        ([1], f"- {_id(2)}, still missing: the rest", f"{_id(2)} is said to be partly built, but no test names it"),
        ([1, 2], f"- {_id(7)}", f"{_id(7)} is planned but has no line of its own"),
        ([1, 2], f"- {_id(2)} soon", f"not understood: - {_id(2)} soon"),
    ],
)
def test_every_disagreement_is_told(tmp_path: Path, named: list[int], planned: str, problem: str) -> None:
    root = _checkout(tmp_path, "".join(f"# {_id(number)}\n" for number in named), planned)
    found = _problems(root)
    assert len(found) == 1
    assert found[0].startswith(problem)
    assert main(["--root", str(root), "--json"]) == 1


@pytest.mark.parametrize(("named", "planned"), [([1], f"- {_id(2)}"), ([1, 2], f"- {_id(2)}, still missing: the rest")])
def test_planned_and_partly_built_requirements_are_no_problem(tmp_path: Path, named: list[int], planned: str) -> None:
    root = _checkout(tmp_path, "".join(f"# {_id(number)}\n" for number in named), planned)
    assert _problems(root) == []


def test_two_lines_for_one_id_are_a_problem(tmp_path: Path) -> None:
    root = _checkout(tmp_path, f"# {_id(1)} {_id(2)}\n")
    path = root / "docs" / "requirements.md"
    path.write_text(f"- **{_id(1)}** Again.\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    assert _problems(root) == [f"not understood: {_id(1)} has two lines"]
