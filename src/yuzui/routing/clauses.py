"""Clauses: how far a negation or a question reaches (R-ROUTE-04)."""

import re

_BOUNDARY = re.compile(
    r"(?:[。;!?\n]|——|(?<!\d),|,(?!\d)|\.(?![0-9a-z_]))+\s*"
    r"|(?P<connector>但是|但(?!凡)|不过(?![敏来去关期度量滤瘾])|可是|然而|而是|而且|并且|然后|接着|同时|另外"
    r"|(?<!不要)(?<![别不])只(?=[看查读])"
    r"|(?<![a-z])(?:but|however|and\s+then|then|instead)(?![a-z]))"
)


def clauses(matching: str) -> tuple[tuple[int, int], ...]:
    """The spans (start, end) of the clauses of a matching copy, in order and without gaps.

    A clause ends after its punctuation, or before a connector such as 但是 or "but". A comma or full stop inside a number
    or an id ends nothing.
    """
    cuts = [found.start("connector") if found["connector"] else found.end() for found in _BOUNDARY.finditer(matching)]
    ends = [cut for cut in dict.fromkeys(cuts) if 0 < cut < len(matching)]
    return tuple(zip([0, *ends], [*ends, len(matching)], strict=True))


def covering(spans: tuple[tuple[int, int], ...], start: int, end: int) -> tuple[int, int]:
    """The span from the beginning of the clause where `start` lies to the end of the clause that holds the character before `end`."""
    first = max(left for left, _ in spans if left <= start)
    last = min(right for _, right in spans if right >= end)
    return first, last
