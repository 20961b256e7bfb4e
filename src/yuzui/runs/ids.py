"""Ids that carry their kind and sort by time: `run_`, `ses_`, `act_`, `msg_` + 24 characters of base 32."""

import os
import threading
import time
from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal["run", "ses", "act", "msg", "wrk"]

_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's: sorts like the number, has no look-alikes
_RANDOM_BITS: Final = 72
_PAIRS: Final = tuple(high + low for high in _ALPHABET for low in _ALPHABET)


class _Clock:
    """48 bits of milliseconds and 72 random bits; ids of one process never repeat and never go backwards."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def next(self) -> int:
        fresh = (time.time_ns() // 1_000_000 << _RANDOM_BITS) | int.from_bytes(os.urandom(_RANDOM_BITS // 8))
        with self._lock:
            if fresh <= self._last:
                fresh = self._last + 1 + int.from_bytes(os.urandom(4))
            elif fresh >> _RANDOM_BITS == self._last >> _RANDOM_BITS:
                fresh = max(fresh, self._last + 1)
            self._last = fresh
            return fresh


_CLOCK = _Clock()


def new_id(kind: str) -> str:
    """A new id of a kind (`Kind` lists the platform's own). 72 random bits keep ids of different machines apart."""
    number = _CLOCK.next()
    digits = [_PAIRS[number >> shift & 1023] for shift in range(110, -1, -10)]
    return f"{kind}_{''.join(digits)}"
