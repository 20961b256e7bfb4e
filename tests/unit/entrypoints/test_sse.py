import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import orjson
import pytest

from yuzui.entrypoints.projections.full import full_frame, json_text
from yuzui.entrypoints.projections.simple import SimpleView
from yuzui.entrypoints.sse import HEARTBEAT, Stream, Streams
from yuzui.errors import DatabaseUnavailableError
from yuzui.runs.events import StoredEvent


def event(seq: int, kind: str = "content.delta", **data: Any) -> StoredEvent:
    return StoredEvent(
        run_id="run_1", seq=seq, type=kind, at="2026-01-02T03:04:05Z", attempt=2, data=orjson.dumps(data)
    )


class Client:
    """An ASGI client: what it was sent, and a way to leave."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.left = asyncio.Event()
        self.got = asyncio.Event()

    async def send(self, message: Any) -> None:
        self.sent.append(message)
        self.got.set()

    async def receive(self) -> Any:
        await self.left.wait()
        return {"type": "http.disconnect"}

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)

    async def wait_for(self, text: bytes) -> None:
        async with asyncio.timeout(5):
            while text not in self.body:
                self.got.clear()
                await self.got.wait()


class Log:
    """Batches pushed by the test."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[list[StoredEvent] | Exception | None] = asyncio.Queue()
        self.closed = False

    async def follow(self) -> AsyncIterator[Sequence[StoredEvent]]:
        try:
            while (batch := await self.queue.get()) is not None:
                if isinstance(batch, Exception):
                    raise batch
                yield batch
        finally:
            self.closed = True


def stream(client: Client, streams: Streams | None = None, heartbeat_s: float = 60.0) -> Stream:
    return Stream(
        client.send, client.receive, streams=Streams() if streams is None else streams, heartbeat_s=heartbeat_s
    )


def test_R_EVT_01_a_frame_carries_number_type_and_envelope() -> None:
    lines = full_frame(event(7, text="hi")).split(b"\n")
    assert lines[0] == b"id: 7"
    assert lines[1] == b"event: content.delta"
    assert orjson.loads(lines[2].removeprefix(b"data: ")) == {
        "run_id": "run_1",
        "seq": 7,
        "type": "content.delta",
        "at": "2026-01-02T03:04:05Z",
        "attempt": 2,
        "data": {"text": "hi"},
    }
    assert lines[3:] == [b"", b""]


@pytest.mark.parametrize(
    "text", ["a\nb", "a\r\nb", "第一步\u2028第二步", "x\u2029y\u0085z", "\n\n  - pid", "data: {}\n\nid: 9"]
)
def test_R_EVT_03_no_text_can_break_a_frame_and_all_of_it_arrives(text: str) -> None:
    frame = full_frame(event(1, text=text)).decode()
    assert len(frame.splitlines()) == 4  # splits as Unicode does: stricter than any reader of events
    data = next(line for line in frame.split("\n") if line.startswith("data: "))
    assert orjson.loads(data[6:])["data"]["text"] == text


def test_white_space_between_tokens_of_stored_json_stays_on_one_line() -> None:
    stored = StoredEvent(run_id="r", seq=1, type="run.created", at="t", attempt=0, data=b'{\n  "status":\r\n "queued"}')
    frame = full_frame(stored)
    assert frame.count(b"\n") == 4
    assert orjson.loads(json_text(stored))["data"] == {"status": "queued"}


async def test_each_batch_is_one_send_and_the_stream_ends_with_its_log() -> None:
    client, log = Client(), Log()
    log.queue.put_nowait([event(1), event(2)])
    log.queue.put_nowait([event(3, "run.completed")])
    log.queue.put_nowait(None)
    assert await stream(client).run(log.follow(), full_frame) is True
    assert [message["type"] for message in client.sent] == ["http.response.start", *["http.response.body"] * 2]
    assert [message["body"].count(b"id: ") for message in client.sent[1:]] == [2, 1]
    assert [message.get("more_body") for message in client.sent[1:]] == [True, False]
    assert (b"x-accel-buffering", b"no") in client.sent[0]["headers"]


async def test_R_EVT_03_heartbeats_are_comments_without_an_id_and_only_when_idle() -> None:
    client, log = Client(), Log()
    task = asyncio.create_task(stream(client, heartbeat_s=0.02).run(log.follow(), full_frame))
    await client.wait_for(HEARTBEAT + HEARTBEAT)
    log.queue.put_nowait(None)
    assert await task is True
    assert b"id:" not in client.body


