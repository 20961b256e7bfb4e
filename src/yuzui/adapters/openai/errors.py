"""What a server's refusal means: try again, too long, not allowed, or no tools (R-REACT-04)."""

import email.utils
import time
from collections.abc import Mapping
from typing import Any

import orjson

from yuzui.errors import ModelError, ModelOverflowError, ModelRefusedError, ModelUnavailableError
from yuzui.model.json_values import is_mapping
from yuzui.model.port import ToolsUnsupportedError
from yuzui.tools.redact import redact_text

_OVERFLOW = (
    "context length",
    "context_length",
    "context window",
    "maximum context",
    "too many tokens",
    "prompt is too long",
    "input is too long",
    "exceeds the available context",
    "reduce the length",
)
_TOOLS = (
    "does not support tool",
    "not support tools",
    "not support function",
    "tool choice requires",
    "tool_choice",
    "tools is not supported",
    "tools are not supported",
    "unsupported parameter: 'tools'",
    "unknown field: tools",
    "unrecognized request argument supplied: tools",
)


class UsageUnsupportedError(ModelRefusedError):
    """The model's server does not take stream_options."""

    code = "usage_unsupported"


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Seconds that a Retry-After header asks for, as a number or an HTTP date; None without a readable one."""
    text = headers.get("retry-after", "").strip()
    if not text:
        return None
    if text.replace(".", "", 1).isdigit():
        return float(text)
    try:
        at = email.utils.parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, at.timestamp() - (time.time() if now is None else now))


def error_of(status: int, body: bytes, headers: Mapping[str, str]) -> ModelError:
    """The error for a response that is no reply. The server's own words stay short and without secrets."""
    said = message_of(body)
    low = said.lower()
    detail = redact_text(said)[:300]
    match status:
        case 401 | 403:
            return ModelRefusedError(
                f"the model's server answered {status}: check YUZUI_MODEL_API_KEY. It said: {detail}"
            )
        case 404:
            return ModelRefusedError(
                f"the model's server answered 404: check YUZUI_MODEL and YUZUI_MODEL_BASE_URL. It said: {detail}"
            )
        case 408 | 409 | 425 | 429:
            return ModelUnavailableError(
                f"the model's server answered {status}: {detail}", retry_after=retry_after(headers)
            )
        case _ if status >= 500:
            return ModelUnavailableError(
                f"the model's server answered {status}: {detail}", retry_after=retry_after(headers)
            )
        case 413:
            return ModelOverflowError(detail or None)
        case _ if any(mark in low for mark in _OVERFLOW):
            return ModelOverflowError(detail)
        case _ if "stream_options" in low:
            return UsageUnsupportedError(detail)
        case _ if any(mark in low for mark in _TOOLS):
            return ToolsUnsupportedError(detail)
        case _:
            return ModelRefusedError(f"the model's server answered {status}: {detail}")


def message_of(body: bytes) -> str:
    """The message in an error body, whatever its shape."""
    try:
        value: Any = orjson.loads(body)
    except orjson.JSONDecodeError:
        return body.decode("utf-8", "replace").strip()
    for name in ("error", "message", "detail"):
        if is_mapping(value) and name in value:
            value = value[name]
    if is_mapping(value) and "message" in value:
        value = value["message"]
    return value if isinstance(value, str) else orjson.dumps(value).decode()
