"""How many tokens a text has when the provider does not say: close for Chinese and English, offline, linear in the text."""

import re

_CJK = re.compile(r"[⺀-鿿가-힯豈-﫿︰-﹏＀-￯𠀀-𲎯]")


def estimate_tokens(text: str) -> int:
    """About `0.7 · CJK characters + other bytes / 3.6`, within a few per cent of common tokenisers."""
    if text.isascii():
        return round(len(text) / 3.6)
    wide = _CJK.findall(text)
    rest = len(text.encode("utf-8", "replace")) - sum(len(char.encode("utf-8", "replace")) for char in wide)
    return round(0.7 * len(wide) + rest / 3.6)
