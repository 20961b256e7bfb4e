"""Splits hidden reasoning from public text, once for streamed and whole replies (R-REACT-05).

A block is `<think>…</think>` or one of its aliases. Blocks before and inside the answer are hidden; a block that is never
closed hides all the rest. A tag that is quoted, or stands in a code span or code block of the answer, is a mention and is
shown. Where a text is ambiguous it is hidden: a closing tag without an opening one turns everything before it into
reasoning, so the last close wins; `finish` then returns a text that is not what was streamed, and the caller voids that.
"""

import re

_OPEN_TAG = re.compile(r"<(think|thinking|reasoning)\s{0,8}>", re.IGNORECASE)
_CLOSE_TAG = re.compile(r"</(think|thinking|reasoning)\s{0,8}>", re.IGNORECASE)
_MARK = re.compile(r"[<`\n]")
_LONGEST = len("</reasoning>") + 8
_UNFINISHED = re.compile(r"</?(?:[a-z]{0,9})\s{0,8}", re.IGNORECASE)
_QUOTES = {"`": "`", '"': '"', "'": "'", "“": "”", "‘": "’", "「": "」", "『": "』", "《": "》"}


class ReasoningSplitter:
    """Takes a reply in pieces of any size and gives back its public text; the same text whatever the pieces are."""

    def __init__(self) -> None:
        self._held = ""
        self._depth = 0
        self._public: list[str] = []
        self._hidden: list[str] = []
        self._answering = False
        self._before = ""
        self._ticks = 0  # length of the backtick run that opened the code span we are in, 0 outside

    def feed(self, piece: str) -> str:
        """Public text that became certain with this piece."""
        if self._answering and not self._depth and not self._held and not _MARK.search(piece):
            if piece:
                self._show(piece)
            return piece
        return self._take(self._held + piece, last=False)

    def finish(self) -> str:
        """The rest of the public text. Call once, at the end of the reply."""
        return self._take(self._held, last=True)

    @property
    def text(self) -> str:
        """The whole public text so far, without white space before and after it."""
        return "".join(self._public).strip()

    @property
    def reasoning(self) -> str | None:
        """The hidden text so far; None when there was none."""
        return "".join(self._hidden).strip() or None

    def _take(self, data: str, *, last: bool) -> str:
        self._held = ""
        out: list[str] = []
        at = 0
        while at < len(data):
            step = self._hide(data, at, last=last) if self._depth else self._answer(data, at, out, last=last)
            if step == at:
                self._held = data[at:]
                break
            at = step
        return "".join(out)

    def _hide(self, data: str, at: int, *, last: bool) -> int:
        """Consume hidden text from `at`; returns where to go on, `at` when more input is needed."""
        mark = data.find("<", at)
        if mark != at:
            end = len(data) if mark < 0 else mark
            self._hidden.append(data[at:end])
            self._before = data[end - 1]
            return end
        for tag, change in ((_CLOSE_TAG, -1), (_OPEN_TAG, 1)):
            match = tag.match(data, at)
            if match is None:
                continue
            if match.end() == len(data) and not last and self._before in _QUOTES:
                return at
            if not self._quoted(data, match.end()):
                self._depth += change
                self._before = ">"
                return match.end()
            break
        if not last and self._partial(data, at):
            return at
        self._hidden.append("<")
        self._before = "<"
        return at + 1

    def _answer(self, data: str, at: int, out: list[str], *, last: bool) -> int:
        found = _MARK.search(data, at)
        mark = found.start() if found else len(data)
        if mark > at:
            self._put(data[at:mark], out)
            return mark
        match data[at]:
            case "\n":
                self._put("\n", out)
                if self._ticks < 3:  # a code span ends with its line; a code block goes on
                    self._ticks = 0
                return at + 1
            case "`":
                return self._backticks(data, at, out, last=last)
            case _:
                return self._tag(data, at, out, last=last)

    def _backticks(self, data: str, at: int, out: list[str], *, last: bool) -> int:
        end = at
        while end < len(data) and data[end] == "`":
            end += 1
        if end == len(data) and not last:
            return at
        run = end - at
        if not self._ticks:
            self._ticks = run
        elif run == self._ticks or (self._ticks >= 3 and run >= self._ticks):
            self._ticks = 0
        self._put(data[at:end], out)
        return end

    def _tag(self, data: str, at: int, out: list[str], *, last: bool) -> int:
        opening, closing = _OPEN_TAG.match(data, at), _CLOSE_TAG.match(data, at)
        match = opening or closing
        if match is None:
            if not last and self._partial(data, at):
                return at
            self._put("<", out)
            return at + 1
        if match.end() == len(data) and not last and self._before in _QUOTES:
            return at
        if self._ticks or self._quoted(data, match.end()):
            self._put(match.group(), out)
        elif opening:
            self._depth = 1
            self._before = ">"
        else:
            self._hidden.append("".join(self._public))
            self._public.clear()
            self._answering = False
        return match.end()

    def _partial(self, data: str, at: int) -> bool:
        """True when `data[at:]` may still become a tag."""
        if len(data) - at > _LONGEST:
            return False
        rest = data[at:]
        if not _UNFINISHED.fullmatch(rest):
            return False
        word = rest.strip("</").strip().lower()
        return any(name.startswith(word) for name in ("thinking", "reasoning"))

    def _quoted(self, data: str, end: int) -> bool:
        return self._before in _QUOTES and data[end : end + 1] == _QUOTES[self._before]

    def _put(self, text: str, out: list[str]) -> None:
        self._before = text[-1]
        if not self._answering:
            text = text.lstrip()
            if not text:
                return
            self._answering = True
        self._show(text)
        out.append(text)

    def _show(self, text: str) -> None:
        self._public.append(text)
        self._before = text[-1]


def split_reasoning(text: str) -> tuple[str, str | None]:
    """A whole reply as (public text, reasoning or None)."""
    splitter = ReasoningSplitter()
    splitter.feed(text)
    splitter.finish()
    return splitter.text, splitter.reasoning
