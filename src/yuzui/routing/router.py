"""The router: rules first, a classifier for the rest, a question instead of a guess (ROUTE)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from yuzui.budget import Deadline
from yuzui.errors import DeclarationError
from yuzui.model.port import Model
from yuzui.owner import Locale
from yuzui.routing.clarify import (
    SEVERAL_INTENTS,
    SEVERAL_TARGETS,
    SUSPICIOUS,
    UNSURE,
    clause_message,
    intent_choices,
    missing_target,
    target_choices,
)
from yuzui.routing.classifier import CLASSIFY_SECONDS, Classifier, NoProposal, Proposal
from yuzui.routing.ids import Found, IdBook
from yuzui.routing.intents import RoutableIntent
from yuzui.routing.route import Option, Route, RouterInput
from yuzui.routing.rulebook import Rulebook, Verdict
from yuzui.routing.rules import ResourceId


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """A route and, for explanations, what the classifier said (None when it was not asked)."""

    route: Route
    classified: Proposal | NoProposal | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Candidate:
    """An intent that a layer settled on, before it is checked against targets and flags."""

    intent: RoutableIntent
    route: Route
    said: str = ""


class Router:
    """Routes the messages of one app. Built once, when the app loads; raises `DeclarationError` for what does not hold."""

    def __init__(
        self,
        app: str,
        intents: Sequence[RoutableIntent],
        ids: Sequence[ResourceId] = (),
        fallback: str = "chat",
        *,
        classify_seconds: float = CLASSIFY_SECONDS,
    ) -> None:
        self.app = app
        self.intents = {intent.name: intent for intent in intents}
        self.ids = IdBook(ids)
        self.rulebook = Rulebook(intents)
        self.fallback = fallback
        self._check()
        self._classifier = Classifier(app, intents, self.ids, fallback, seconds=classify_seconds)

    def decide_by_rules(self, request: RouterInput, locale: Locale) -> Route | None:
        """The route when screening or rules settle it, else None. Pure; microseconds (R-ROUTE-01)."""
        if request.blocked is not None:
            return Route(
                intent=None,
                confidence=1.0,
                source="blocked",
                blocked_reason=request.blocked.reason,
                flags=request.flags,
            )
        claims = self.rulebook.claims(request.matching)
        if not claims:
            return None
        found = self.ids.find(request.matching)
        if len({claim.rule.intent for claim in claims}) > 1:
            return self._mixed(request, claims, found, locale)
        first = claims[0]
        route = Route(
            intent=first.rule.intent,
            confidence=1.0,
            source="rule",
            rule_id=first.rule.id,
            targets=found.targets,
            slots=first.slots,
            flags=request.flags,
        )
        said = clause_message(request.matching, first.clause)
        candidate = _Candidate(intent=self.intents[first.rule.intent], route=route, said=said)
        return self._settled(candidate, request, found, locale)

    async def decide(self, request: RouterInput, locale: Locale, model: Model | None, deadline: Deadline) -> Route:
        """The route of a screened message. `model` None: rules only, the rest is the fallback intent (R-DEG-01)."""
        return (await self.decision(request, locale, model, deadline)).route

    async def decision(self, request: RouterInput, locale: Locale, model: Model | None, deadline: Deadline) -> Decision:
        """Like `decide`, with the classifier's verdict kept."""
        by_rules = self.decide_by_rules(request, locale)
        if by_rules is not None:
            return Decision(route=by_rules)
        found = self.ids.find(request.matching)
        if model is None:
            return Decision(route=self._fallback(request, found))
        proposal = await self._classifier.propose(request, found, model, deadline)
        if isinstance(proposal, NoProposal):
            return Decision(route=self._fallback(request, found), classified=proposal)
        return Decision(route=self._classified(proposal, request, found, locale), classified=proposal)

    def _classified(self, proposal: Proposal, request: RouterInput, found: Found, locale: Locale) -> Route:
        intent = self.intents[proposal.intent]
        route = Route(
            intent=intent.name,
            confidence=proposal.confidence,
            source="classifier",
            targets=found.targets,
            plan=proposal.plan if intent.mode == "bounded_react" else "DIRECT",
            flags=request.flags,
        )
        if proposal.needs_clarification or proposal.confidence < intent.threshold:
            others = [other for other in self.intents.values() if other is not intent]
            choices = intent_choices([intent, *others], self.ids, found, locale)
            return _ask(route, intent.question.get(locale) or UNSURE[locale], choices)
        return self._settled(_Candidate(intent=intent, route=route), request, found, locale)

    def _settled(self, candidate: _Candidate, request: RouterInput, found: Found, locale: Locale) -> Route:
        """The candidate's route, or the question that has to be answered first."""
        intent, route = candidate.intent, candidate.route
        acts = intent.mode != "bounded_react"
        for kind, ids in found.ambiguous.items():
            if acts or kind in intent.needs:
                question = SEVERAL_TARGETS[locale].format(names=_listed(ids, locale))
                return _ask(route, question, target_choices(request.matching, ids))
        missing = [kind for kind in intent.needs if kind not in found.targets]
        if missing:
            question = missing_target(intent, missing, self.ids, found, locale)
            without = [other for other in self.intents.values() if not other.needs]
            return _ask(route, question, intent_choices(without, self.ids, found, locale))
        if intent.mode == "confirmation_required" and "suspected_injection" in request.flags:
            sent_alone = (Option(label=candidate.said, message=candidate.said),) if candidate.said else ()
            return _ask(route, SUSPICIOUS[locale], sent_alone)
        return route

    def _mixed(self, request: RouterInput, claims: Sequence[Verdict], found: Found, locale: Locale) -> Route:
        """Several intents with equal right: ask, naming each by the person's own words where a clause tells them apart."""
        first: dict[str, Verdict] = {}
        for claim in sorted(claims, key=lambda claim: claim.start):
            first.setdefault(claim.rule.intent, claim)
        alone = {name: self._alone(request, claim, found, locale) for name, claim in first.items()}
        choices = tuple(option for option in alone.values() if option)
        names = [
            f"{option.label if option else clause_message(request.matching, first[name].clause)} ({name})"
            for name, option in alone.items()
        ]
        leading = next(iter(first.values()))
        route = Route(
            intent=leading.rule.intent,
            confidence=1.0,
            source="rule",
            rule_id=leading.rule.id,
            targets=found.targets,
            flags=request.flags,
        )
        return _ask(route, SEVERAL_INTENTS[locale].format(names=_listed(names, locale)), choices)

    def _alone(self, request: RouterInput, claim: Verdict, found: Found, locale: Locale) -> Option | None:
        """A message that asks for this claim's intent alone: its clause, the words that matched, or a sample."""
        for span in (claim.clause, (claim.start, claim.end)):
            message = clause_message(request.matching, span)
            claimed = {other.rule.intent for other in self.rulebook.claims(message)}
            needs = set(self.intents[claim.rule.intent].needs)
            if claimed == {claim.rule.intent} and needs <= self.ids.find(message).targets.keys():
                return Option(label=message, message=message)
        choices = intent_choices([self.intents[claim.rule.intent]], self.ids, found, locale)
        return choices[0] if choices else None

    def _fallback(self, request: RouterInput, found: Found) -> Route:
        return Route(
            intent=self.fallback, confidence=0.0, source="fallback", targets=found.targets, flags=request.flags
        )

    def _check(self) -> None:
        fallback = self.intents.get(self.fallback)
        if fallback is None:
            raise DeclarationError(f"app {self.app!r} has no intent {self.fallback!r} to fall back to")
        if fallback.mode == "confirmation_required" or fallback.needs:
            raise DeclarationError(f"the fallback intent {self.fallback!r} may neither write nor need a target")
        for intent in self.intents.values():
            if unknown := [kind for kind in intent.needs if kind not in self.ids.kinds]:
                raise DeclarationError(f"intent {intent.name!r} needs {', '.join(unknown)}, which no id format defines")
            if not 0 <= intent.threshold <= 1:
                raise DeclarationError(f"the threshold of intent {intent.name!r} is a number from 0 to 1")


def _ask(route: Route, question: str, choices: tuple[Option, ...]) -> Route:
    return replace(route, plan="DIRECT", needs_clarification=True, question=question, choices=choices)


def _listed(names: Sequence[str], locale: Locale) -> str:
    return ("、" if locale == "zh" else ", ").join(names)
