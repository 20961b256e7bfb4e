"""Screening of one message: normalise, mask secrets, look for blocked content and injected instructions (R-SAFE-01…04)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from yuzui.errors import BadEncodingError, EmptyMessageError, MessageTooLongError
from yuzui.guard.blocks import Block, blocking
from yuzui.guard.injection import looks_injected
from yuzui.tools.matching import matching_copy, visible
from yuzui.tools.redact import mask_secrets

ScreeningFlag: TypeAlias = Literal["suspected_injection", "secrets_masked"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Screened:
    """A message that may be worked on.

    `matching` is what patterns see: NFKC, lower case, nothing invisible. `stored` is the author's own text with secrets
    masked, `masked` how many there were. `block` is the content rule that ends the run, if any.
    """

    matching: str
    stored: str
    masked: int = 0
    flags: tuple[ScreeningFlag, ...] = ()
    block: Block | None = None


def screen(text: str, blocks: Sequence[Block] = (), *, max_chars: int) -> Screened:
    """Screen a message of at most `max_chars` characters (code points, as written and as normalised).

    Raises `BadEncodingError` for NUL and lone surrogates, `EmptyMessageError` when nothing visible is left,
    `MessageTooLongError`; nothing else.
    """
    _refuse_undecodable(text)
    if len(text) > max_chars:
        raise MessageTooLongError(f"the message has {len(text)} characters; at most {max_chars} are accepted")
    stored, masked = _without_secrets(text)
    matching = matching_copy(stored)
    if not matching:
        raise EmptyMessageError
    # Some single characters are normalised to eighteen; what patterns and models read is bounded as well.
    if len(matching) > max_chars:
        raise MessageTooLongError(f"the message has {len(matching)} characters when normalised; at most {max_chars}")
    flags: list[ScreeningFlag] = []
    if looks_injected(matching):
        flags.append("suspected_injection")
    if masked:
        flags.append("secrets_masked")
    return Screened(
        matching=matching, stored=stored, masked=masked, flags=tuple(flags), block=blocking(matching, blocks)
    )


def _refuse_undecodable(text: str) -> None:
    if "\0" in text:
        raise BadEncodingError("the message holds a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadEncodingError("the message holds half of a surrogate pair") from error


def _without_secrets(text: str) -> tuple[str, int]:
    """Mask secrets; one that is disguised by full-width or invisible characters costs the message its own glyphs."""
    stored, masked = mask_secrets(text)
    plain, disguised = mask_secrets(visible(stored))
    return (plain, masked + disguised) if disguised else (stored, masked)
