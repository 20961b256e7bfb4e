"""Declarative rules: patterns with examples and counter-examples, checked when the app loads (R-ROUTE-01…04)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Reading: TypeAlias = Literal["question", "negated"]


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern that claims a message for its intent without a model.

    `pattern` is a regular expression searched in the NFKC, lower-cased, invisible-free copy of the message; named groups
    become slots. `unless` are patterns that keep the rule from matching in the same clause (questions about an action,
    negation: `QUESTION_ABOUT`, `NEGATED`). Rules of a confirmation intent have both readings as `unless` anyway; `despite`
    takes one away. `yes` must match and `no` must not: both are checked when the app loads. Higher `priority` wins; two
    rules of different intents that claim one example at the same priority make the app refuse to start, naming both. Two
    intents of equal priority in one message lead to a question, so a lower priority is for catch-alls only.
    """

    pattern: str
    yes: Sequence[str] = ()
    no: Sequence[str] = ()
    unless: Sequence[str] = ()
    priority: int = 0
    id: str = ""
    despite: Sequence[Reading] = ()


@dataclass(frozen=True, slots=True)
class ResourceId:
    """An id format of the app: `kind` names the target, `pattern` is the full match of one canonical (lower-case) id."""

    kind: str
    pattern: str
