"""Port to the platform's database, as a tool function and an app's service see it."""

from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol


class Database(Protocol):
    """Runs SQL with named parameters. Above: apps' services, stores. Below: the pool, or one open transaction.

    SQL names its parameters `%(name)s`; a literal percent sign is written `%%`, with and without parameters. A `dict`
    parameter is sent as jsonb, a `list` as an array. Rows are dicts of column name → Python value.

    Errors: `ConflictError` (a unique, exclusion or foreign-key rule; two transactions in each other's way),
    `InvalidInputError` (a check or not-null rule, a value out of range), `DatabaseUnavailableError` (retryable). Any
    other database error is a fault of the SQL and passes as it is.
    """

    async def rows(self, sql: str, **params: Any) -> list[dict[str, Any]]:
        """Every row of the result; an empty list for a statement without a result."""
        ...

    async def row(self, sql: str, **params: Any) -> dict[str, Any] | None:
        """The first row, or None when there is none."""
        ...

    async def execute(self, sql: str, **params: Any) -> int:
        """Run a statement and return how many rows it touched (0 when the statement does not count rows)."""
        ...

    def transaction(self) -> "AbstractAsyncContextManager[Database]":
        """One transaction: commits when the block ends, rolls back when it raises. Inside another: a savepoint."""
        ...
