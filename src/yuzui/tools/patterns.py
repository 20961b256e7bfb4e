"""Patterns that an app declares: compiled once, refused when they cannot work or could hang (R-ROUTE-03)."""

import re
import time
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice, takewhile

from yuzui.errors import DeclarationError

SECONDS_PER_SEARCH = 0.05
_LENGTHS = (16, 19, 22, 25, 28, 40, 60, 90, 140, 210, 320, 480, 720, 1_100, 1_700, 2_600, 4_000, 6_000)
_TAIL = "\u0001"
_PUMPED_CHARACTERS = 12


@lru_cache(maxsize=1024)
def compile_pattern(source: str) -> re.Pattern[str]:
    """The pattern, blind to case, with full-width characters written as the matching copy has them.

    Raises `DeclarationError` for a pattern that is not a regular expression, uses `\\b` or `\\B`, or matches the empty text.
    """
    folded = "".join(_folded(character) for character in source)
    if re.search(r"(?<!\\)(?:\\\\)*\\[bB]", folded):
        raise DeclarationError(
            f"pattern {source!r} uses \\b, which sees no boundary between a letter and 汉字;"
            " write (?<![a-z0-9_]) before and (?![a-z0-9_]) after the word"
        )
    try:
        pattern = re.compile(folded, re.IGNORECASE)
    except re.error as error:
        raise DeclarationError(f"pattern {source!r} is not a regular expression: {error}") from error
    if pattern.search(""):
        raise DeclarationError(f"pattern {source!r} matches the empty text, so it would match everything")
    return pattern


def _folded(character: str) -> str:
    plain = unicodedata.normalize("NFKC", character)
    return character if plain == character else re.escape(plain)


def refuse_slow(pattern: re.Pattern[str], examples: Sequence[str], *, chars: int = 1_000) -> None:
    """Raise `DeclarationError` when a search takes too long on a text of up to `chars` characters that repeats itself.

    The texts grow slowly, so that a pattern that backtracks without bound is found before it hangs. Time is this thread's
    CPU time, and a slow search is tried twice.
    """
    letters = dict.fromkeys("".join(examples) + re.sub(r"[^\w]", "", pattern.pattern))
    pumps = dict.fromkeys(
        [*islice(letters, _PUMPED_CHARACTERS), "a", "1", "一", " ", "a ", *filter(None, examples[:4])]
    )
    for length in [*takewhile(lambda length: length < chars, _LENGTHS), chars]:
        for pump in pumps:
            text = (pump * (length // len(pump) + 1))[:length] + _TAIL
            if all(_cpu_seconds(pattern, text) > SECONDS_PER_SEARCH for _ in range(2)):
                raise DeclarationError(
                    f"pattern {pattern.pattern!r} needs more than {SECONDS_PER_SEARCH:g} s on {length} characters of"
                    f" {pump!r}: bound its repetitions ('.{{0,20}}' instead of '.*', no repetition inside a repetition)"
                )


def _cpu_seconds(pattern: re.Pattern[str], text: str) -> float:
    started = time.thread_time()
    pattern.search(text)
    return time.thread_time() - started
