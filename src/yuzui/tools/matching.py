"""The copy of a text that patterns are matched against; the author's own text stays what it is (R-SAFE-01, decision 11)."""

import re
import unicodedata

_INVISIBLE = re.compile(
    "["
    "\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f"  # control characters except tab, newline, carriage return
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphen, joiners, fillers
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"  # zero-width, bidi, variation
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # shorthand, music, tags
    "]+"
)
_NEWLINE = re.compile("\r\n?|[\u2028\u2029]")
_LOOK_ALIKES = str.maketrans(
    {
        "\u2018": "'",
        "\u2019": "'",
        "\u02bc": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u2010": "-",
        "\u2012": "-",
        "\u2013": "-",
        "\u2212": "-",
        "\t": " ",
    }
)
_ROUNDS = 4


def visible(text: str) -> str:
    """The text as NFKC, with one kind of newline, quote and hyphen, and nothing that a reader cannot see."""
    # Taking a joiner out can bring two characters together that compose, and composing can bring out a filler.
    plain = text if text.isascii() else unicodedata.normalize("NFKC", _printable(text))
    return _printable(plain).translate(_LOOK_ALIKES).strip()


def matching_copy(text: str) -> str:
    """`visible(text)` in lower case: what rules, blocks and id formats are searched in. Applying it twice changes nothing."""
    if text.isascii() and text.isprintable():  # nothing to normalise or take out, and lowering it once is enough
        return text.strip().lower()
    copy = text
    for _ in range(_ROUNDS):
        again = visible(copy).lower()
        if again == copy:
            break
        copy = again
    return copy


def _printable(text: str) -> str:
    return _INVISIBLE.sub("", _NEWLINE.sub("\n", text))
