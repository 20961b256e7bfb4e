"""The compiled rules of one app: checked at load, applied in microseconds (R-ROUTE-01, R-ROUTE-03, R-ROUTE-04)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from yuzui.errors import DeclarationError
from yuzui.routing.clauses import clauses, covering
from yuzui.routing.intents import RoutableIntent
from yuzui.routing.readings import NEGATED, QUESTION_ABOUT, RETRACTED
from yuzui.routing.rules import Reading, Rule
from yuzui.tools.matching import matching_copy
from yuzui.tools.patterns import compile_pattern, refuse_slow

_RETRACTED = compile_pattern(RETRACTED)
_READINGS: dict[Reading, str] = {"question": QUESTION_ABOUT, "negated": NEGATED}
RULE_CHARS = 1_000


@dataclass(frozen=True, kw_only=True, slots=True)
class CompiledRule:
    """A rule ready to search. `unless` pairs each pattern with the name under which it is reported."""

    id: str
    intent: str
    priority: int
    pattern: re.Pattern[str]
    unless: tuple[tuple[str, re.Pattern[str]], ...]
    rule: Rule

    @property
    def retractable(self) -> bool:
        """Whether a message that ends by taking back what it said (算了, "never mind") takes this back too."""
        return any(name == "negated" for name, _ in self.unless)


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What one rule says about one message: where it matched and, when that does not count, which reading kept it out."""

    rule: CompiledRule
    start: int
    end: int
    clause: tuple[int, int]
    excluded_by: str | None
    slots: dict[str, str]


class Rulebook:
    """All rules of an app, best first. Raises `DeclarationError` when a rule breaks its own examples or claims another's."""

    def __init__(self, intents: Sequence[RoutableIntent]) -> None:
        compiled = [_compiled(rule, intent) for intent in intents for rule in intent.rules]
        names = [rule.id for rule in compiled]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise DeclarationError(f"two rules have the id {twice!r}")
        self._rules = tuple(sorted(compiled, key=lambda rule: -rule.priority))
        for rule in self._rules:
            self._check(rule)

    @property
    def rules(self) -> tuple[CompiledRule, ...]:
        """The rules, highest priority first, else as declared."""
        return self._rules

    def verdicts(self, matching: str) -> Iterator[Verdict]:
        """Every rule whose pattern is in the matching copy, best first, with what kept it out if anything did.

        Texts longer than `RULE_CHARS` are nobody's command: no rule speaks of them.
        """
        if len(matching) > RULE_CHARS:
            return
        spans: tuple[tuple[int, int], ...] = ()
        for rule in self._rules:
            found = rule.pattern.search(matching)
            if found is not None:
                spans = spans or clauses(matching)
                yield _verdict(rule, matching, found, spans)

    def claims(self, matching: str) -> tuple[Verdict, ...]:
        """The verdicts that count, of the highest priority that has any."""
        best: list[Verdict] = []
        for verdict in self.verdicts(matching):
            if best and verdict.rule.priority < best[0].rule.priority:
                break
            if verdict.excluded_by is None:
                best.append(verdict)
        return tuple(best)

    def _check(self, rule: CompiledRule) -> None:
        for example in rule.rule.yes:
            self._check_yes(rule, example)
        for example in rule.rule.no:
            matching = matching_copy(example)
            if any(verdict.rule is rule and verdict.excluded_by is None for verdict in self.verdicts(matching)):
                raise DeclarationError(f"rule {rule.id!r} matches its counter-example {example!r}")
        refuse_slow(rule.pattern, [matching_copy(example) for example in rule.rule.yes])
        for source in rule.rule.unless:
            if source not in _READINGS.values():
                refuse_slow(compile_pattern(source), [matching_copy(example) for example in rule.rule.yes])

    def _check_yes(self, rule: CompiledRule, example: str) -> None:
        matching = matching_copy(example)
        own = next((verdict for verdict in self.verdicts(matching) if verdict.rule is rule), None)
        if own is None:
            raise DeclarationError(f"rule {rule.id!r} does not match its example {example!r}")
        if own.excluded_by is not None:
            raise DeclarationError(
                f"rule {rule.id!r} does not claim its example {example!r}: the clause"
                f" {matching[slice(*own.clause)]!r} is kept out by {own.excluded_by!r}"
            )
        for verdict in self.claims(matching):
            if verdict.rule.intent != rule.intent:
                raise DeclarationError(
                    f"rules {rule.id!r} (intent {rule.intent!r}, priority {rule.priority}) and {verdict.rule.id!r}"
                    f" (intent {verdict.rule.intent!r}, priority {verdict.rule.priority}) both claim the example"
                    f" {example!r} of {rule.id!r}"
                )


def _compiled(rule: Rule, intent: RoutableIntent) -> CompiledRule:
    try:
        unless = [(source, compile_pattern(source)) for source in rule.unless]
        if intent.mode == "confirmation_required":
            unless += [(name, compile_pattern(text)) for name, text in _READINGS.items() if name not in rule.despite]
        pattern = compile_pattern(rule.pattern)
    except DeclarationError as error:
        raise DeclarationError(f"rule {rule.id!r} of intent {intent.name!r}: {error.detail}") from error
    names = {text: name for name, text in _READINGS.items()}
    return CompiledRule(
        id=rule.id or f"{intent.name}/{intent.rules.index(rule) + 1}",
        intent=intent.name,
        priority=rule.priority,
        pattern=pattern,
        unless=tuple((names.get(source, source), compiled) for source, compiled in unless),
        rule=rule,
    )


def _verdict(rule: CompiledRule, matching: str, found: re.Match[str], spans: tuple[tuple[int, int], ...]) -> Verdict:
    """The first occurrence that no reading keeps out, else the first.

    The readings hold for whole clauses: after an occurrence that is kept out, its own first clause is tried without the
    later ones it runs into, then the next clause.
    """
    first = _read(rule, matching, found, spans)
    verdict: Verdict | None = first
    while verdict is not None and verdict.excluded_by is not None:
        own_end = min(right for _, right in spans if right > verdict.start)
        shorter = rule.pattern.search(matching, verdict.start, own_end) if own_end < verdict.end else None
        if shorter and (again := _read(rule, matching, shorter, spans)).excluded_by is None:
            return again
        later = rule.pattern.search(matching, own_end) if own_end < len(matching) else None
        verdict = None if later is None else _read(rule, matching, later, spans)
    return verdict or first


def _read(rule: CompiledRule, matching: str, found: re.Match[str], spans: tuple[tuple[int, int], ...]) -> Verdict:
    clause = covering(spans, found.start(), found.end())
    text = matching[slice(*clause)].strip()
    return Verdict(
        rule=rule,
        start=found.start(),
        end=found.end(),
        clause=clause,
        excluded_by=next((name for name, pattern in rule.unless if pattern.search(text)), None)
        or ("retracted" if rule.retractable and _RETRACTED.search(matching, found.start()) else None),
        slots={name: value for name, value in found.groupdict().items() if value is not None},
    )
