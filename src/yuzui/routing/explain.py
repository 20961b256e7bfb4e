"""Why a message is routed as it is: every layer's verdict, for `yuzui route explain` (R-ROUTE-11)."""

from dataclasses import asdict, dataclass
from typing import Any

from yuzui.budget import Deadline
from yuzui.model.port import Model
from yuzui.owner import Locale
from yuzui.routing.classifier import NoProposal, Proposal
from yuzui.routing.route import Route, RouterInput
from yuzui.routing.router import Router
from yuzui.routing.rulebook import Verdict


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleVerdict:
    """One rule whose pattern is in the message. `excluded_by` names the reading that kept it out, None when it counts."""

    rule_id: str
    intent: str
    priority: int
    matched: str
    clause: str
    slots: dict[str, str]
    excluded_by: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation:
    """What each layer said. `classifier` is `not asked`, a proposal in words, or the reason why there is none."""

    matching: str
    flags: tuple[str, ...]
    blocked_reason: str | None
    ids: dict[str, tuple[str, ...]]
    malformed_ids: tuple[str, ...]
    rules: tuple[RuleVerdict, ...]
    conflict: tuple[str, ...]
    classifier: str
    route: Route

    def public(self) -> dict[str, Any]:
        """The JSON form for `--json`."""
        return asdict(self)


async def explain(
    router: Router, request: RouterInput, locale: Locale, model: Model | None, deadline: Deadline
) -> Explanation:
    """Route a screened message and keep every layer's verdict."""
    decision = await router.decision(request, locale, model, deadline)
    found = router.ids.find(request.matching)
    claimed = router.rulebook.claims(request.matching)
    return Explanation(
        matching=request.matching,
        flags=tuple(request.flags),
        blocked_reason=None if request.blocked is None else request.blocked.reason,
        ids=dict(found.ids),
        malformed_ids=found.malformed,
        rules=tuple(_told(verdict, request.matching) for verdict in router.rulebook.verdicts(request.matching)),
        conflict=tuple(claim.rule.id for claim in claimed) if len({claim.rule.intent for claim in claimed}) > 1 else (),
        classifier=_classifier(decision.classified),
        route=decision.route,
    )


def _told(verdict: Verdict, matching: str) -> RuleVerdict:
    return RuleVerdict(
        rule_id=verdict.rule.id,
        intent=verdict.rule.intent,
        priority=verdict.rule.priority,
        matched=matching[verdict.start : verdict.end],
        clause=matching[slice(*verdict.clause)].strip(),
        slots=dict(verdict.slots),
        excluded_by=verdict.excluded_by,
    )


def _classifier(classified: Proposal | NoProposal | None) -> str:
    match classified:
        case None:
            return "not asked"
        case NoProposal():
            return f"no proposal: {classified.reason}"
        case Proposal():
            unsure = ", needs clarification" if classified.needs_clarification else ""
            return f"{classified.intent} ({classified.confidence:.2f}, {classified.plan}{unsure})"
