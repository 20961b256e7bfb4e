"""What PostgreSQL's errors mean to a caller: a closed set of platform errors with stable codes."""

from collections.abc import Generator
from contextlib import contextmanager

import psycopg
from psycopg import errors as pg
from psycopg_pool import PoolClosed, PoolTimeout

from yuzui.errors import ConflictError, DatabaseUnavailableError, InvalidInputError, YuzuiError


class DuplicateError(ConflictError):
    """There is such an object already."""


class BrokenReferenceError(ConflictError):
    """The object is still referred to, or refers to one that does not exist."""

    code = "broken_reference"


class TransactionConflictError(ConflictError):
    """Another transaction was in the way; nothing was written."""

    code = "transaction_conflict"
    retryable = True


class RuleViolatedError(InvalidInputError):
    """A value breaks a rule of the database."""

    code = "rule_violated"


class BadValueError(InvalidInputError):
    """A value is out of range or not valid for its column."""

    code = "bad_value"


class StatementTimeoutError(DatabaseUnavailableError):
    """The database did not finish the statement in time."""

    code = "statement_timeout"


class CommitUncertainError(YuzuiError):
    """The connection was lost while committing; whether the change was stored is not known."""

    code = "commit_uncertain"
    status = 503


class PostgresTooOldError(YuzuiError):
    """The PostgreSQL server is older than the platform needs."""

    code = "postgres_too_old"
    status = 503


_KINDS: tuple[tuple[type[Exception], type[YuzuiError]], ...] = (  # the first match counts: subclasses come first
    (pg.UniqueViolation, DuplicateError),
    (pg.ExclusionViolation, DuplicateError),
    (pg.ForeignKeyViolation, BrokenReferenceError),
    (pg.RestrictViolation, BrokenReferenceError),
    (psycopg.IntegrityError, RuleViolatedError),
    (pg.SerializationFailure, TransactionConflictError),
    (pg.DeadlockDetected, TransactionConflictError),
    (pg.QueryCanceled, StatementTimeoutError),
    (pg.LockNotAvailable, StatementTimeoutError),
    (pg.ReadOnlySqlTransaction, DatabaseUnavailableError),  # the old primary after a fail-over
    (pg.IdleInTransactionSessionTimeout, DatabaseUnavailableError),
    (psycopg.OperationalError, DatabaseUnavailableError),
    (psycopg.InterfaceError, DatabaseUnavailableError),
    (PoolTimeout, DatabaseUnavailableError),
    (PoolClosed, DatabaseUnavailableError),
    (psycopg.DataError, BadValueError),
)


@contextmanager
def translated() -> Generator[None]:
    """Raise the platform's error for a psycopg error of the block; a fault of the SQL itself passes as it is."""
    try:
        yield
    except psycopg.Error as error:
        known = translate(error)
        if known is None:
            raise
        raise known from error


def translate(error: psycopg.Error) -> YuzuiError | None:
    """The platform's error for a psycopg error, or None for a fault of the SQL. No value of a row is in the message."""
    if isinstance(error, pg.DivisionByZero):
        return None
    kind = next((kind for cause, kind in _KINDS if isinstance(error, cause)), None)
    if kind is None:
        return None
    rule = error.diag.constraint_name or error.diag.column_name
    title = (kind.__doc__ or "").strip().splitlines()[0]
    return kind(f"{title} ({rule})" if rule else None)
