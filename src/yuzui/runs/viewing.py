"""Who watches which run, across processes: an app may want a run cancelled when its last viewer is gone (R-RUN-06)."""

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Protocol

import structlog

from yuzui.errors import YuzuiError

LOST_CLIENT: Final = "client_lost"
_REMEMBERED: Final = 2_000
_log = structlog.get_logger(__name__)


class Signals(Protocol):
    """Messages to every process. Below: LISTEN/NOTIFY, or memory in tests."""

    async def send(self, message: dict[str, Any]) -> None:
        """Tell every process, this one included."""
        ...


class CancelAbandoned(Protocol):
    """Cancels a run nobody watches any more."""

    def __call__(self, run_id: str, *, by: str, reason: str, apps: Sequence[str]) -> Awaitable[None]:
        """Cancel the run when it belongs to one of `apps` and has not ended."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class ViewingOptions:
    """`apps` cancel for a lost client, after `grace_s` seconds; other processes have `answer_s` seconds to say they watch."""

    apps: frozenset[str] = frozenset()
    grace_s: float = 15.0
    answer_s: float = 1.0


class Viewing:
    """Counts viewers in this process, and asks the others before it cancels. Runs that never had a viewer are left alone."""

    def __init__(self, *, signals: Signals, cancel: CancelAbandoned, options: ViewingOptions) -> None:
        self._signals = signals
        self._cancel = cancel
        self._options = options
        self._viewers: Counter[str] = Counter()
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._asking: dict[str, asyncio.Event] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._ended: OrderedDict[str, None] = OrderedDict()

    def attach(self, run_id: str) -> None:
        """A client begins to watch."""
        self._viewers[run_id] += 1
        self._forget_timer(run_id)

    def detach(self, run_id: str) -> None:
        """A client has stopped watching, for whatever reason."""
        self._viewers[run_id] -= 1
        if self._viewers[run_id] > 0:
            return
        del self._viewers[run_id]
        if self._options.apps and run_id not in self._ended:
            self._forget_timer(run_id)
            loop = asyncio.get_running_loop()
            self._timers[run_id] = loop.call_later(self._options.grace_s, self._spawn, run_id)

    def ended(self, run_id: str) -> None:
        """The run is over in this process: nobody has to be missed."""
        self._forget_timer(run_id)
        self._ended[run_id] = None
        if len(self._ended) > _REMEMBERED:
            self._ended.popitem(last=False)

    def restarted(self, run_id: str) -> None:
        """The run is worked on again."""
        self._ended.pop(run_id, None)

    def heard(self, message: dict[str, Any]) -> Awaitable[None] | None:
        """A message of another process; what it returns is to be awaited (an answer)."""
        run_id = str(message.get("run_id"))
        if message.get("type") == "viewers?" and self._viewers.get(run_id, 0) > 0:
            return self._signals.send({"type": "viewers!", "run_id": run_id})
        if message.get("type") == "viewers!" and run_id in self._asking:
            self._asking[run_id].set()
        return None

    async def close(self) -> None:
        """Stop all timers."""
        for run_id in list(self._timers):
            self._forget_timer(run_id)
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _forget_timer(self, run_id: str) -> None:
        timer = self._timers.pop(run_id, None)
        if timer is not None:
            timer.cancel()

    def _spawn(self, run_id: str) -> None:
        self._timers.pop(run_id, None)
        task = asyncio.create_task(self._abandoned(run_id), name=f"abandoned {run_id}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _abandoned(self, run_id: str) -> None:
        if run_id in self._viewers or run_id in self._asking:
            return
        answer = self._asking[run_id] = asyncio.Event()
        try:
            await self._signals.send({"type": "viewers?", "run_id": run_id})
            with suppress(TimeoutError):
                async with asyncio.timeout(self._options.answer_s):
                    await answer.wait()
            if answer.is_set() or run_id in self._viewers:
                return
            await self._cancel(
                run_id, by=LOST_CLIENT, reason="the last viewer has gone", apps=sorted(self._options.apps)
            )
        except YuzuiError as error:
            _log.warning("abandoned_run_not_cancelled", run_id=run_id, error=error.code)
        finally:
            del self._asking[run_id]
