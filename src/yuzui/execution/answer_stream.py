"""The answer inside a JSON action, readable before the action is complete (R-REACT-02)."""

import re

from yuzui.model.splitter import ReasoningSplitter

_HEAD = re.compile(r'\s*(?:```\w*\s*)?\{\s*(?:"action"\s*:\s*"final"\s*,\s*)?"answer"\s*:\s*"')
_SIMPLE = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class JsonAnswerStream:
    """Reads the text of `{"action":"final","answer":"…"}` out of a reply while it arrives. Linear; gives nothing for any other reply."""

    _HEAD_LIMIT = 120

    def __init__(self) -> None:
        self._state = "head"
        self._held = ""
        self._splitter = ReasoningSplitter()

    def feed(self, piece: str) -> str:
        """Answer text that became readable with this piece."""
        if self._state == "off":
            return ""
        if self._state == "head":
            piece = self._head(piece)
            if not piece:
                return ""
        return self._splitter.feed(self._decode(piece))

    def _head(self, piece: str) -> str:
        self._held += piece
        match = _HEAD.match(self._held)
        if match is None:
            if len(self._held) > self._HEAD_LIMIT:
                self._state = "off"
            return ""
        rest, self._held = self._held[match.end() :], ""
        self._state = "text"
        return rest

    def _decode(self, piece: str) -> str:
        data, self._held = self._held + piece, ""
        if '"' not in data and "\\" not in data:
            return data
        out: list[str] = []
        at = 0
        while at < len(data):
            quote, escape = data.find('"', at), data.find("\\", at)
            if escape < 0 or 0 <= quote < escape:
                out.append(data[at : quote if quote >= 0 else len(data)])
                self._state = "off" if quote >= 0 else self._state
                break
            out.append(data[at:escape])
            decoded = unescape(data, escape)
            if decoded is None:
                self._held = data[escape:]
                break
            text, at = decoded
            out.append(text)
        return "".join(out)


def decode_string(body: str) -> str:
    """The text of a JSON string's body; a bare quote in it stays, an escape that its end cuts is dropped."""
    out: list[str] = []
    at = 0
    while (escape := body.find("\\", at)) >= 0:
        out.append(body[at:escape])
        decoded = unescape(body, escape)
        if decoded is None:
            return "".join(out)
        text, at = decoded
        out.append(text)
    return "".join(out) + body[at:]


def unescape(data: str, at: int) -> tuple[str, int] | None:
    """The character that the escape at `data[at]` stands for and where it ends; None when the escape is not complete yet."""
    kind = data[at + 1 : at + 2]
    if not kind:
        return None
    if kind != "u":
        return _SIMPLE.get(kind, kind), at + 2
    code = _hex(data, at + 2)
    if code is None:
        return None if len(data) < at + 6 else ("\ufffd", at + 6)
    if not 0xD800 <= code <= 0xDFFF:
        return ("" if code == 0 else chr(code)), at + 6
    if code >= 0xDC00:
        return "\ufffd", at + 6
    if len(data) < at + 12:
        return None if data[at + 6 : at + 8] == "\\u"[: len(data) - at - 6] else ("\ufffd", at + 6)
    low = _hex(data, at + 8) if data[at + 6 : at + 8] == "\\u" else None
    if low is None or not 0xDC00 <= low <= 0xDFFF:
        return "\ufffd", at + 6
    return chr(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)), at + 12


def _hex(data: str, at: int) -> int | None:
    digits = data[at : at + 4]
    try:
        return int(digits, 16) if len(digits) == 4 and digits.isalnum() else None
    except ValueError:
        return None
