"""JSON that PostgreSQL and every reader of lines can hold."""

import json
from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from yuzui.adapters.postgres.payloads import clean_text, payload, stamp
from yuzui.runs.events import ContentDelta


@given(st.text())
def test_R_EVT_03_any_text_survives_on_one_line_but_for_nul(text: str) -> None:
    data = payload(ContentDelta(message_id="m", text=text))
    assert len(data.decode().splitlines()) == 1
    assert json.loads(data)["text"] == text.replace("\x00", "")


def test_a_lone_surrogate_and_a_huge_integer_do_not_stop_the_log() -> None:
    data = json.loads(payload({"a": "x\ud800y", "n": 2**70, "t": ("z", {"k": None, "f": 1.5})}))
    assert data == {"a": "x?y", "n": str(2**70), "t": ["z", {"k": None, "f": 1.5}]}
    event = json.loads(payload(ContentDelta(message_id="m", text="\udfff")))
    assert event == {"message_id": "m", "text": "?"}


def test_an_escaped_backslash_before_u0000_is_text() -> None:
    assert json.loads(payload({"a": "\\u0000"})) == {"a": "\\u0000"}
    assert clean_text("a\x00b") == "ab"


def test_times_are_utc_with_microseconds_and_a_z() -> None:
    at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=8)))
    assert stamp(at) == "2026-01-01T19:04:05.000000Z"
    assert stamp(datetime(2026, 1, 2, 3, 4, 5, 678, UTC)) == "2026-01-02T03:04:05.000678Z"
