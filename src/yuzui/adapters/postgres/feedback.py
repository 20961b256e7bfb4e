"""Feedback about answers, in PostgreSQL."""

from pathlib import Path

from yuzui.errors import NotFoundError
from yuzui.owner import Caller
from yuzui.runs import queries
from yuzui.runs.feedback import Feedback
from yuzui.tools.database import Database
from yuzui.tools.redact import redact_text

_SQL = queries.load(Path(__file__).parent / "sql" / "feedback.sql")
_ADD = _SQL["add_feedback"]


class PostgresFeedback:
    """`FeedbackStore` over the pool."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, caller: Caller, run_id: str, feedback: Feedback) -> None:
        """See `FeedbackStore.add`. Secrets in the comment are masked (R-SAFE-03)."""
        row = await self._database.row(
            _ADD,
            run_id=run_id,
            tenant=caller.owner.tenant,
            user=caller.owner.user,
            rating=feedback.rating,
            comment=redact_text(feedback.comment),
            correct_intent=feedback.correct_intent,
        )
        if row is None:
            raise NotFoundError
