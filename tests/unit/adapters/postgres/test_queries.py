"""Described SQL files: what the loader gives and what it refuses."""

from pathlib import Path

import pytest

from yuzui.adapters.postgres.queries import QueryFileError, load


def _file(folder: Path, text: str, name: str = "runs.sql") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_a_statement_is_found_by_its_name_without_its_heading(tmp_path: Path) -> None:
    text = (
        "-- The runs.\n\n-- name: one\n-- Says one.\nSELECT 1;\n\n-- name: two\n-- Says\n-- two.\nSELECT 2 -- inner\n"
    )
    queries = load(_file(tmp_path, text))
    assert dict(queries) == {"one": "SELECT 1", "two": "SELECT 2 -- inner"}


def test_a_folder_gives_the_statements_of_all_its_files(tmp_path: Path) -> None:
    _file(tmp_path, "-- name: one\n-- d\nSELECT 1", "a.sql")
    _file(tmp_path, "-- name: two\n-- d\nSELECT 2", "b.sql")
    assert list(load(tmp_path)) == ["one", "two"]


def test_a_missing_name_is_an_error_that_names_the_nearest(tmp_path: Path) -> None:
    queries = load(_file(tmp_path, "-- name: claim_run\n-- d\nSELECT 1"))
    with pytest.raises(QueryFileError, match="'claim_runs'; the nearest is 'claim_run'"):
        queries["claim_runs"]
    assert "claim_runs" not in queries


def test_the_loaded_statements_cannot_be_changed(tmp_path: Path) -> None:
    queries = load(_file(tmp_path, "-- name: one\n-- d\nSELECT 1"))
    with pytest.raises(TypeError):
        queries["one"] = "SELECT 2"  # type: ignore[index]  # pyright: ignore[reportIndexIssue]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("-- name: one\nSELECT 1", "no description"),
        ("-- name: one\n--\nSELECT 1", "no description"),
        ("-- name: one\n-- d\n", "no SQL"),
        ("SELECT 1", "before the first"),
        ("-- name: One\n-- d\nSELECT 1", "snake_case"),
        ("-- name: one\n-- d\nSELECT 1\n-- name: one\n-- d\nSELECT 2", "two statements"),
        ("-- nothing", "no statement"),
    ],
)
def test_a_malformed_file_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(QueryFileError, match=complaint):
        load(_file(tmp_path, text))


def test_a_file_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(QueryFileError, match="No such file"):
        load(tmp_path / "none.sql")
