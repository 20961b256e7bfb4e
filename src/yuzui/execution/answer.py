"""The answer of a loop on its way out: streamed pieces, what voids them, and the answer code makes when a model made none."""

import re
from collections.abc import Sequence

from yuzui.owner import Locale
from yuzui.runs.events import ContentDelta, ContentReset
from yuzui.runs.log import AttemptLog
from yuzui.tools.catalog import Catalog
from yuzui.tools.observation import Observation

_SHOWN = 1_500
_IMAGE_START = re.compile(r"!\[|<img|!\Z|<i?m?\Z", re.IGNORECASE)
REPEATED = {
    "zh": "检测到重复操作，请重新组织请求。",
    "en": "A repeated operation was detected; please rephrase your request.",
}
_FOUND = {
    "zh": "没能得到完整的回答。以下是已经查到的内容：",
    "en": "A complete answer could not be made. This is what was found:",
}
_NOTHING = {
    "zh": "没能得到回答，也没有查到可用的内容。",
    "en": "No answer could be made, and nothing usable was found.",
}
_POSSIBLE = {"zh": "这里可以做的：", "en": "What can be done here: "}


class AnswerWriter:
    """Writes an answer's text to the log as it arrives, and knows what the readers have seen."""

    def __init__(self, log: AttemptLog, message_id: str) -> None:
        self._log = log
        self._message_id = message_id
        self._shown: list[str] = []
        self._held = ""
        self._holding = False

    @property
    def shown(self) -> str:
        """What the readers see now."""
        return "".join(self._shown)

    def push(self, text: str) -> None:
        """Show one more piece. From an image reference on, the text waits for `settle`: no client may fetch what it names.

        White space around the answer is no part of it: what ends a piece waits for the next one.
        """
        if not text or self._holding:
            return
        data = self._held + text
        if not self._shown:
            data = data.lstrip()
        risky = _IMAGE_START.search(data)
        end = len((data[: risky.start()] if risky else data).rstrip())
        self._show(data[:end])
        self._held = data[end:]
        self._holding = risky is not None and risky.group().lower() in ("![", "<img")

    def _show(self, text: str) -> None:
        if text:
            self._shown.append(text)
            self._log.emit(ContentDelta(message_id=self._message_id, text=text))

    def reset(self) -> None:
        """Void what was shown, if anything was."""
        self._held, self._holding = "", False
        if self._shown:
            self._shown.clear()
            self._log.emit(ContentReset(message_id=self._message_id))

    def settle(self, text: str) -> None:
        """Make the readers see exactly `text`: push what is missing, or void and push all."""
        shown = self.shown
        if text.startswith(shown):
            self._show(text[len(shown) :])
        else:
            self.reset()
            self._show(text)


def compose(observations: Sequence[Observation], catalog: Catalog, locale: Locale) -> str:
    """An answer made by code from what was observed (R-FENCE-05); without any result it says what is possible here."""
    found = list(
        dict.fromkeys(
            (item.tool, item.text) for item in observations if item.outcome in ("ok", "repeat") and item.text.strip()
        )
    )
    if found:
        return "\n\n".join(
            [_FOUND[locale], *(f"- {_label(catalog, tool, locale)}: {_short(text)}" for tool, text in found)]
        )
    names = [_label(catalog, name, locale) for name in catalog.names()]
    tail = f"\n{_POSSIBLE[locale]}{('、' if locale == 'zh' else ', ').join(names)}" if names else ""
    return _NOTHING[locale] + tail


def _label(catalog: Catalog, name: str, locale: Locale) -> str:
    tool = catalog.reads.get(name) or catalog.drafts.get(name)
    return tool.labels.get(locale, name) if tool else name


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
