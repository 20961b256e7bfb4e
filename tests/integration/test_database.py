"""`Database` over a real PostgreSQL: values, errors, transactions, lost connections."""

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from uuid import UUID

import psycopg
import pytest
from psycopg import errors as pg

from yuzui.adapters.postgres import pool as pool_module
from yuzui.adapters.postgres.database import PooledDatabase
from yuzui.adapters.postgres.errors import BrokenReferenceError, CommitUncertainError, PostgresTooOldError
from yuzui.adapters.postgres.pool import PoolOptions, create_pool, open_pool, require_server
from yuzui.errors import ConflictError, DatabaseUnavailableError, InvalidInputError, SettingsError
from yuzui.tools.database import Database

SCHEMA = """
CREATE TABLE meal (id int PRIMARY KEY, name text NOT NULL, grams int CHECK (grams > 0), extra jsonb, tags text[]);
CREATE TABLE eaten (meal int NOT NULL REFERENCES meal DEFERRABLE INITIALLY IMMEDIATE);
"""


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[PooledDatabase]:
    pool = await open_pool(database_url, PoolOptions(min_size=1, max_size=3, wait_s=1.0))
    async with pool.connection() as connection:
        await connection.execute(SCHEMA)
    yield PooledDatabase(pool)
    await pool.close()


async def _add(db: Database, number: int, name: str = "饭", grams: int = 100) -> int:
    statement = "INSERT INTO meal (id, name, grams) VALUES (%(id)s, %(name)s, %(grams)s)"
    return await db.execute(statement, id=number, name=name, grams=grams)


async def _count(db: Database) -> int:
    row = await db.row("SELECT count(*)::int AS n FROM meal")
    assert row is not None
    return int(row["n"])


async def test_rows_are_dicts_of_python_values(database: PooledDatabase) -> None:
    extra, tags = {"盐": 1.5, "deep": [1, None]}, ["a", "b"]
    await database.execute("INSERT INTO meal VALUES (1, '饭', 200, %(extra)s, %(tags)s)", extra=extra, tags=tags)
    assert await database.rows("SELECT * FROM meal") == [
        {"id": 1, "name": "饭", "grams": 200, "extra": extra, "tags": tags}
    ]
    row = await database.row("SELECT uuidv7() AS id, %(at)s::timestamptz AS at", at=datetime(2026, 1, 2, tzinfo=UTC))
    assert row is not None
    assert isinstance(row["id"], UUID)
    assert row["at"] == datetime(2026, 1, 2, tzinfo=UTC)


async def test_what_is_absent_is_none_or_empty_and_a_change_counts_its_rows(database: PooledDatabase) -> None:
    assert await database.row("SELECT * FROM meal WHERE id = %(id)s", id=1) is None
    assert await database.rows("SELECT * FROM meal") == []
    assert await database.rows("CREATE TABLE other (n int)") == []
    assert await database.row("DROP TABLE other") is None
    await _add(database, 1)
    await _add(database, 2)
    assert await database.execute("UPDATE meal SET grams = grams + 1") == 2
    assert await database.execute("CREATE TABLE other (n int)") == 0


async def test_a_percent_sign_is_doubled_with_and_without_parameters(database: PooledDatabase) -> None:
    assert await database.row("SELECT 7 %% 4 AS n") == {"n": 3}
    assert await database.row("SELECT %(a)s::int %% 4 AS n", a=7) == {"n": 3}


async def test_a_value_is_never_read_as_sql(database: PooledDatabase) -> None:
    name = "'; DROP TABLE meal; --"
    await _add(database, 1, name)
    assert await database.row("SELECT name FROM meal") == {"name": name}


async def test_broken_rules_have_stable_codes_and_name_the_rule_but_no_value(database: PooledDatabase) -> None:
    await _add(database, 1)
    with pytest.raises(ConflictError, match="meal_pkey") as duplicate:
        await _add(database, 1, "secret")
    assert duplicate.value.code == "conflict"
    assert "secret" not in str(duplicate.value)
    with pytest.raises(InvalidInputError, match="meal_grams_check"):
        await _add(database, 2, grams=-5)
    with pytest.raises(BrokenReferenceError, match="eaten_meal_fkey"):
        await database.execute("INSERT INTO eaten VALUES (99)")
    with pytest.raises(InvalidInputError) as out_of_range:
        await database.execute("INSERT INTO meal VALUES (%(id)s::int, 'x')", id="99999999999")
    assert out_of_range.value.code == "bad_value"
    with pytest.raises(InvalidInputError):
        await _add(database, 3, "nul\x00")
    with pytest.raises(pg.UndefinedTable):
        await database.rows("SELECT * FROM nowhere")


async def test_R_IDEM_03_a_transaction_is_all_or_nothing(database: PooledDatabase) -> None:
    async with database.transaction() as db:
        await _add(db, 1)
        assert await _count(database) == 0
    assert await _count(database) == 1
    with pytest.raises(ConflictError):  # noqa: PT012 - the block is the point
        async with database.transaction() as db:
            await _add(db, 2)
            await _add(db, 1)
    with pytest.raises(RuntimeError, match="app"):  # noqa: PT012 - the block is the point
        async with database.transaction() as db:
            await _add(db, 3)
            raise RuntimeError("app")
    assert await _count(database) == 1


