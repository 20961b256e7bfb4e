"""The loop's own prompts, kept as plain Markdown beside the code."""

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "prompts"


@cache
def _template(name: str) -> str:
    return (_FOLDER / f"{name}.md").read_text(encoding="utf-8").strip()


def loop_prompt(name: str, **values: str) -> str:
    """The text of `prompts/NAME.md` with every `{{key}}` replaced by its value."""
    text = _template(name)
    for key, value in values.items():
        text = text.replace("{{" + key + "}}", value)
    return text
