"""Words that stand for a button (R-CONF-05)."""

import re

_CONFIRMATION = re.compile(
    r"(?:(?:是的?|好的?|嗯+|对|行|yes|yep|ok(?:ay)?|sure)[\s,，。.!、]*)?"
    r"(?:(?:我)?(?:确认|确定)(?:执行|操作|提交|写入|无误|了|吧|啦)?|(?:i\s+)?confirm(?:ed)?(?:\s+(?:it|this|that))?)"
    r"(?:[,\s]+please)?[\s。.!~]*"
)


def is_confirmation(matching: str) -> bool:
    """Whether the whole message is a plain word of confirmation.

    Only explicit ones: 好的 and "ok" are small talk as often as consent, a question mark is a question, and anything mixed
    ("nope, carry on then") confirms nothing.
    """
    return _CONFIRMATION.fullmatch(matching) is not None
