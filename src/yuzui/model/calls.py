"""The record of one model call, as the audit trail keeps it."""

from dataclasses import dataclass
from typing import Literal

from yuzui.model.port import Purpose


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelCallRecord:
    """One model call. `ms` is wall time; `prompt_hash` names the system prompt without holding it (R-AUD-01)."""

    purpose: Purpose
    model: str
    tokens_in: int
    tokens_out: int
    ms: int
    cost: float
    outcome: str
    prompt_hash: str = ""
    kind: Literal["model_call"] = "model_call"
