"""An answer's text as safe HTML: Markdown without images, scripts or outward links (decision 2's lenient side, R-UI-01)."""

import html
import re
from functools import cache

import nh3
from markdown_it import MarkdownIt

_TAGS = {"p", "br", "strong", "em", "s", "code", "pre", "ul", "ol", "li", "blockquote", "hr"} | {
    *("h1", "h2", "h3", "h4", "h5", "h6"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
# A character that Markdown or HTML could give a meaning; text without one needs no parser.
# An underscore inside a word (`incident_7`) means nothing in CommonMark.
_MARKED = re.compile(r"[*`#\[\]<>&|~\\]|(?<!\w)_|_(?!\w)|^\s*(?:[-+]|\d+[.)])\s|^ {4}", re.MULTILINE)
_IMAGE = re.compile(
    r"!\[([^\[\]]{0,200})\](?:\([^()]{0,2000}\)|\[[^\[\]]{0,200}\])|<img(?![a-z])[^<>]{0,2000}>", re.IGNORECASE
)
_IMAGE_SIGN = re.compile(r"!+(?=\[)|<(?=img(?![a-z]))", re.IGNORECASE)


@cache
def _markdown() -> MarkdownIt:
    return (
        MarkdownIt("commonmark", {"html": False, "linkify": False, "breaks": True})
        .enable("table")
        .enable("strikethrough")
    )


def without_images(text: str) -> str:
    """The text with every image reference replaced by its caption, so that no client fetches what an answer names.

    What is nested or odd loses the sign that makes it an image: `!` before a bracket, `<` before `img`.
    """
    plain = _IMAGE.sub(lambda match: f"[{match.group(1) or 'image'}]", text)
    return _IMAGE_SIGN.sub(lambda match: "" if match.group()[0] == "!" else "&lt;", plain)


def to_html(text: str) -> str:
    """Sanitised HTML of a Markdown text: only structure and emphasis survive; a link keeps its words and loses its target."""
    if not _MARKED.search(text):
        paragraphs = (part.strip("\n") for part in re.split(r"\n{2,}", text) if part.strip())
        return "".join(f"<p>{html.escape(part, quote=False).replace(chr(10), '<br>')}</p>" for part in paragraphs)
    return nh3.clean(_markdown().render(without_images(text)), tags=_TAGS, attributes={}, link_rel=None).strip()
