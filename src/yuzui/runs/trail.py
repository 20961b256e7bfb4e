"""One run's audit in its public form (R-AUD-01)."""

from collections.abc import Mapping, Sequence
from typing import Any

_MODEL_CALL = ("purpose", "model", "tokens_in", "tokens_out", "ms", "cost", "outcome")
_TOOL_CALL = ("key", "tool", "effect", "arguments", "outcome", "ms", "reused")
_CONFIRMATION = ("action_id", "by", "at", "decision")


def trail(
    run_id: str, entries: Sequence[tuple[str, Mapping[str, Any]]], chain: tuple[str | None, str | None]
) -> dict[str, Any]:
    """The public audit object from `(kind, data)` entries in order; `chain` is the first and the last hash, when sealed."""
    by_kind: dict[str, list[Mapping[str, Any]]] = {}
    for kind, data in entries:
        by_kind.setdefault(kind, []).append(data)
    routes, policies = by_kind.get("route", []), by_kind.get("policy", [])
    calls = by_kind.get("model_call", [])
    hashes = [call["prompt_hash"] for call in calls if call.get("prompt_hash")]
    return {
        "run_id": run_id,
        "route": routes[-1] if routes else None,
        "policy": policies[-1] if policies else None,
        "catalog_version": policies[-1].get("catalog_version") if policies else None,
        "prompt_hash": hashes[-1] if hashes else None,
        "model_calls": [{"n": n, **_picked(call, _MODEL_CALL)} for n, call in enumerate(calls, start=1)],
        "tool_calls": [_picked(call, _TOOL_CALL) for call in by_kind.get("tool_call", [])],
        "confirmations": [_picked(entry, _CONFIRMATION) for entry in by_kind.get("confirmation", [])],
        "chain": {"first": chain[0], "last": chain[1]},
    }


def _picked(data: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: data.get(name) for name in names}
