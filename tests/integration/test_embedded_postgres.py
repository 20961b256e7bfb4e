"""The embedded PostgreSQL against what happens to servers: kills, stale files, strangers, other users."""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from yuzui.adapters import embedded_postgres
from yuzui.adapters.embedded import binaries, postmaster
from yuzui.adapters.embedded.account import Account, account_for, spawn_options
from yuzui.adapters.embedded.errors import DataDirInUseError, DataDirUnusableError, EmbeddedStartError
from yuzui.adapters.embedded_postgres import EmbeddedPostgres, running_dsn
from yuzui.adapters.postgres.database import PooledDatabase
from yuzui.adapters.postgres.pool import PoolOptions, open_pool
from yuzui.errors import DatabaseUnavailableError

IS_ROOT = os.geteuid() == 0

SUPERVISOR = """
import os, sys
from pathlib import Path
from yuzui.adapters.embedded_postgres import EmbeddedPostgres
import psycopg_binary._psycopg, stringprep, encodings.idna
uid = int(sys.argv[2])
if uid >= 0:
    os.setgroups([]); os.setgid(uid); os.setuid(uid)
server = EmbeddedPostgres(Path(sys.argv[1]))
print(server.start(), flush=True)
sys.stdin.read()
server.stop()
"""


@pytest.fixture
def data_dir(scratch_root: Path) -> Iterator[Path]:
    """A data directory that every user can reach, stopped and removed afterwards even when the test failed."""
    folder = Path(tempfile.mkdtemp(prefix="yuzui-test-", dir=scratch_root))
    folder.chmod(0o755)
    yield folder / "data"
    _end(folder / "data")
    shutil.rmtree(folder)


@pytest.fixture
def private_dir(scratch_root: Path) -> Iterator[Path]:
    """A data directory below a folder that only this user can enter."""
    folder = Path(tempfile.mkdtemp(prefix="yuzui-test-", dir=scratch_root))
    yield folder / "data"
    _end(folder / "data")
    shutil.rmtree(folder)


Supervise = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def supervise() -> Iterator[Supervise]:
    """Starts a server process of its own over a data directory; `_dsn` waits for it."""
    children: list[subprocess.Popen[str]] = []

    def start(data: Path, uid: int = -1) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", SUPERVISOR, str(data), str(uid)]
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/")
        children.append(child)
        return child

    yield start
    for child in children:
        if child.poll() is None:
            child.kill()
        if child.stdin is not None and not child.stdin.closed:
            child.communicate(timeout=30)


