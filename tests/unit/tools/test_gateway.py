"""The gateway: whatever is proposed, checks come first, every call gets an observation, and limits hold."""

import asyncio
import threading
import time
from typing import Any

import pytest

from yuzui.budget import Budget
from yuzui.errors import DatabaseUnavailableError, FencedOutError, NotFoundError, ToolError
from yuzui.runs.audit import ToolCallRecord
from yuzui.runs.events import ToolFinished, ToolStarted
from yuzui.testing.harness import ALICE, Harness, pending, read_tool, write_tool
from yuzui.tools.context import Ctx
from yuzui.tools.gateway import CallRequest
from yuzui.tools.observation import Observation

Arguments = dict[str, Any]


class Counter:
    """Tools that count their calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.fail_first: Exception | None = None

    async def find(self, ctx: Ctx[Any], query: str, limit: float = 80) -> dict[str, Any]:
        """Find something."""
        self.calls.append((query, limit))
        await asyncio.sleep(0)
        if self.fail_first is not None:
            error, self.fail_first = self.fail_first, None
            raise error
        return {"hit": query, "for": ctx.owner.user}

    async def log_meal(self, ctx: Ctx[Any], food: str, grams: int) -> str:
        """Add a meal."""
        self.calls.append((food, grams, ctx.idempotency_key))
        return "added"


async def call(harness: Harness, tool: str, arguments: Arguments | None, *, gateway: Any = None) -> Observation:
    made = gateway or harness.gateway()
    observation: Observation = await made.call(CallRequest(tool=tool, arguments=arguments, step="1"))
    return observation


async def test_R_TOOL_02_a_tool_gets_the_authenticated_caller_and_an_owner_argument_is_dropped() -> None:
    counter = Counter()
    harness = Harness(tools=[read_tool(counter.find)])
    seen = await call(harness, "find", {"query": "锁", "user_id": "u-2"})
    assert seen.outcome == "ok"
    assert seen.value == {"hit": "锁", "for": ALICE.owner.user}
    assert "ignored unknown fields: user_id" in seen.text


async def test_R_FENCE_06_arguments_that_are_no_object_execute_nothing_and_count() -> None:
    counter = Counter()
    harness = Harness(tools=[read_tool(counter.find)])
    seen = await call(harness, "find", None)
    assert (seen.outcome, seen.counted, counter.calls) == ("invalid", True, [])
    assert harness.meter.tool_calls == 1


async def test_R_TOOL_04_invalid_arguments_become_an_observation_that_says_what_is_wrong() -> None:
    counter = Counter()
    harness = Harness(tools=[read_tool(counter.find)])
    seen = await call(harness, "find", {"limit": "many"})
    assert seen.outcome == "invalid"
    assert "query" in seen.text
    assert "limit" in seen.text
    assert counter.calls == []
    assert harness.meter.tool_calls == 1


async def test_an_unknown_tool_counts_and_the_observation_lists_what_there_is() -> None:
    counter = Counter()
    harness = Harness(tools=[read_tool(counter.find)], budget=Budget(tool_calls=3))
    gateway = harness.gateway()
    seen = [await call(harness, "query_logs", {"n": n}, gateway=gateway) for n in range(5)]
    assert {one.outcome for one in seen} == {"denied"}
    assert [one.counted for one in seen] == [True, True, True, False, False]
    assert "Available: find" in seen[0].text
    assert harness.meter.tools_left == 0


async def test_R_FENCE_02_a_call_that_means_the_same_reuses_the_observation() -> None:
    counter = Counter()
    harness = Harness(tools=[read_tool(counter.find)])
    gateway = harness.gateway()
    first = await call(harness, "find", {"query": "数据库  锁", "limit": 80}, gateway=gateway)
    again = await call(harness, "find", {"limit": 80.0, "query": " 数据库 锁 "}, gateway=gateway)
    assert (again.outcome, again.reused, again.value) == ("repeat", True, first.value)
    assert len(counter.calls) == 1
    assert harness.meter.tool_calls == 1


async def test_the_same_tool_with_other_arguments_is_no_repeat() -> None:
    counter = Counter()
    harness = Harness(tools=[read_tool(counter.find)])
    gateway = harness.gateway()
    seen = [await call(harness, "find", {"query": word}, gateway=gateway) for word in ("锁", "死锁", "等待")]
    assert [one.outcome for one in seen] == ["ok", "ok", "ok"]


async def test_identical_calls_of_one_parallel_step_run_once() -> None:
    counter = Counter()
    harness = Harness(tools=[read_tool(counter.find)])
    gateway = harness.gateway()
    seen = await asyncio.gather(*(call(harness, "find", {"query": "锁"}, gateway=gateway) for _ in range(4)))
    assert sorted(one.outcome for one in seen) == ["ok", "repeat", "repeat", "repeat"]
    assert len(counter.calls) == 1


async def test_the_budget_is_reserved_before_parallel_calls_start() -> None:
    counter = Counter()
    harness = Harness(tools=[read_tool(counter.find)], budget=Budget(tool_calls=2))
    gateway = harness.gateway()
    seen = await asyncio.gather(*(call(harness, "find", {"query": str(n)}, gateway=gateway) for n in range(4)))
    assert [one.outcome for one in seen] == ["ok", "ok", "denied", "denied"]
    assert [one.counted for one in seen] == [True, True, False, False]
    assert len(counter.calls) == 2
    assert len(harness.log.of(ToolFinished)) == 4  # every call id has an end


async def test_R_FENCE_03_a_call_that_failed_transiently_may_be_tried_again_but_not_for_ever() -> None:
    counter = Counter()
    harness = Harness(tools=[read_tool(counter.find, retries=0)])
    gateway = harness.gateway()
    outcomes: list[str] = []
    for _ in range(4):
        counter.fail_first = ToolError("busy", transient=True)
        outcomes.append((await call(harness, "find", {"query": "锁"}, gateway=gateway)).outcome)
    assert outcomes == ["error", "error", "repeat", "repeat"]
    assert len(counter.calls) == 2


async def test_R_TOOL_06_a_read_is_retried_inside_one_call_after_a_transient_fault() -> None:
    counter = Counter()
    counter.fail_first = ConnectionResetError()
    harness = Harness(tools=[read_tool(counter.find)])
    seen = await call(harness, "find", {"query": "锁"})
    assert seen.outcome == "ok"
    assert len(counter.calls) == 2
    assert harness.meter.tool_calls == 1


async def test_a_blocked_sync_tool_is_given_up_at_its_time_limit_while_the_loop_stays_alive() -> None:
    release = threading.Event()
    started: list[float] = []

    def stuck(ctx: Ctx[Any]) -> str:
        """Hang."""
        started.append(time.monotonic())
        release.wait(30)
        return "late"

    harness = Harness(tools=[read_tool(stuck, timeout_s=0.2)])
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.01)

    ticker = asyncio.create_task(tick())
    try:
        began = time.monotonic()
        seen = await call(harness, "stuck", {})
        took = time.monotonic() - began
    finally:
        release.set()
        ticker.cancel()
    assert seen.outcome == "timeout"
    assert took < 0.45
    assert ticks > 5
    assert len(started) == 1  # the thread still runs: it is not started a second time beside itself (decision 5)


async def test_R_FENCE_01_a_tool_that_never_returns_ends_with_the_deadline_of_the_run() -> None:
    async def forever(ctx: Ctx[Any]) -> str:
        """Never."""
        await asyncio.Event().wait()
        return ""

    harness = Harness(tools=[read_tool(forever, timeout_s=60.0)], budget=Budget(seconds=0.1))
    began = time.monotonic()
    seen = await call(harness, "forever", {})
    assert seen.outcome == "timeout"
    assert time.monotonic() - began < 1.0


@pytest.mark.parametrize(
    ("error", "outcome", "says"),
    [
        (ToolError("no such recipe; ask for its name"), "error", "no such recipe"),
        (NotFoundError("recipe 7"), "denied", "not_found"),
        (ValueError("password=hunter2secret"), "error", "ValueError"),
    ],
)
async def test_whatever_a_tool_raises_becomes_an_observation(error: Exception, outcome: str, says: str) -> None:
    counter = Counter()
    counter.fail_first = error
    harness = Harness(tools=[read_tool(counter.find, retries=0)])
    seen = await call(harness, "find", {"query": "锁"})
    assert seen.outcome == outcome
    assert says in seen.text
    assert "hunter2" not in seen.text


@pytest.mark.parametrize("error", [FencedOutError(), DatabaseUnavailableError()])
async def test_a_lost_run_and_a_lost_database_end_the_attempt(error: Exception) -> None:
    counter = Counter()
    counter.fail_first = error
    harness = Harness(tools=[read_tool(counter.find)])
    with pytest.raises(type(error)):
        await call(harness, "find", {"query": "锁"})
    assert len(harness.log.of(ToolFinished)) == 1


async def test_cancellation_passes_through_and_the_call_still_has_an_end_in_the_log() -> None:
    entered = asyncio.Event()

    async def slow(ctx: Ctx[Any]) -> str:
        """Slow."""
        entered.set()
        await asyncio.Event().wait()
        return ""

    harness = Harness(tools=[read_tool(slow)])
    task = asyncio.create_task(call(harness, "slow", {}))
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [event.outcome for event in harness.log.of(ToolFinished)] == ["error"]


async def test_R_TOOL_05_an_engine_reaches_a_write_only_as_a_draft() -> None:
    counter = Counter()
    harness = Harness(tools=[write_tool(counter.log_meal)])
    seen = await call(harness, "log_meal", {"food": "米饭", "grams": 200})
    assert seen.action_id == "act_1"
    assert counter.calls == []
    assert [record.effect for record in harness.log.of(ToolCallRecord)] == ["draft"]


async def test_R_TOOL_05_without_leave_to_propose_a_write_does_not_exist() -> None:
    counter = Counter()
    harness = Harness(tools=[write_tool(counter.log_meal)], may_propose=False)
    seen = await call(harness, "log_meal", {"food": "米饭", "grams": 200})
    assert seen.outcome == "denied"
    assert counter.calls == []


async def test_a_write_refuses_a_field_it_does_not_know() -> None:
    counter = Counter()
    harness = Harness(tools=[write_tool(counter.log_meal)])
    seen = await call(harness, "log_meal", {"food": "米饭", "grams": 200, "tenant": "b"})
    assert seen.outcome == "invalid"
    assert harness.actions == []


async def test_reserved_fields_never_make_a_call_another_call() -> None:
    counter = Counter()
    harness = Harness(tools=[read_tool(counter.find)])
    gateway = harness.gateway()
    await call(harness, "find", {"query": "锁"}, gateway=gateway)
    again = await call(harness, "find", {"query": "锁", "_confirm": True}, gateway=gateway)
    assert again.outcome == "repeat"


async def test_R_IDEM_03_a_confirmed_write_runs_once_under_its_key() -> None:
    counter = Counter()
    tool = write_tool(counter.log_meal)
    action = pending(tool, tool.arguments(food="米饭", grams=200))
    confirmed = Harness(tools=[tool], confirmed=(tool, replaced(action, "executing")))
    first = await call(confirmed, "log_meal", {"food": "米饭", "grams": 200})
    again = await call(confirmed, "log_meal", {"food": "米饭", "grams": 200})
    assert (first.outcome, again.outcome, again.reused) == ("ok", "ok", True)
    (call_made,) = counter.calls
    assert list(confirmed.ledger.entries) == [call_made[2]]


async def test_a_write_whose_action_is_not_being_executed_is_denied() -> None:
    counter = Counter()
    tool = write_tool(counter.log_meal)
    action = pending(tool, tool.arguments(food="米饭", grams=200))
    harness = Harness(tools=[tool], confirmed=(tool, action))
    assert (await call(harness, "log_meal", {"food": "米饭", "grams": 200})).outcome == "denied"
    assert counter.calls == []


async def test_an_external_write_that_times_out_is_uncertain_and_never_repeated() -> None:
    calls = 0

    async def pay(ctx: Ctx[Any]) -> str:
        """Pay."""
        nonlocal calls
        calls += 1
        await asyncio.Event().wait()
        return ""

    tool = write_tool(pay, transactional=False, timeout_s=0.05)
    action = replaced(pending(tool, tool.arguments()), "executing")
    harness = Harness(tools=[tool], confirmed=(tool, action))
    assert (await call(harness, "pay", {})).outcome == "uncertain"
    assert (await call(harness, "pay", {})).outcome == "uncertain"
    assert calls == 1
    assert [entry.state for entry in harness.ledger.entries.values()] == ["uncertain"]


async def test_R_TOOL_06_secrets_and_private_fields_are_masked_and_output_is_bounded() -> None:
    async def fetch(ctx: Ctx[Any], query: str, pin: str) -> str:
        """Fetch."""
        return "Bearer abcdefghijklmnopqrstuv " + "长" * 500

    harness = Harness(tools=[read_tool(fetch, redact=frozenset({"pin"}), max_output=100)])
    seen = await call(harness, "fetch", {"query": "sk-abcdefghijklmnopqrstuvwx", "pin": "1234"})
    (started,) = harness.log.of(ToolStarted)
    assert started.arguments == {"query": "[secret]", "pin": "[secret]"}
    assert "abcdefgh" not in seen.text
    assert len(seen.text) == 100


async def test_arguments_of_a_call_that_was_turned_away_stay_short_in_the_log() -> None:
    harness = Harness(tools=[])
    await call(harness, "nothing", {"text": "长" * 90_000})
    (started,) = harness.log.of(ToolStarted)
    assert len(str(started.arguments)) < 100


async def test_a_fault_in_a_tools_own_key_becomes_an_observation() -> None:
    counter = Counter()

    def broken(arguments: Any) -> object:
        raise KeyError("day")

    harness = Harness(tools=[read_tool(counter.find, key=broken)])
    seen = await call(harness, "find", {"query": "锁"})
    assert (seen.outcome, counter.calls) == ("error", [])


def replaced(action: Any, status: str) -> Any:
    from dataclasses import replace

    return replace(action, status=status)
