"""The cluster on disk: made once, completely or not at all, with a password that only this data directory knows."""

import os
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from yuzui.adapters.embedded.account import Account, account_for, give, spawn_options
from yuzui.adapters.embedded.binaries import major_version, programs
from yuzui.adapters.embedded.errors import DataDirUnusableError, EmbeddedStartError

USER = "yuzui"
DATABASE = "yuzui"
_LEFTOVER_PATIENCE_S = 5.0

# Nothing of the caller's environment reaches PostgreSQL: PGDATA, PGOPTIONS or a locale there would change what it does.
ENVIRONMENT = {"LC_ALL": "C.UTF-8", "TZ": "UTC", "PATH": os.defpath}


@dataclass(frozen=True, kw_only=True, slots=True)
class Cluster:
    """A complete cluster: `path` is its folder, `bin_dir` its programs, `account` who runs it (None: this user)."""

    path: Path
    bin_dir: Path
    account: Account | None
    password: str

    def dsn(self, port: int, database: str = DATABASE) -> str:
        """The address of the cluster's server when it listens on `port`."""
        return dsn_for(self.password, port, database)


def dsn_for(password: str, port: int, database: str = DATABASE) -> str:
    """The address of an embedded server."""
    return f"postgresql://{USER}:{password}@127.0.0.1:{port}/{database}"


def prepare(data_dir: Path) -> Cluster:
    """The cluster under `data_dir`, made first if there is none. The caller holds the data directory's lock.

    `initdb` works in a folder of its own that gets the final name when it is complete, so a killed one is simply redone.
    Raises `DataDirUnusableError` for a folder of another version, without its password or not a cluster at all.
    """
    path = data_dir / "postgres"
    account = account_for(path)
    bin_dir = programs(data_dir, account)
    for leftover in data_dir.glob("postgres.new-*"):
        _remove(leftover)
    if path.is_dir() and not any(path.iterdir()):
        path.rmdir()
    password_file = data_dir / "postgres.password"
    if not path.exists():
        _initialise(path, bin_dir, account, _new_password(password_file))
    _check(path, password_file)
    if account is not None and path.stat().st_uid == 0:
        give(account, path)
    return Cluster(path=path, bin_dir=bin_dir, account=account, password=password_file.read_text("utf-8").strip())


@contextmanager
def reachable(path: Path, account: Account | None) -> Generator[tuple[str, tuple[int, ...]]]:
    """A name under which the account reaches a folder that it owns, and the descriptors a child needs for that name.

    Below a private folder (`/root`) the account cannot follow the path, but a child that inherits the open folder can
    name it by its descriptor; so neither the data nor any permission has to move.
    """
    if account is None or account.may_enter(path.parent):
        yield str(path), ()
        return
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{fd}", (fd,)
    finally:
        os.close(fd)


def _check(path: Path, password_file: Path) -> None:
    try:
        found = (path / "PG_VERSION").read_text("utf-8").strip()
    except OSError as error:
        raise DataDirUnusableError(
            f"{path} is not a readable PostgreSQL cluster ({error.strerror}). "
            "Run as the user who made it, or move the folder away to start afresh."
        ) from error
    expected = major_version()
    if found != expected:
        raise DataDirUnusableError(
            f"{path} was made by PostgreSQL {found}; these programs are version {expected}. Dump it with the former "
            "version of this package and restore it into a new data directory."
        )
    try:
        readable = bool(password_file.read_text("utf-8").strip())
    except OSError:
        readable = False
    if not readable:
        raise DataDirUnusableError(f"{password_file} is missing or unreadable; restore it from a backup.")


def _remove(leftover: Path) -> None:
    """Remove what an interrupted `initdb` left. It may still be writing for a moment: it ends at its next line of output,
    which nobody reads any more. What cannot be removed now is left to a later start; nothing uses it.
    """
    deadline = time.monotonic() + _LEFTOVER_PATIENCE_S
    while leftover.exists():
        shutil.rmtree(leftover, ignore_errors=True)
        if time.monotonic() > deadline:
            return
        time.sleep(0.02)


def _new_password(file: Path) -> str:
    if file.exists() and (kept := file.read_text("utf-8").strip()):
        return kept  # an earlier start was interrupted before it had made the cluster
    password = secrets.token_urlsafe(24)
    fd = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(fd, "w", encoding="utf-8") as stream:
        stream.write(password + "\n")
        stream.flush()
        os.fsync(stream.fileno())
    return password


def _initialise(path: Path, bin_dir: Path, account: Account | None, password: str) -> None:
    unfinished = Path(tempfile.mkdtemp(prefix="postgres.new-", dir=path.parent))
    give(account, unfinished)
    with tempfile.TemporaryFile(dir=path.parent) as secret, reachable(unfinished, account) as (name, descriptors):
        if account is not None:
            os.fchown(secret.fileno(), account.uid, account.gid)
        secret.write(password.encode() + b"\n")
        secret.seek(0)
        command = [
            *(str(bin_dir / "initdb"), "-D", name, "-U", USER, "-A", "scram-sha-256"),
            *(f"--pwfile=/dev/fd/{secret.fileno()}", "-E", "UTF8", "--locale=C.UTF-8"),
            # The built-in provider keeps indexes valid when the system's C library changes its collation.
            *("--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
        ]
        result = subprocess.run(  # noqa: S603 - our own program, no word of it from a user
            command,
            cwd="/",
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(secret.fileno(), *descriptors),
            start_new_session=True,
            check=False,
            **spawn_options(account),
        )
    if result.returncode != 0:
        shutil.rmtree(unfinished, ignore_errors=True)
        output = result.stdout.decode("utf-8", "replace").strip()
        raise EmbeddedStartError(f"initdb failed (status {result.returncode}): {output[-1500:]}")
    os.rename(unfinished, path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
