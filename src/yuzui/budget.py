"""Limits of one run: calls, rewrites and one monotonic deadline (R-FENCE-01, R-POL-07)."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from yuzui.errors import DeadlineExceededError

BudgetName: TypeAlias = Literal["model_calls", "tool_calls", "rewrites", "deadline", "repeat"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget:
    """What a run may spend. `model_calls`, `tool_calls` and `rewrites` are counts, `seconds` is wall time.

    The last of `model_calls` is offered no tools (R-FENCE-04), so at most `model_calls - 1` tool rounds happen.
    """

    model_calls: int = 4
    tool_calls: int = 6
    rewrites: int = 0
    seconds: float = 120.0

    def __post_init__(self) -> None:
        if self.model_calls < 1 or self.tool_calls < 0 or self.rewrites < 0 or self.seconds <= 0:
            raise ValueError("a budget is at least one model call, no negative count and a positive time")


@dataclass(frozen=True, slots=True)
class Deadline:
    """A point on the monotonic clock. It is set once per run and never restarted by progress."""

    at: float
    clock: Callable[[], float] = time.monotonic

    @classmethod
    def after(cls, seconds: float, clock: Callable[[], float] = time.monotonic) -> "Deadline":
        """The deadline `seconds` from now."""
        return cls(clock() + seconds, clock)

    def remaining(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self.at - self.clock())

    def check(self) -> None:
        """Raise `DeadlineExceededError` when the time is up."""
        if self.remaining() <= 0:
            raise DeadlineExceededError

    def scope(self, limit: float | None = None) -> asyncio.Timeout:
        """An `asyncio.timeout` that ends with the deadline, or after `limit` seconds when that is sooner."""
        left = self.remaining()
        return asyncio.timeout(left if limit is None else min(left, limit))


@dataclass(kw_only=True, slots=True)
class Meter:
    """What one run has spent of its budget. Reserve before the call; a reservation is never given back (R-FENCE-01)."""

    budget: Budget
    deadline: Deadline
    model_calls: int = 0
    tool_calls: int = 0
    rewrites: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    context: dict[str, int] = field(default_factory=dict[str, int])

    def reserve_model(self) -> bool:
        """Reserve one model call; False when none is left."""
        if self.model_calls >= self.budget.model_calls:
            return False
        self.model_calls += 1
        return True

    def reserve_tool(self) -> bool:
        """Reserve one tool call; False when none is left."""
        if self.tool_calls >= self.budget.tool_calls:
            return False
        self.tool_calls += 1
        return True

    def reserve_rewrite(self) -> bool:
        """Reserve one query rewrite; False when none is left."""
        if self.rewrites >= self.budget.rewrites:
            return False
        self.rewrites += 1
        return True

    @property
    def last_model_call(self) -> bool:
        """True when the next model call is the last one permitted."""
        return self.model_calls + 1 >= self.budget.model_calls

    @property
    def tools_left(self) -> int:
        """Tool calls that may still be reserved."""
        return self.budget.tool_calls - self.tool_calls
