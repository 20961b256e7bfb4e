"""The scripted model over HTTP."""

import pytest
from benchmarks.mock_model import mock_server
from benchmarks.script import Script, answer_text
from benchmarks.wire import HttpFailedError, call, request

BODY = {"model": "mock;n=5", "messages": [{"role": "user", "content": "什么是死锁？"}]}
PATH = "/v1/chat/completions"


async def test_a_reply_in_one_holds_text_and_usage() -> None:
    async with mock_server() as port:
        reply = await call(port, request("POST", PATH, json=BODY))
    completion = reply.json()
    assert completion["choices"] == [
        {
            "index": 0,
            "message": {"role": "assistant", "content": answer_text(5)},
            "finish_reason": "stop",
            "logprobs": None,
        }
    ]
    assert completion["usage"] == {"prompt_tokens": 50, "completion_tokens": 5, "total_tokens": 55}


@pytest.mark.parametrize("options", ["", ";ttft=2;tok=1"])
async def test_a_stream_is_the_same_with_and_without_delays(options: str) -> None:
    async with mock_server() as port:
        reply = await call(port, request("POST", PATH, json=BODY | {"model": f"mock;n=5{options}", "stream": True}))
    assert reply.status == 200
    assert reply.body.count(b'"content":') == 5
    assert reply.body.endswith(b"data: [DONE]\n\n")


async def test_a_stream_takes_at_least_its_own_time() -> None:
    script = Script(ttft=20, tok=5, tokens=9, hops=0)
    async with mock_server(defaults=script) as port:
        asked = request("POST", PATH, json=BODY | {"model": "mock", "stream": True})
        reply = await call(port, asked)
    assert reply.seconds * 1e3 >= script.own_ms == 60


async def test_calls_are_counted_by_kind_until_the_reset() -> None:
    async with mock_server() as port:
        await call(port, request("POST", PATH, json=BODY))
        await call(port, request("POST", PATH, json=BODY | {"model": "mock;b=err500"}))
        counted = (await call(port, request("GET", "/stats"))).json()
        await call(port, request("POST", "/reset", json={"options": "n=3;ttft=1"}))
        zero = (await call(port, request("GET", "/stats"))).json()
        reply = await call(port, request("POST", PATH, json=BODY | {"model": "mock"}))
    assert counted == {"calls": 2, "tool": 0, "answer": 1, "errors": 1}
    assert zero == {"calls": 0, "tool": 0, "answer": 0, "errors": 0}
    assert answer_text(3).encode() in reply.body
    assert answer_text(4).encode() not in reply.body


@pytest.mark.parametrize(("behaviour", "status"), [("err500", 500), ("err429", 429), ("nonsense", 400)])
async def test_scripted_failures_have_their_status(behaviour: str, status: int) -> None:
    async with mock_server() as port:
        assert (await call(port, request("POST", PATH, json=BODY | {"model": f"mock;b={behaviour}"}))).status == status


@pytest.mark.parametrize("timing", ["", ";ttft=1;tok=1"])
async def test_a_cut_stream_ends_without_its_last_chunk(timing: str) -> None:
    async with mock_server() as port:
        with pytest.raises(HttpFailedError):
            await call(port, request("POST", PATH, json=BODY | {"model": f"mock;b=cut{timing}", "stream": True}))


async def test_models_are_listed_and_other_paths_are_not_found() -> None:
    async with mock_server() as port:
        assert (await call(port, request("GET", "/v1/models"))).json()["object"] == "list"
        assert (await call(port, request("GET", "/v1/files"))).status == 404
