"""What a contract test gets: the same ports over PostgreSQL and over memory."""

from dataclasses import dataclass

from yuzui.runs.actions import ActionStore
from yuzui.runs.audit import AuditReader
from yuzui.runs.claims import ClaimLedger
from yuzui.runs.log import EventReader, RunStore, SessionStore


@dataclass(frozen=True, kw_only=True, slots=True)
class Stores:
    """All durable ports of one database."""

    runs: RunStore
    events: EventReader
    sessions: SessionStore
    actions: ActionStore
    ledger: ClaimLedger
    audit: AuditReader