async def test_a_transaction_inside_a_transaction_undoes_only_itself(database: PooledDatabase) -> None:
    async with database.transaction() as db:
        await _add(db, 1)
        with pytest.raises(ConflictError):  # noqa: PT012 - the block is the point
            async with db.transaction() as inner:
                await _add(inner, 2)
                await _add(inner, 1)
        await _add(db, 3)
    assert await database.rows("SELECT id FROM meal ORDER BY id") == [{"id": 1}, {"id": 3}]


async def test_a_rule_checked_at_commit_is_a_conflict_and_not_uncertain(database: PooledDatabase) -> None:
    with pytest.raises(BrokenReferenceError):  # noqa: PT012 - the block is the point
        async with database.transaction() as db:
            await db.execute("SET CONSTRAINTS ALL DEFERRED")
            await db.execute("INSERT INTO eaten VALUES (99)")


async def test_a_cancelled_transaction_writes_nothing_and_gives_its_connection_back(database: PooledDatabase) -> None:
    inside = asyncio.Event()

    async def work() -> None:
        async with database.transaction() as db:
            await _add(db, 1)
            inside.set()
            await asyncio.Event().wait()

    for _ in range(5):
        inside.clear()
        task = asyncio.create_task(work())
        await inside.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert await _count(database) == 0


async def test_connections_that_died_idle_do_not_reach_a_request(database: PooledDatabase, database_url: str) -> None:
    await asyncio.gather(*(database.row("SELECT pg_sleep(0.02)") for _ in range(3)))
    async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as killer:
        killed = await killer.execute(
            "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity "
            "WHERE application_name = 'yuzui' AND datname = current_database()"
        )
        assert (await killed.fetchone() or (0,))[0] >= 3
    began = time.monotonic()
    for _ in range(5):
        assert await _count(database) == 0
    assert time.monotonic() - began < 0.9


async def test_a_connection_lost_in_the_middle_is_unavailable_and_nothing_is_written(
    database: PooledDatabase, database_url: str
) -> None:
    with pytest.raises(DatabaseUnavailableError):  # noqa: PT012 - the block is the point
        async with database.transaction() as db:
            await _add(db, 1)
            await _terminate(db, database_url)
            await _add(db, 2)
    assert await _count(database) == 0


async def test_a_connection_lost_at_the_commit_is_uncertain(database: PooledDatabase, database_url: str) -> None:
    with pytest.raises(CommitUncertainError) as uncertain:  # noqa: PT012 - the block is the point
        async with database.transaction() as db:
            await _add(db, 1)
            await _terminate(db, database_url)
    assert not uncertain.value.retryable


async def _terminate(db: Database, database_url: str) -> None:
    row = await db.row("SELECT pg_backend_pid() AS pid")
    assert row is not None
    async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as killer:
        await killer.execute("SELECT pg_terminate_backend(%s, 5000)", [row["pid"]])


async def test_a_full_pool_makes_the_next_wait_and_then_says_unavailable(database: PooledDatabase) -> None:
    async with database.transaction(), database.transaction(), database.transaction():
        with pytest.raises(DatabaseUnavailableError):
            await database.row("SELECT 1")
    assert await database.row("SELECT 1 AS n") == {"n": 1}


async def test_connections_carry_our_name_and_never_idle_long_in_a_transaction(database: PooledDatabase) -> None:
    assert await database.row("SHOW application_name") == {"application_name": "yuzui"}
    row = await database.row("SHOW idle_in_transaction_session_timeout")
    assert row == {"idle_in_transaction_session_timeout": "5s"}


@pytest.mark.parametrize("transaction_pooler", [False, True])
async def test_behind_a_transaction_pooler_nothing_is_prepared(database_url: str, transaction_pooler: bool) -> None:
    options = PoolOptions(min_size=1, max_size=1, transaction_pooler=transaction_pooler)
    pool = await open_pool(database_url, options)
    database = PooledDatabase(pool)
    for number in range(20):
        await database.row("SELECT %(n)s::int", n=number)
    row = await database.row("SELECT count(*)::int AS n FROM pg_prepared_statements WHERE statement LIKE '%%::int'")
    assert row is not None
    assert (row["n"] == 0) is transaction_pooler
    await pool.close()


async def test_a_closed_pool_is_unavailable(database_url: str) -> None:
    database = PooledDatabase(create_pool(database_url))
    with pytest.raises(DatabaseUnavailableError):
        await database.row("SELECT 1")


async def test_a_server_that_is_not_there_is_named_without_its_password() -> None:
    with pytest.raises(DatabaseUnavailableError, match=r"127\.0\.0\.1:1/nothing") as refused:
        await open_pool("postgresql://me:hidden@127.0.0.1:1/nothing", wait_s=2)
    assert refused.value.code == "database_unavailable"
    assert refused.value.retryable
    assert refused.value.status == 503
    assert "hidden" not in str(refused.value)


async def test_a_malformed_address_is_a_settings_error() -> None:
    with pytest.raises(SettingsError, match="postgresql://USER"):
        await require_server("mysql://x")


async def test_a_server_that_is_too_old_is_refused(postgres_dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await require_server(postgres_dsn) >= 15
    monkeypatch.setattr(pool_module, "MINIMUM_VERSION", 99)
    with pytest.raises(PostgresTooOldError, match="needs 99 or newer") as refused:
        await open_pool(postgres_dsn)
    assert refused.value.code == "postgres_too_old"
