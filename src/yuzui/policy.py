"""Execution policies: how a validated route may run. Immutable, hashed, stored with the run (POL).

An app declares one of three per intent; `compile_policy` turns a route and a declaration into the `CompiledPolicy` that
the run carries. A `WriteTool` cannot be given where reads are asked for: it is a type error and refused at run time.
"""

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from yuzui.budget import Budget
from yuzui.errors import DeclarationError
from yuzui.tools.tool import ReadTool, WriteTool

Mode: TypeAlias = Literal["direct_read", "confirmation_required", "bounded_react"]
Plan: TypeAlias = Literal["DIRECT", "SEQUENTIAL", "PARALLEL"]


def _reads(tools: Sequence[object], where: str) -> None:
    for tool in tools:
        if not isinstance(tool, ReadTool):
            raise DeclarationError(f"{where} takes read tools; {getattr(tool, 'name', tool)!r} is not one")


@dataclass(frozen=True, slots=True)
class DirectRead:
    """Facts without a model: one read tool, its arguments taken from the route (R-POL-02).

    `arguments` maps the message's captured slots and targets to tool arguments; `requires` names fields the result must
    have (postcondition); `explain` allows an optional, degradable wording by a model.
    """

    tool: ReadTool
    arguments: Callable[[Mapping[str, str]], dict[str, Any]] | None = field(default=None, kw_only=True)
    requires: tuple[str, ...] = field(default=(), kw_only=True)
    explain: bool = field(default=False, kw_only=True)
    render: Callable[..., str] | None = field(default=None, kw_only=True)
    seconds: float = field(default=15.0, kw_only=True)
    mode: Literal["direct_read"] = field(default="direct_read", init=False)

    def __post_init__(self) -> None:
        _reads((self.tool,), "DirectRead")


@dataclass(frozen=True, slots=True)
class Confirm:
    """A two-phase write: the policy creates a pending action and stops (R-POL-03).

    `arguments` builds the draft from the slots; returning None means the message lacks what the write needs: clarify.
    """

    tool: WriteTool
    arguments: Callable[..., Any] | None = field(default=None, kw_only=True)
    question: Mapping[str, str] = field(default_factory=dict[str, str], kw_only=True)
    seconds: float = field(default=30.0, kw_only=True)
    mode: Literal["confirmation_required"] = field(default="confirmation_required", init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.tool, WriteTool):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without types
            raise DeclarationError(f"Confirm takes a write tool; {getattr(self.tool, 'name', self.tool)!r} is not one")


@dataclass(frozen=True, slots=True)
class BoundedReact:
    """A model chooses among reads, within a budget (R-POL-04). `may_propose` offers writes as drafts only.

    `review(ctx, text)` checks a model's answer against facts by code; what it returns is added to the answer. Whether the
    answer is grounded is another question.
    """

    tools: Sequence[ReadTool] = ()
    must_use: Sequence[ReadTool] = field(default=(), kw_only=True)
    may_propose: Sequence[WriteTool] = field(default=(), kw_only=True)
    budget: Budget = field(default_factory=Budget, kw_only=True)
    degraded: Mapping[str, str] = field(default_factory=dict[str, str], kw_only=True)
    review: Callable[..., Awaitable[str | None]] | None = field(default=None, kw_only=True)
    mode: Literal["bounded_react"] = field(default="bounded_react", init=False)

    def __post_init__(self) -> None:
        _reads(self.tools, "BoundedReact(tools=…)")
        _reads(self.must_use, "BoundedReact(must_use=…)")
        missing = [t.name for t in self.must_use if t not in self.tools]
        if missing:
            raise DeclarationError(f"must_use holds tools that are not in tools: {', '.join(missing)}")
        for tool in self.may_propose:
            if not isinstance(tool, WriteTool):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without types
                raise DeclarationError("BoundedReact(may_propose=…) takes write tools")


Policy: TypeAlias = DirectRead | Confirm | BoundedReact


@dataclass(frozen=True, kw_only=True, slots=True)
class CompiledPolicy:
    """What the run may do: the public, hashed form of a policy for one route."""

    intent: str
    mode: Mode
    tools: tuple[str, ...]
    required_tools: tuple[str, ...]
    proposals: tuple[str, ...]
    budget: Budget
    plan: Plan
    postconditions: tuple[str, ...]
    policy_hash: str = field(init=False)
    """SHA-256 of the canonical public form, 16 hex digits."""

    def __post_init__(self) -> None:
        text = json.dumps(self.public(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        object.__setattr__(self, "policy_hash", hashlib.sha256(text.encode()).hexdigest()[:16])

    def public(self) -> dict[str, Any]:
        """The JSON form in `policy.compiled`, without hash and catalog version."""
        return {
            "intent": self.intent,
            "mode": self.mode,
            "tools": list(self.tools),
            "required_tools": list(self.required_tools),
            "proposals": list(self.proposals),
            "budget": {
                "model_calls": self.budget.model_calls,
                "tool_calls": self.budget.tool_calls,
                "rewrites": self.budget.rewrites,
                "deadline_s": self.budget.seconds,
            },
            "plan": self.plan,
            "postconditions": list(self.postconditions),
        }


def compile_policy(intent: str, policy: Policy, *, plan: Plan = "DIRECT", narrowed: bool = False) -> CompiledPolicy:
    """Compile a declared policy for one route. `narrowed` (injection flag, clarification) drops every proposal (R-SAFE-04, R-POL-05)."""
    match policy:
        case DirectRead():
            budget = Budget(model_calls=1, tool_calls=1, seconds=policy.seconds)
            return CompiledPolicy(
                intent=intent,
                mode=policy.mode,
                tools=(policy.tool.name,),
                required_tools=(policy.tool.name,),
                proposals=(),
                budget=budget,
                plan=plan,
                postconditions=tuple(f"result.{name}" for name in policy.requires),
            )
        case Confirm():
            budget = Budget(model_calls=1, tool_calls=1, seconds=policy.seconds)
            return CompiledPolicy(
                intent=intent,
                mode=policy.mode,
                tools=(),
                required_tools=(),
                proposals=() if narrowed else (policy.tool.name,),
                budget=budget,
                plan=plan,
                postconditions=("pending_action",),
            )
        case BoundedReact():
            required = tuple(sorted(t.name for t in policy.must_use))
            return CompiledPolicy(
                intent=intent,
                mode=policy.mode,
                tools=tuple(sorted(t.name for t in policy.tools)),
                required_tools=required,
                proposals=() if narrowed else tuple(sorted(t.name for t in policy.may_propose)),
                budget=policy.budget,
                plan=plan,
                postconditions=tuple(f"called.{name}" for name in required),
            )
