"""What must not be shown: secrets in text, arguments a tool declares private (R-SAFE-03, R-TOOL-06)."""

import re
from typing import Any

from yuzui.model.json_values import is_items, is_mapping

MASK = "[secret]"
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
        r"(?i)(?<![A-Za-z0-9])(?:bearer|basic)\s+[A-Za-z0-9._~+/=-]{12,}",
        r"(?<![A-Za-z0-9])(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}",
        r"(?<![A-Za-z0-9])(?:ghp|gho|ghs|ghu|github_pat|glpat|xox[abprs])[-_][A-Za-z0-9_-]{16,}",
        r"(?<![A-Za-z0-9])AKIA[0-9A-Z]{16}(?![A-Za-z0-9])",
        r"(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
        r"(?<=://)[^\s/:@]+:[^\s/@]+(?=@)",
        r"(?i)(?<![A-Za-z0-9])(?:password|passwd|pwd|secret|api[_-]?key|access[_-]?token|密码|口令|密钥)[\"']?\s*(?:[=:：]|是|为)\s*[\"']?[^\s\"'，。,;；]{4,}",
    )
)
# A text without any of these holds nothing that a pattern could match; most texts are such, and pay for no pattern.
_SIGNS = (
    "-----begin", "bearer", "basic", "sk-", "pk-", "rk-", "ghp", "gho", "ghs", "ghu", "github_pat", "glpat", "xox", "akia",
    "eyj", "://", "passw", "pwd", "secret", "key", "token", "密码", "口令", "密钥",
)  # fmt: skip


def mask_secrets(text: str) -> tuple[str, int]:
    """The text with secrets replaced by a mark, and how many were replaced."""
    lowered = text.lower()
    if not any(sign in lowered for sign in _SIGNS):
        return text, 0
    count = 0
    for pattern in _PATTERNS:
        text, n = pattern.subn(MASK, text)
        count += n
    return text, count


def redact_text(text: str) -> str:
    """The text with secrets replaced."""
    return mask_secrets(text)[0]


def redact_arguments(value: Any, private: frozenset[str]) -> dict[str, Any]:
    """Arguments for public events: private fields masked by name, secrets masked in every string, at any depth."""
    cleaned = _clean(value, private)
    return dict(cleaned) if is_mapping(cleaned) else {"value": cleaned}


def _clean(value: Any, private: frozenset[str]) -> Any:
    if isinstance(value, str):
        return redact_text(value)
    if is_mapping(value):
        return {key: MASK if key in private else _clean(item, private) for key, item in value.items()}
    if is_items(value):
        return [_clean(item, private) for item in value]
    return value
