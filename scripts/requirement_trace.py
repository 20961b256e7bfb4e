"""Ties requirement ids to tests in both directions: no claim without a test, no test for an unknown id.

Reads `docs/requirements.md` (one line per id, then the section `Planned`) and every test. Exit status 1 when they disagree.
"""

import argparse
import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_TITLE = re.compile(r"^- \*\*(R-[A-Z]+-\d{2})\*\* (\S.*)$", re.MULTILINE)
_PLANNED = re.compile(r"^- (R-[A-Z]+-\d{2})(?:, still missing: (\S.*))?$")
_IN_TEST = re.compile(r"(?<![A-Za-z0-9])(?:R-([A-Z]+)-(\d{2})(?!\d)|(?:test_)?R_([A-Z]+)_(\d{2})(?!\d))")
_SUFFIXES = frozenset({".py", ".js"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Requirements:
    """The document: title by id, and for each planned id what is still missing (None: everything)."""

    titles: Mapping[str, str]
    planned: Mapping[str, str | None]
    malformed: tuple[str, ...]


def read_requirements(text: str) -> Requirements:
    """Parse the document. Lines that look like an item and are none are kept as malformed."""
    listed, _, planning = text.partition("\n## Planned\n")
    items = [line for line in planning.splitlines() if line.startswith("- ")]
    parsed = [(line, _PLANNED.match(line)) for line in items]
    titled = [line for line in listed.splitlines() if line.startswith("- ")]
    titles = dict(_TITLE.findall(listed))
    malformed = [line for line, match in parsed if match is None]
    malformed += [line for line in titled if not _TITLE.match(line)]
    twice = [f"{name} has two lines" for name in titles if sum(line.startswith(f"- **{name}**") for line in titled) > 1]
    return Requirements(
        titles=titles,
        planned={match[1]: match[2] for _, match in parsed if match},
        malformed=tuple(malformed + twice),
    )


def read_tests(folder: Path) -> dict[str, list[str]]:
    """The files that name each id, by id."""
    named: dict[str, list[str]] = {}
    for path in sorted(
        path for path in folder.rglob("*") if path.suffix in _SUFFIXES and "node_modules" not in path.parts
    ):
        found = {f"R-{a or c}-{b or d}" for a, b, c, d in _IN_TEST.findall(path.read_text(encoding="utf-8"))}
        for name in found:
            named.setdefault(name, []).append(str(path.relative_to(folder.parent)))
    return named


def problems(requirements: Requirements, named: Mapping[str, list[str]]) -> list[str]:
    """Everything on which the document and the tests disagree, one sentence each."""
    titles, planned = requirements.titles, requirements.planned
    found = [f"not understood: {line}" for line in requirements.malformed]
    found += [f"{name} is planned but has no line of its own" for name in planned if name not in titles]
    found += [
        f"{name} is named in {files[0]} but is no requirement" for name, files in named.items() if name not in titles
    ]
    for name in titles:
        files = named.get(name, [])
        if name not in planned and not files:
            found.append(f"{name} has no test: write one, or list it under Planned")
        elif name in planned and planned[name] is None and files:
            found.append(
                f"{name} is planned, yet {files[0]} names it: take it out of Planned, or say what is still missing"
            )
        elif name in planned and planned[name] is not None and not files:
            found.append(f"{name} is said to be partly built, but no test names it")
    return found


def main(arguments: list[str] | None = None) -> int:
    """Print the trace and what is wrong with it; 1 when anything is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--root", type=Path, default=ROOT, help="checkout to read")
    parser.add_argument("--json", action="store_true", help="print the trace as JSON")
    options = parser.parse_args(arguments)
    requirements = read_requirements((options.root / "docs" / "requirements.md").read_text(encoding="utf-8"))
    named = read_tests(options.root / "tests")
    wrong = problems(requirements, named)
    proven = [name for name in requirements.titles if name not in requirements.planned]
    if options.json:
        trace = {name: named.get(name, []) for name in requirements.titles}
        print(
            json.dumps({"ok": not wrong, "proven": len(proven), "tests": trace, "problems": wrong}, ensure_ascii=False)
        )
    else:
        partly = sum(missing is not None for missing in requirements.planned.values())
        counts = f"{len(proven)} proven, {partly} partly, {len(requirements.planned) - partly} planned"
        print(f"{len(requirements.titles)} requirements: {counts}")
        print("\n".join(wrong), end="\n" if wrong else "", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
