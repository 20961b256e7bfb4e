"""The migration runner against a real PostgreSQL."""

import asyncio
from pathlib import Path

import psycopg
import pytest

from yuzui.adapters.postgres.migrate import (
    DatabaseNewerError,
    MigrationChangedError,
    MigrationError,
    Source,
    discover,
    migrate,
    pending,
)
from yuzui.adapters.postgres.pool import Connection, PoolOptions, open_pool


def _source(folder: Path, namespace: str = "core", **files: str) -> Source:
    place = folder / namespace
    place.mkdir(exist_ok=True)
    for name, text in files.items():
        (place / f"{name.removeprefix('n')}.sql").write_text(text, "utf-8")
    return namespace, place


async def _connect(address: str) -> Connection:
    return await psycopg.AsyncConnection.connect(address, autocommit=True)


async def _value(connection: Connection, statement: str) -> object:
    row = await (await connection.execute(statement.encode())).fetchone()
    return row[0] if row else None


async def test_files_are_applied_once_in_order_across_namespaces(database_url: str, tmp_path: Path) -> None:
    core = _source(
        tmp_path,
        n0001_pre_first="CREATE TABLE a (n int); INSERT INTO a VALUES (1);",
        n0002_pre_second="ALTER TABLE a ADD m int DEFAULT 5; -- 100%",
    )
    menu = _source(tmp_path, "home_menu", n0001_pre_menu="CREATE TABLE b AS SELECT n + m AS sum FROM a;")
    async with await _connect(database_url) as connection:
        assert [item.label for item in await pending(connection, [core, menu])] == [
            "core/0001_pre_first",
            "core/0002_pre_second",
            "home_menu/0001_pre_menu",
        ]
        assert await _value(connection, "SELECT to_regnamespace('yuzui')") is None
        applied = await migrate(connection, [core, menu])
        assert [item.label for item in applied] == [item.label for item in discover([core, menu])]
        assert await _value(connection, "SELECT sum FROM b") == 6
        assert await migrate(connection, [core, menu]) == []
        assert await pending(connection, [core, menu]) == []
        assert await _value(connection, "SELECT count(*) FROM yuzui.schema_migrations") == 3


async def test_a_file_that_fails_leaves_nothing_of_itself_and_keeps_the_earlier_ones(
    database_url: str, tmp_path: Path
) -> None:
    core = _source(tmp_path, n0001_pre_good="CREATE TABLE a (n int)", n0002_pre_bad="CREATE TABLE b (n int); SELEC 1")
    async with await _connect(database_url) as connection:
        with pytest.raises(MigrationError, match=r"core/0002_pre_bad: .*SELEC"):
            await migrate(connection, [core])
        assert await _value(connection, "SELECT to_regclass('b')") is None
        _source(tmp_path, n0002_pre_bad="CREATE TABLE b (n int)")
        assert [item.name for item in await migrate(connection, [core])] == ["0002_pre_bad"]


async def test_many_processes_at_once_migrate_once(database_url: str, tmp_path: Path) -> None:
    core = _source(tmp_path, **{f"n{n:04}_pre_step": f"CREATE TABLE t{n} (n int)" for n in range(1, 6)})
    pool = await open_pool(database_url, PoolOptions(min_size=8, max_size=8))
    results = await asyncio.gather(*(migrate(pool, [core]) for _ in range(8)))
    assert sorted(item.number for result in results for item in result) == [1, 2, 3, 4, 5]
    assert await migrate(pool, [core]) == []
    await pool.close()


async def test_post_files_wait_until_the_deployment_is_done(database_url: str, tmp_path: Path) -> None:
    core = _source(
        tmp_path,
        n0001_pre_first="CREATE TABLE a (n int)",
        n0002_post_clean="DROP TABLE a",
        n0003_pre_next="CREATE TABLE c (n int)",
    )
    async with await _connect(database_url) as connection:
        assert [item.number for item in await migrate(connection, [core], phase="pre")] == [1, 3]
        assert await _value(connection, "SELECT to_regclass('a')") == "a"
        assert [item.number for item in await pending(connection, [core])] == [2]
        assert [item.number for item in await migrate(connection, [core], phase="post")] == [2]


async def test_an_applied_file_that_was_edited_is_refused(database_url: str, tmp_path: Path) -> None:
    core = _source(tmp_path, n0001_pre_first="CREATE TABLE a (n int)\n")
    async with await _connect(database_url) as connection:
        await migrate(connection, [core])
        (core[1] / "0001_pre_first.sql").write_bytes(b"CREATE TABLE a (n int)\r\n")
        assert await migrate(connection, [core]) == []
        _source(tmp_path, n0001_pre_first="CREATE TABLE a (n bigint)\n")
        for check in (migrate, pending):
            with pytest.raises(MigrationChangedError, match="core/0001_pre_first") as refused:
                await check(connection, [core])
            assert refused.value.code == "migration_changed"


async def test_a_database_of_a_newer_version_is_refused_and_other_namespaces_are_not_judged(
    database_url: str, tmp_path: Path
) -> None:
    core = _source(tmp_path, n0001_pre_first="SELECT 1", n0002_pre_second="SELECT 2")
    menu = _source(tmp_path, "home_menu", n0001_pre_menu="SELECT 3")
    async with await _connect(database_url) as connection:
        await migrate(connection, [core, menu])
        (core[1] / "0002_pre_second.sql").unlink()
        with pytest.raises(DatabaseNewerError, match="core/0002_pre_second") as refused:
            await migrate(connection, [core])
        assert refused.value.code == "database_newer"
        (core[1] / "0001_pre_first.sql").unlink()
        with pytest.raises(DatabaseNewerError, match="core/0001_pre_first"):
            await migrate(connection, [core])
        assert await migrate(connection, [menu]) == []


@pytest.mark.parametrize("name", ["1_pre_short", "0001_first", "0001_pre_Upper", "0001_pre_"])
def test_a_bad_file_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(MigrationError, match="expected NNNN_pre_name"):
        discover([_source(tmp_path, **{name: "SELECT 1"})])


def test_two_files_with_one_number_or_a_missing_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MigrationError, match="has the number of"):
        discover([_source(tmp_path, n0001_pre_a="SELECT 1", n0001_post_b="SELECT 2")])
    with pytest.raises(MigrationError, match="no folder"):
        discover([("core", tmp_path / "none")])


def test_the_checksum_does_not_depend_on_line_ends(tmp_path: Path) -> None:
    core = _source(tmp_path, n0001_pre_a="SELECT 1\n")
    (before,) = discover([core])
    (core[1] / "0001_pre_a.sql").write_bytes(b"SELECT 1\r\n")
    assert discover([core]) == [before]
