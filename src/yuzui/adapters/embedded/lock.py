"""One server for one data directory: an exclusive lock that dies with its holder."""

import fcntl
import os
from pathlib import Path

from yuzui.adapters.embedded.errors import DataDirInUseError, DataDirUnusableError

LOCK_NAME = "server.lock"


class DataDirLock:
    """`flock` on `<data_dir>/server.lock`. The kernel frees it when the holder dies, so it is never stale.

    The file stays behind; only the lock on it means anything. It holds the pid of its last holder, for messages.
    """

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / LOCK_NAME
        self._fd: int | None = None

    def acquire(self) -> None:
        """Take the lock or raise `DataDirInUseError` (with the holder's pid) at once; `DataDirUnusableError` when no lock
        can be had there at all.
        """
        if self._fd is not None:
            return
        try:
            fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise DataDirUnusableError(f"{self._path} cannot be opened: {error.strerror}.") from error
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(fd, 0)
            os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
        except BlockingIOError as error:
            holder = os.pread(fd, 32, 0).decode("utf-8", "replace").strip() or "unknown"
            os.close(fd)
            raise DataDirInUseError(
                f"Another server (pid {holder}) uses {self._path.parent}. Stop it (kill {holder}), "
                "or start this one with another --data-dir."
            ) from error
        except OSError as error:
            os.close(fd)
            raise DataDirUnusableError(f"{self._path} cannot be locked: {error.strerror}.") from error
        self._fd = fd

    def release(self) -> None:
        """Free the lock; harmless when it is not held."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
