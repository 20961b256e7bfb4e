"""Loads described SQL: every statement has a name and says what it does.

A file holds blocks: a `-- name: snake_case` line, then at least one `-- description` line, then one statement.


    -- name: claim_run
    -- Claims a queued run whose session is free; no row when somebody else was faster.
    UPDATE ...

Bind the statements at module level (`CLAIM = SQL["claim_run"]`): a missing name then fails the import, not a request.
"""

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType

from typing_extensions import override

_NAME = re.compile(r"^--\s*name:\s*(\S+)\s*$")
_WORD = re.compile(r"[a-z][a-z0-9_]*")


class QueryFileError(ValueError):
    """A file of described SQL is malformed, or lacks a statement that the code asks for."""


class Queries(Mapping[str, str]):
    """Immutable name → SQL text, in the order of the file. A missing name raises `QueryFileError`."""

    def __init__(self, source: Path, statements: Mapping[str, str]) -> None:
        self._source = source
        self._statements = MappingProxyType(dict(statements))

    @override
    def __getitem__(self, name: str) -> str:
        try:
            return self._statements[name]
        except KeyError:
            near = get_close_matches(name, self._statements, n=1)
            hint = f"; the nearest is {near[0]!r}" if near else ""
            raise QueryFileError(f"{self._source}: no statement named {name!r}{hint}") from None

    @override
    def __contains__(self, name: object) -> bool:
        return name in self._statements

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self._statements)

    @override
    def __len__(self) -> int:
        return len(self._statements)


def load(path: Path) -> Queries:
    """The statements of one `.sql` file, or of every `.sql` file directly in a folder (names are unique across them).

    Raises `QueryFileError` for an unnamed, undescribed, empty or doubly named statement, or when there is no file.
    """
    files = sorted(path.glob("*.sql")) if path.is_dir() else [path]
    statements: dict[str, str] = {}
    for file in files:
        for name, sql in _blocks(file):
            if name in statements:
                raise QueryFileError(f"{file}: two statements are named {name!r}")
            statements[name] = sql
    if not statements:
        raise QueryFileError(f"{path}: there is no statement here")
    return Queries(path, statements)


def _blocks(file: Path) -> Iterator[tuple[str, str]]:
    name: str | None = None
    lines: list[str] = []
    try:
        text = file.read_text("utf-8")
    except OSError as error:
        raise QueryFileError(f"{file}: {error.strerror}") from error
    for line in text.splitlines():
        if heading := _NAME.match(line):
            if name is not None:
                yield name, _statement(file, name, lines)
            name, lines = str(heading[1]), []
            if not _WORD.fullmatch(name):
                raise QueryFileError(f"{file}: {name!r} is not a snake_case name")
        elif name is not None:
            lines.append(line)
        elif line.strip() and not line.startswith("--"):
            raise QueryFileError(f"{file}: SQL before the first `-- name:` line")
    if name is not None:
        yield name, _statement(file, name, lines)


def _statement(file: Path, name: str, lines: list[str]) -> str:
    body = list(lines)
    described = False
    while body and (not body[0].strip() or body[0].startswith("--")):
        described = described or bool(body[0].strip("- \t"))
        body.pop(0)
    if not described:
        raise QueryFileError(f"{file}: {name!r} has no description line")
    sql = "\n".join(body).strip().removesuffix(";").rstrip()
    if not sql:
        raise QueryFileError(f"{file}: {name!r} has no SQL")
    return sql
