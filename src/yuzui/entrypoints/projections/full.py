"""The full view: every public event as the log holds it."""

from typing import Final

import orjson

from yuzui.entrypoints.sse import frame
from yuzui.runs.events import StoredEvent

_SUFFIX: Final = b"}"


def json_text(event: StoredEvent) -> bytes:
    """`{"run_id", "seq", "type", "at", "attempt", "data"}` as JSON text; the payload is copied, not parsed."""
    head = orjson.dumps(
        {"run_id": event.run_id, "seq": event.seq, "type": event.type, "at": event.at, "attempt": event.attempt}
    )
    return b'%s,"data":%s%s' % (head[:-1], event.data, _SUFFIX)


def full_frame(event: StoredEvent) -> bytes:
    """The event as a server-sent event with its number as id."""
    return frame(event.seq, event.type, json_text(event))
