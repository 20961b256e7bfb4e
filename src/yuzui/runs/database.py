"""The database as an app sees it: named parameters in, dictionaries out."""

from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol


class Database(Protocol):
    """Rows by SQL with `%(name)s` parameters. Above: services of apps. Below: the pool, or one open transaction.

    Errors: `ConflictError` for a violated constraint, `DatabaseUnavailableError` (retryable) for a lost connection.
    """

    async def rows(self, sql: str, /, **params: Any) -> list[dict[str, Any]]:
        """All rows of a statement."""
        ...

    async def row(self, sql: str, /, **params: Any) -> dict[str, Any] | None:
        """The first row, or None."""
        ...

    async def execute(self, sql: str, /, **params: Any) -> int:
        """Run a statement; the number of rows it touched."""
        ...

    def transaction(self) -> AbstractAsyncContextManager["Database"]:
        """A transaction (a savepoint inside one); an exception rolls it back."""
        ...
