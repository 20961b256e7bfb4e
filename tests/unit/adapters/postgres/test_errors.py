"""psycopg's errors become a closed set of platform errors."""

import psycopg
import pytest
from psycopg import errors as pg
from psycopg_pool import PoolClosed, PoolTimeout

from yuzui.adapters.postgres.errors import translate, translated
from yuzui.errors import ConflictError, DatabaseUnavailableError


@pytest.mark.parametrize(
    ("error", "code", "retryable"),
    [
        (pg.UniqueViolation(), "conflict", False),
        (pg.ExclusionViolation(), "conflict", False),
        (pg.ForeignKeyViolation(), "broken_reference", False),
        (pg.CheckViolation(), "rule_violated", False),
        (pg.NotNullViolation(), "rule_violated", False),
        (pg.SerializationFailure(), "transaction_conflict", True),
        (pg.DeadlockDetected(), "transaction_conflict", True),
        (pg.QueryCanceled(), "statement_timeout", True),
        (pg.LockNotAvailable(), "statement_timeout", True),
        (pg.AdminShutdown(), "database_unavailable", True),
        (pg.TooManyConnections(), "database_unavailable", True),
        (pg.ReadOnlySqlTransaction(), "database_unavailable", True),
        (psycopg.OperationalError(), "database_unavailable", True),
        (psycopg.InterfaceError(), "database_unavailable", True),
        (PoolTimeout(), "database_unavailable", True),
        (PoolClosed(), "database_unavailable", True),
        (pg.NumericValueOutOfRange(), "bad_value", False),
    ],
)
def test_each_kind_of_error_has_one_stable_code(error: psycopg.Error, code: str, retryable: bool) -> None:
    known = translate(error)
    assert known is not None
    assert (known.code, known.retryable) == (code, retryable)


@pytest.mark.parametrize("fault", [pg.UndefinedTable(), pg.SyntaxError(), pg.DivisionByZero()])
def test_a_fault_of_the_sql_passes_as_it_is(fault: psycopg.Error) -> None:
    with pytest.raises(type(fault)) as raised, translated():
        raise fault
    assert raised.value is fault


def test_what_is_translated_keeps_its_cause() -> None:
    cause = pg.UniqueViolation()
    with pytest.raises(ConflictError) as raised, translated():
        raise cause
    assert raised.value.__cause__ is cause


def test_a_platform_error_inside_the_block_passes_untouched() -> None:
    error = DatabaseUnavailableError("down")
    with pytest.raises(DatabaseUnavailableError) as raised, translated():
        raise error
    assert raised.value is error