@pytest.mark.parametrize("before", [0, 1, 10])
async def test_R_EVT_04_a_client_that_leaves_ends_the_stream_and_leaks_nothing(before: int) -> None:
    client, log, streams = Client(), Log(), Streams()
    for seq in range(1, before + 1):
        log.queue.put_nowait([event(seq)])
    task = asyncio.create_task(stream(client, streams).run(log.follow(), full_frame))
    if before:
        await client.wait_for(b"id: %d\n" % before)
    client.left.set()
    async with asyncio.timeout(1):
        assert await task is False
    await asyncio.sleep(0)
    assert len(streams) == 0
    assert log.closed or before == 0
    assert not [other for other in asyncio.all_tasks() if "_attend" in repr(other)]


async def test_cancelling_the_request_is_not_swallowed() -> None:
    client, log, streams = Client(), Log(), Streams()
    task = asyncio.create_task(stream(client, streams).run(log.follow(), full_frame))
    await client.wait_for(b"")
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert log.closed


async def test_R_OPSX_01_shutdown_ends_open_streams_and_new_ones_so_that_clients_resume_elsewhere() -> None:
    client, log, streams = Client(), Log(), Streams()
    log.queue.put_nowait([event(1)])
    task = asyncio.create_task(stream(client, streams).run(log.follow(), full_frame))
    await client.wait_for(b"id: 1\n")
    streams.close()
    async with asyncio.timeout(1):
        assert await task is False
    assert client.sent[-1] == {"type": "http.response.body", "body": b"", "more_body": False}
    late = Client()
    await stream(late, streams).run(Log().follow(), full_frame)
    assert late.sent[-1]["more_body"] is False


async def test_a_log_that_fails_midway_ends_the_stream_without_a_terminal_event() -> None:
    client, log = Client(), Log()
    log.queue.put_nowait([event(1)])
    log.queue.put_nowait(DatabaseUnavailableError())
    assert await stream(client).run(log.follow(), full_frame) is False
    assert client.sent[-1]["more_body"] is False
    assert b"run." not in client.body


def simple(kind: str, **data: Any) -> dict[str, Any] | None:
    found = SimpleView("zh", {"list_fridge": "查看冰箱"}).project(event(4, kind, **data))
    return None if found is None else orjson.loads(found.json_text())


def test_R_EVT_02_the_simple_view_is_start_steps_message_done() -> None:
    assert simple("run.created", status="queued") == {"type": "start", "seq": 4, "run_id": "run_1"}
    started = {"type": "step", "seq": 4, "label": "查看冰箱", "state": "running"}
    assert simple("tool.started", tool="list_fridge") == started
    assert simple("tool.finished", tool="list_fridge", outcome="ok") == started | {"state": "done"}
    assert simple("tool.finished", tool="list_fridge", outcome="timeout") == started | {"state": "failed"}
    message: dict[str, Any] = {"text": "好", "html": "<p>好</p>", "cards": [], "citations": [], "source": "direct"}
    assert (
        simple("message.completed", message_id="m", grounded=True, **message) == {"type": "message", "seq": 4} | message
    )
    assert simple("run.completed", outcome="answered") == {"type": "done", "seq": 4, "outcome": "answered"}


def test_R_EVT_02_a_failed_or_cancelled_run_is_an_error() -> None:
    assert simple("run.failed", code="model_unavailable", detail="没有模型", retryable=True) == {
        "type": "error", "seq": 4, "code": "model_unavailable", "detail": "没有模型",
    }  # fmt: skip
    assert simple("run.cancelled", by="alice", reason="x") == {
        "type": "error",
        "seq": 4,
        "code": "cancelled",
        "detail": "已取消。",
    }


def test_events_a_plain_front_end_does_not_need_are_left_out_of_the_simple_view() -> None:
    view = SimpleView("en", {})
    for kind in ("run.started", "policy.compiled", "content.delta", "content.reset", "citation.added"):
        assert view.project(event(1, kind)) is None
        assert view.frame(event(1, kind)) == b""


def test_a_tool_without_a_label_is_shown_by_its_name() -> None:
    found = SimpleView("en", {}).project(event(1, "tool.started", tool="list_fridge"))
    assert found is not None
    assert found.data["label"] == "list fridge"
