"""What people say about answers; routing reports read it (R-ROUTE-11)."""

from dataclasses import dataclass
from typing import Literal, Protocol

from yuzui.owner import Caller


@dataclass(frozen=True, kw_only=True, slots=True)
class Feedback:
    """What a person said about an answer. `rating` is 1 (good) or -1 (bad); `correct_intent` names what was meant."""

    rating: Literal[-1, 1]
    comment: str
    correct_intent: str | None


class FeedbackStore(Protocol):
    """Keeps feedback. Above: HTTP. Below: PostgreSQL, or memory in tests."""

    async def add(self, caller: Caller, run_id: str, feedback: Feedback) -> None:
        """Store it; the later word about one run counts. `NotFoundError` for another owner's run."""
        ...