def _dsn(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    line = child.stdout.readline().strip()
    assert line.startswith("postgresql://")
    return line


def _end(data: Path) -> None:
    for process in postmaster.backends(data / "postgres") if (data / "postgres").exists() else []:
        process.kill()
        process.wait(10)


def _eventually(true: Callable[[], bool], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "the condition did not come true in time"
        time.sleep(0.01)


def _finish(child: subprocess.Popen[str]) -> int:
    child.communicate(timeout=30)
    return child.returncode


def _live(data: Path) -> postmaster.Postmaster:
    running = postmaster.find(data / "postgres")
    assert running is not None
    return running


def _kill_postmaster(data: Path) -> None:
    running = _live(data)
    running.signal(signal.SIGKILL)
    assert running.wait(10)


def _value(dsn: str, statement: str) -> object:
    with psycopg.connect(dsn, autocommit=True) as connection:
        row = connection.execute(statement.encode()).fetchone()
        assert row is not None
        return row[0]


def _run(dsn: str, statement: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(statement.encode())


def test_the_first_start_makes_a_durable_local_server_with_a_secret_password(data_dir: Path) -> None:
    with EmbeddedPostgres(data_dir) as server:
        for setting, expected in {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}.items():
            assert _value(server.dsn, f"SHOW {setting}") == expected
        assert _value(server.dsn, "SHOW password_encryption") == "scram-sha-256"
        _run(server.dsn, "CREATE EXTENSION pg_stat_statements")
        _run(server.dsn, "CREATE EXTENSION vector")
        assert _value(server.dsn, "SELECT count(*) > 0 FROM pg_stat_statements") is True
        assert _value(server.dsn, "SELECT lower('ÄÖ') || upper('é')") == "äöÉ"
        listening = psutil.Process(_live(data_dir).pid).net_connections(kind="all")
        assert {item.laddr[0] for item in listening if item.status == psutil.CONN_LISTEN} == {"127.0.0.1"}
        wrong = server.dsn.replace("yuzui:", "yuzui:x")
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(wrong)
    assert (data_dir / "postgres.password").stat().st_mode & 0o777 == 0o600
    assert postmaster.find(data_dir / "postgres") is None


def test_a_warm_start_is_quick_and_keeps_the_data(data_dir: Path) -> None:
    with EmbeddedPostgres(data_dir) as server:
        _run(server.dsn, "CREATE TABLE kept AS SELECT 7 AS n")
    began = time.monotonic()
    with EmbeddedPostgres(data_dir) as server:
        assert time.monotonic() - began < 1.0
        assert _value(server.dsn, "SELECT n FROM kept") == 7


def test_it_works_below_a_private_folder_without_changing_permissions(private_dir: Path) -> None:
    mode = private_dir.parent.stat().st_mode
    for _ in range(2):
        with EmbeddedPostgres(private_dir) as server:
            assert _value(server.dsn, "SELECT 1") == 1
            assert running_dsn(private_dir) == server.dsn
    assert private_dir.parent.stat().st_mode == mode


def test_an_ordinary_user_starts_it_without_any_privilege(data_dir: Path, supervise: Supervise) -> None:
    uid = 65534 if IS_ROOT else -1
    data_dir.mkdir()
    if IS_ROOT:
        os.chown(data_dir, uid, uid)
    child = supervise(data_dir, uid)
    dsn = _dsn(child)
    assert _value(dsn, "SELECT 1") == 1
    assert psutil.Process(_live(data_dir).pid).uids().effective == (uid if IS_ROOT else os.geteuid())
    assert _finish(child) == 0
    assert postmaster.find(data_dir / "postgres") is None


@pytest.mark.skipif(not IS_ROOT, reason="only root runs PostgreSQL as somebody else")
def test_root_drops_to_an_unprivileged_user_and_later_keeps_the_owner_it_finds(data_dir: Path) -> None:
    with EmbeddedPostgres(data_dir):
        assert psutil.Process(_live(data_dir).pid).uids().effective != 0
    subprocess.run(["chown", "-R", "1234:1234", str(data_dir / "postgres")], check=True)
    with EmbeddedPostgres(data_dir) as server:
        assert psutil.Process(_live(data_dir).pid).uids().effective == 1234
        assert _value(server.dsn, "SELECT 1") == 1


@pytest.mark.skipif(not IS_ROOT, reason="only root can own what it cannot run")
def test_a_copy_that_root_restored_from_a_backup_starts(data_dir: Path) -> None:
    with EmbeddedPostgres(data_dir) as server:
        _run(server.dsn, "CREATE TABLE kept AS SELECT 7 AS n")
    subprocess.run(["chown", "-R", "0:0", str(data_dir / "postgres")], check=True)
    with EmbeddedPostgres(data_dir) as server:
        assert _value(server.dsn, "SELECT n FROM kept") == 7


@pytest.mark.skipif(not IS_ROOT, reason="an ordinary user runs the installed programs")
@pytest.mark.parametrize("private", [False, True])
def test_programs_in_a_private_folder_are_copied_once(
    data_dir: Path, private_dir: Path, monkeypatch: pytest.MonkeyPatch, private: bool
) -> None:
    cache = data_dir.parent / "cache"
    site = binaries.programs(data_dir, None).parents[2]
    hidden = private_dir.parent / "site-packages"
    for name in ("embedded_postgres", "embedded_postgres.libs"):
        shutil.copytree(site / name, hidden / name, symlinks=True, ignore=shutil.ignore_patterns("include"))
    monkeypatch.setattr(binaries, "_site", lambda: hidden)
    monkeypatch.setattr(binaries, "SYSTEM_CACHE", cache)
    home, data = (cache, private_dir) if private else (data_dir, data_dir)
    for _ in range(2):
        with EmbeddedPostgres(data) as server:
            assert _value(server.dsn, "SELECT 1") == 1
            running = Path(psutil.Process(_live(data).pid).exe())
            assert running.is_relative_to(home)
    assert len(list(home.glob("postgres-programs-*"))) == 1


def test_a_killed_server_leaves_postgres_running_and_the_next_one_takes_it_over(
    data_dir: Path, supervise: Supervise
) -> None:
    child = supervise(data_dir)
    dsn = _dsn(child)
    _run(dsn, "CREATE TABLE kept AS SELECT 7 AS n")
    running = _live(data_dir)
    child.kill()
    _finish(child)
    assert running.is_alive()
    with EmbeddedPostgres(data_dir) as server:
        assert server.dsn == dsn
        assert _live(data_dir) == running
        assert _value(server.dsn, "SELECT n FROM kept") == 7
    assert not running.is_alive()


def test_a_killed_postgres_recovers_at_the_next_start(data_dir: Path) -> None:
    server = EmbeddedPostgres(data_dir)
    dsn = server.start()
    _run(dsn, "CREATE TABLE kept AS SELECT 7 AS n")
    _kill_postmaster(data_dir)
    server.stop()
    assert (data_dir / "postgres" / "postmaster.pid").exists()
    with EmbeddedPostgres(data_dir) as again:
        assert _value(again.dsn, "SELECT n FROM kept") == 7


def test_a_pid_given_to_another_program_is_not_taken_for_postgres(data_dir: Path) -> None:
    server = EmbeddedPostgres(data_dir)
    server.start()
    _kill_postmaster(data_dir)
    server.stop()
    account = account_for(data_dir / "postgres")
    stranger = subprocess.Popen(["sleep", "600"], cwd=data_dir, **spawn_options(account))
    try:
        pid_file = data_dir / "postgres" / "postmaster.pid"
        lines = pid_file.read_text().splitlines()
        pid_file.write_text("\n".join([str(stranger.pid), *lines[1:]]) + "\n")
        with EmbeddedPostgres(data_dir) as again:
            assert _value(again.dsn, "SELECT 1") == 1
            assert _live(data_dir).pid != stranger.pid
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_the_pid_file_of_a_live_server_is_never_removed(data_dir: Path) -> None:
    with EmbeddedPostgres(data_dir):
        before = (data_dir / "postgres" / "postmaster.pid").read_bytes()
        postmaster.clear_reused(data_dir / "postgres")
        assert (data_dir / "postgres" / "postmaster.pid").read_bytes() == before


def test_a_backend_that_outlived_its_postmaster_does_not_block_the_start(data_dir: Path) -> None:
    server = EmbeddedPostgres(data_dir)
    dsn = server.start()
    with psycopg.connect(dsn) as connection:
        stuck = connection.info.backend_pid
        os.kill(stuck, signal.SIGSTOP)  # it cannot notice that its postmaster is gone
        _kill_postmaster(data_dir)
        server.stop()
        with EmbeddedPostgres(data_dir) as again:
            assert _value(again.dsn, "SELECT 1") == 1
            assert not psutil.pid_exists(stuck)
        connection.close()


def test_a_second_server_on_the_same_folder_is_told_who_has_it(data_dir: Path, supervise: Supervise) -> None:
    child = supervise(data_dir)
    dsn = _dsn(child)
    running = _live(data_dir)
    with pytest.raises(DataDirInUseError, match=rf"pid {child.pid}\b.*--data-dir") as refused:
        EmbeddedPostgres(data_dir).start()
    assert refused.value.code == "data_dir_in_use"
    assert running.is_alive()
    assert running_dsn(data_dir) == dsn
    assert _finish(child) == 0
    with EmbeddedPostgres(data_dir) as server:
        assert _value(server.dsn, "SELECT 1") == 1
    assert running_dsn(data_dir) is None


def test_an_interrupted_first_start_is_redone(data_dir: Path, supervise: Supervise) -> None:
    child = supervise(data_dir)
    _eventually(lambda: any(data_dir.glob("postgres.new-*/global")))
    child.kill()
    child.wait(10)
    assert not (data_dir / "postgres").exists()
    with EmbeddedPostgres(data_dir) as server:
        assert _value(server.dsn, "SELECT 1") == 1
    assert not list(data_dir.glob("postgres.new-*"))


def test_a_terminal_interrupt_does_not_reach_postgres(data_dir: Path, supervise: Supervise) -> None:
    child = supervise(data_dir)
    dsn = _dsn(child)
    assert os.getsid(_live(data_dir).pid) != os.getsid(child.pid)
    assert os.getpgid(_live(data_dir).pid) != os.getpgid(child.pid)
    assert _value(dsn, "SELECT 1") == 1
    assert _finish(child) == 0


async def test_the_watch_restarts_a_killed_postgres_on_its_port_and_the_pool_recovers(data_dir: Path) -> None:
    async with EmbeddedPostgres(data_dir) as server:
        watching = asyncio.create_task(server.watch(interval_s=0.2))
        pool = await open_pool(server.dsn, PoolOptions(min_size=2, max_size=4))
        database = PooledDatabase(pool)
        await database.execute("CREATE TABLE kept AS SELECT 7 AS n")
        _kill_postmaster(data_dir)
        async with asyncio.timeout(30):
            while server.restarts == 0:
                await asyncio.sleep(0.01)
            answers = 0
            while answers < 5:
                try:
                    assert await database.row("SELECT n FROM kept") == {"n": 7}
                    answers += 1
                except DatabaseUnavailableError:
                    await asyncio.sleep(0.01)
        assert server.restarts == 1
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        await pool.close()


async def test_the_watch_leaves_a_stopped_server_alone(data_dir: Path) -> None:
    async with EmbeddedPostgres(data_dir) as server:
        await asyncio.to_thread(server.stop)
        assert await asyncio.to_thread(server.revive) is False
        assert postmaster.find(data_dir / "postgres") is None


def test_variables_of_other_postgres_tools_do_not_matter(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"PGDATA": "/nowhere", "PGPORT": "1", "PGOPTIONS": "-c x=y", "LC_ALL": "xx_YY"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("PGOPTIONS")
    with EmbeddedPostgres(data_dir) as server:
        assert _value(server.dsn, "SHOW server_encoding") == "UTF8"


def test_a_folder_of_another_version_or_without_its_password_is_refused_with_advice(data_dir: Path) -> None:
    with EmbeddedPostgres(data_dir):
        pass
    version = data_dir / "postgres" / "PG_VERSION"
    kept = version.read_text()
    version.write_text("9\n")
    with pytest.raises(DataDirUnusableError, match="made by PostgreSQL 9"):
        EmbeddedPostgres(data_dir).start()
    version.write_text(kept)
    (data_dir / "postgres.password").unlink()
    with pytest.raises(DataDirUnusableError, match=r"postgres\.password is missing"):
        EmbeddedPostgres(data_dir).start()


def test_a_folder_that_is_not_a_cluster_is_left_as_it_is(data_dir: Path) -> None:
    (data_dir / "postgres").mkdir(parents=True)
    (data_dir / "postgres" / "letters.txt").write_text("mine")
    with pytest.raises(DataDirUnusableError, match="not a readable PostgreSQL cluster"):
        EmbeddedPostgres(data_dir).start()
    assert (data_dir / "postgres" / "letters.txt").read_text() == "mine"


def test_a_start_that_fails_shows_the_end_of_the_log_and_frees_the_folder(data_dir: Path) -> None:
    with EmbeddedPostgres(data_dir):
        pass
    (data_dir / "postgres" / "global" / "pg_control").unlink()
    with pytest.raises(EmbeddedStartError, match="could not find the database system"):
        EmbeddedPostgres(data_dir).start()
    with pytest.raises(EmbeddedStartError):
        EmbeddedPostgres(data_dir).start()


def test_an_account_may_enter_only_where_every_folder_lets_it_pass(tmp_path: Path) -> None:
    stranger = Account(uid=4242, gid=4242)
    (tmp_path / "open").mkdir(mode=0o755)
    assert stranger.may_enter(Path("/"))
    tmp_path.chmod(0o700)
    assert not stranger.may_enter(tmp_path / "open")


def test_a_port_taken_by_somebody_else_is_not_fatal(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        offered = iter([taken.getsockname()[1]])
        free = embedded_postgres.free_port
        monkeypatch.setattr(embedded_postgres, "free_port", lambda: next(offered, None) or free())
        with EmbeddedPostgres(data_dir) as server:
            assert str(taken.getsockname()[1]) not in server.dsn
            assert _value(server.dsn, "SELECT 1") == 1
