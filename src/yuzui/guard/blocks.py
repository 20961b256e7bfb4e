"""Content rules that end a run without a model call (R-SAFE-02)."""

from collections.abc import Sequence
from dataclasses import dataclass

from yuzui.errors import DeclarationError
from yuzui.tools.matching import matching_copy
from yuzui.tools.patterns import compile_pattern, refuse_slow

MESSAGE_CHARS = 8_000


@dataclass(frozen=True, slots=True)
class Block:
    """A content rule that ends the run with route source `blocked` and this reason code (R-SAFE-02).

    `pattern` is searched in the matching copy of the message; `yes` must match and `no` must not.
    """

    reason: str
    pattern: str
    answer_zh: str
    answer_en: str
    yes: Sequence[str] = ()
    no: Sequence[str] = ()


def blocking(matching: str, blocks: Sequence[Block]) -> Block | None:
    """The first block whose pattern is found in a matching copy."""
    return next((block for block in blocks if compile_pattern(block.pattern).search(matching)), None)


def check_blocks(blocks: Sequence[Block]) -> None:
    """Raise `DeclarationError` when a block does not compile, could hang, or breaks its own examples."""
    for block in blocks:
        pattern = compile_pattern(block.pattern)
        for example in block.yes:
            if not pattern.search(matching_copy(example)):
                raise DeclarationError(f"block {block.reason!r} does not match its example {example!r}")
        for example in block.no:
            if pattern.search(matching_copy(example)):
                raise DeclarationError(f"block {block.reason!r} matches its counter-example {example!r}")
        refuse_slow(pattern, [matching_copy(example) for example in block.yes], chars=MESSAGE_CHARS)
