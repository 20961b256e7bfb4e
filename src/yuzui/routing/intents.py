"""What the router must know of an intent; the app declares the rest."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from yuzui.owner import Locale
from yuzui.routing.rules import Rule

IntentMode: TypeAlias = Literal["direct_read", "confirmation_required", "bounded_react"]
THRESHOLD: Final = 0.6


@dataclass(frozen=True, kw_only=True, slots=True)
class RoutableIntent:
    """One intent as the router sees it.

    `needs` are target kinds it cannot do without. `threshold` is the confidence (0…1) below which a classifier's verdict
    becomes a question. `question` is asked then, or when a target is missing, by locale.
    """

    name: str
    description: str
    mode: IntentMode
    rules: tuple[Rule, ...] = ()
    examples: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    threshold: float = THRESHOLD
    question: Mapping[Locale, str] = field(default_factory=dict[Locale, str])

    @property
    def sentences(self) -> tuple[str, ...]:
        """Everything that this intent says a person might write for it."""
        return (*self.examples, *(sentence for rule in self.rules for sentence in rule.yes))
