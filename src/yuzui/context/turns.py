"""Earlier turns as messages: whole turns only, none that was cancelled or failed (R-CTX-01, R-CTX-05)."""

from collections.abc import Sequence

from yuzui.model.messages import AssistantMessage, Message, UserMessage
from yuzui.runs.run import StoredMessage

MAX_CHARS_PER_MESSAGE = 4_000


def history(messages: Sequence[StoredMessage], *, turns: int) -> tuple[Message, ...]:
    """The last `turns` complete turns, oldest first. A turn is a question with its answer; it is kept whole or left out."""
    answers = {m.run_id: m for m in messages if m.role == "assistant" and m.status == "ok" and m.text.strip()}
    kept: list[Message] = []
    asked = [m for m in messages if m.role == "user" and m.run_id in answers and m.text.strip()]
    for question in asked[-turns:] if turns > 0 else ():
        kept.append(UserMessage(text=_cut(question.text)))
        kept.append(AssistantMessage(text=_cut(answers[question.run_id].text)))
    return tuple(kept)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_CHARS_PER_MESSAGE else text[:MAX_CHARS_PER_MESSAGE] + " […]"
