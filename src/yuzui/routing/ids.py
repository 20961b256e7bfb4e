"""Resource ids in a message: found and validated by the app's own formats (R-ROUTE-02)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from yuzui.errors import DeclarationError
from yuzui.routing.rules import ResourceId

_LITERAL_PREFIX = re.compile(r"[a-z][a-z0-9]*_")


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """The ids of one message by kind, in order, each once; and words that begin like an id but are none."""

    ids: Mapping[str, tuple[str, ...]]
    malformed: tuple[str, ...] = ()

    @property
    def targets(self) -> dict[str, str]:
        """Kinds of which the message names exactly one."""
        return {kind: ids[0] for kind, ids in self.ids.items() if len(ids) == 1}

    @property
    def ambiguous(self) -> dict[str, tuple[str, ...]]:
        """Kinds of which the message names several."""
        return {kind: ids for kind, ids in self.ids.items() if len(ids) > 1}


NOTHING_FOUND = Found(ids={})


class IdBook:
    """The id formats of one app. An id ends where an ASCII letter, digit, `_` or an inner `-` does not go on.

    The matching copy is NFKC and lower case, so full-width and upper-case forms are one id with the canonical form; 汉字
    next to it do not hide it (no `\\b`).
    """

    def __init__(self, formats: Sequence[ResourceId]) -> None:
        self._formats = {one.kind: _compiled(one) for one in formats}
        if len(self._formats) != len(formats):
            raise DeclarationError("two id formats have the same kind")
        prefixes = [found[0] for one in formats if (found := _LITERAL_PREFIX.match(one.pattern))]
        self._suspects = _bounded("(?:" + "|".join(map(re.escape, prefixes)) + ")[a-z0-9_-]*") if prefixes else None

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of targets, as declared."""
        return tuple(self._formats)

    def valid(self, kind: str, value: str) -> bool:
        """Whether `value` is a canonical id of that kind."""
        return kind in self._formats and self._formats[kind].fullmatch(value) is not None

    def find(self, matching: str) -> Found:
        """The ids of a matching copy. Two forms of one id count once."""
        if not self._formats:
            return NOTHING_FOUND
        ids: dict[str, tuple[str, ...]] = {}
        for kind, pattern in self._formats.items():
            if found := tuple(dict.fromkeys(match[0] for match in pattern.finditer(matching))):
                ids[kind] = found
        if self._suspects is None:
            return Found(ids=ids)
        known = {value for values in ids.values() for value in values}
        suspects = dict.fromkeys(match[0].rstrip("-") for match in self._suspects.finditer(matching))
        return Found(ids=ids, malformed=tuple(word for word in suspects if word not in known))


def _compiled(one: ResourceId) -> re.Pattern[str]:
    if not one.kind.isidentifier():
        raise DeclarationError(f"the kind of an id is an identifier, not {one.kind!r}")
    try:
        pattern = _bounded(f"(?:{one.pattern})")
    except re.error as error:
        raise DeclarationError(f"id format {one.kind!r} is not a regular expression: {error}") from error
    if pattern.groups or pattern.search(""):
        raise DeclarationError(f"id format {one.kind!r} must match something, and has no capturing groups")
    return pattern


def _bounded(source: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![a-z0-9_])(?<![a-z0-9_]-){source}(?!-?[a-z0-9_])", re.ASCII)
