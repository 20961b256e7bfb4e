"""Where a figure comes from (PROV). The code path that produced a value stamps it; a model's own claim is ignored."""

from dataclasses import dataclass
from typing import Generic, Literal, TypeAlias, TypeVar

Provenance: TypeAlias = Literal["mcp_exact", "mcp_derived", "llm_estimate"]
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Stamped(Generic[T]):
    """A value with its provenance and the source's name."""

    value: T
    provenance: Provenance
    source: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ProvenanceNote:
    """One line of `message.completed.provenance`: what was stamped, how, and from where."""

    subject: str
    provenance: Provenance
    source: str
