"""The idempotency ledger: a durable claim per side-effecting call (IDEM)."""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

from yuzui.owner import Owner
from yuzui.runs.database import Database

ClaimState: TypeAlias = Literal["claimed", "done", "failed", "uncertain"]


@dataclass(frozen=True, kw_only=True, slots=True)
class LedgerEntry:
    """What is known of a call. `fresh` is True for the one caller who may execute it now."""

    key: str
    state: ClaimState
    fresh: bool
    result: dict[str, Any] | None


class ClaimLedger(Protocol):
    """Durable claims. Above: the gateway. Below: PostgreSQL, or memory in tests."""

    async def claim(
        self, *, key: str, run_id: str, tool: str, owner: Owner, arguments: dict[str, Any], token: str
    ) -> LedgerEntry:
        """Claim a key before an external effect. An earlier unfinished claim whose holder is gone comes back as `uncertain`."""
        ...

    async def settle(self, key: str, *, state: ClaimState, result: dict[str, Any] | None) -> None:
        """Record what became of it."""
        ...

    def transaction(
        self, *, key: str, run_id: str, tool: str, owner: Owner, arguments: dict[str, Any]
    ) -> AbstractAsyncContextManager["LedgerTransaction"]:
        """One transaction that holds both the ledger row and the write; leaving it normally commits both (exactly once)."""
        ...


class LedgerTransaction(Protocol):
    """The open transaction of a transactional write."""

    @property
    def db(self) -> Database:
        """The database, bound to the transaction."""
        ...

    @property
    def earlier(self) -> LedgerEntry | None:
        """The settled entry of an earlier execution with this key, when there was one: reuse it, do not write."""
        ...

    async def done(self, result: dict[str, Any]) -> None:
        """Put the result into the ledger row."""
        ...
