"""The frame in which an observation reaches a model: quoted data that cannot close its own frame."""

import re

from yuzui.tools.observation import Observation

_TAG = re.compile(r"<(?=\s*/?\s*observation)", re.IGNORECASE)


def frame(observation: Observation, nonce: str) -> str:
    """The observation's text between tags with a nonce that its author could not know; look-alike tags inside are escaped."""
    text = _TAG.sub("&lt;", observation.text).replace(nonce, "…")
    head = f'<observation-{nonce} tool="{_attribute(observation.tool)}" outcome="{observation.outcome}">'
    return f"{head}\n{text}\n</observation-{nonce}>"


def _attribute(text: str) -> str:
    return re.sub(r"[^\w.:-]", "_", text)[:80]
