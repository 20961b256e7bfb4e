"""What a tool function receives besides its arguments: the authenticated caller, never a parameter of the model."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Generic, TypeVar

from yuzui.owner import Caller, Owner
from yuzui.tools.database import Database
from yuzui.tools.mcp import McpServer

D = TypeVar("D")


@dataclass(frozen=True, kw_only=True, slots=True)
class Ctx(Generic[D]):
    """The context of one tool call or business request (R-TOOL-02).

    `deps` is the app's service object made for this call over `db`; inside a confirmed write `db` is the transaction that
    also holds the ledger row (R-IDEM-03). `idempotency_key` is set for writes.
    """

    caller: Caller
    deps: D
    db: Database
    now: datetime
    run_id: str | None = None
    idempotency_key: str | None = None
    servers: Callable[[str], McpServer] | None = None
    estimate: Callable[[str], Awaitable[str | None]] | None = None

    @property
    def owner(self) -> Owner:
        """The caller's scope; every query carries it."""
        return self.caller.owner

    @property
    def today(self) -> date:
        """The caller's local date."""
        return self.now.astimezone(self.caller.tz).date()


def utc_now() -> datetime:
    """The present moment in UTC, the only form in which times are stored."""
    return datetime.now(UTC)
