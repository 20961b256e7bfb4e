"""The database port under the name tools know it by; it lives below the ledger that needs it."""

from yuzui.runs.database import Database

__all__ = ["Database"]
