"""Carries claimed runs out in this process: slots, retries, cancellation, hand-over (R-RUN-02, R-RUN-04, R-RUN-06)."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, TypeAlias

import structlog

from yuzui.errors import FencedOutError, YuzuiError
from yuzui.runs.events import RunCancelled, RunFailed
from yuzui.runs.log import AttemptLog
from yuzui.runs.run import Claim, Ending
from yuzui.runs.viewing import Viewing

Why: TypeAlias = Literal["cancel", "lost", "shutdown"]

_SLOT_WAIT_S: Final = 1.0
_RELEASE_TRIES: Final = 5
_log = structlog.get_logger(__name__)


class Pen(AttemptLog, Protocol):
    """The log of an attempt, as its dispatcher sees it."""

    ended: bool

    def on_lost(self, tell: Callable[[YuzuiError], None]) -> None:
        """Call `tell` once when the attempt may not write any more."""
        ...


class Attempts(Protocol):
    """What the dispatcher needs of the run store."""

    async def claim(self, run_id: str) -> Claim | None:
        """See `RunStore.claim`."""
        ...

    def attempt_log(self, claim: Claim) -> Pen:
        """See `RunStore.attempt_log`."""
        ...

    async def hand_over(self, claim: Claim, reason: str, *, delay_s: float = 0.0) -> None:
        """See `RunStore.hand_over`; nobody claims the run before `delay_s` seconds have passed."""
        ...

    def release(self, claim: Claim) -> None:
        """Forget a claim without asking the database."""
        ...


class Jobs(Protocol):
    """Wakes a worker for a queued run. Below: procrastinate, or memory in tests. A lost job is found by the sweeper."""

    async def defer(self, run_id: str, *, delay_s: float = 0.0) -> None:
        """Have some worker claim the run, after `delay_s` seconds. Deferring it again while it waits does nothing."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class DispatchOptions:
    """`concurrency` 0 works on nothing but what is decided by rules. Back-off of attempt n is `retry_s · 2ⁿ⁻¹` seconds."""

    concurrency: int = 8
    max_attempts: int = 3
    retry_s: float = 1.0


@dataclass(slots=True)
class _Work:
    claim: Claim
    task: asyncio.Task[None] | None = None
    why: Why | None = None
    by: str = ""
    reason: str = ""

    def stop(self, why: Why) -> None:
        if self.why is None and self.task is not None and not self.task.done():
            self.why = why
            self.task.cancel()


class RunDispatcher:
    """`execute(claim, log)` does the work and finishes the log. `viewing` counts who watches and cancels for lost clients."""

    def __init__(
        self,
        *,
        execute: Callable[[Claim, AttemptLog], Awaitable[None]],
        attempts: Attempts,
        jobs: Jobs,
        viewing: Viewing,
        options: DispatchOptions,
    ) -> None:
        self._execute = execute
        self._attempts = attempts
        self._jobs = jobs
        self._viewing = viewing
        self._options = options
        self._working: dict[str, _Work] = {}  # by token
        self._claiming = 0
        self._offered: dict[str, asyncio.Task[None]] = {}
        self._freed = asyncio.Event()
        self._stopping = False

    def __len__(self) -> int:
        return len(self._working)

    def free(self) -> bool:
        """Whether a slot of this process is free now."""
        return not self._stopping and len(self._working) + self._claiming < self._options.concurrency

    def start(self, claim: Claim) -> None:
        """Work on a claimed run in the background."""
        if claim.token in self._working:
            return
        work = _Work(claim)
        self._working[claim.token] = work
        work.task = asyncio.create_task(self._work(work), name=f"run {claim.run.id}")
        if self._stopping:
            work.stop("shutdown")

    def attach(self, run_id: str) -> None:
        """A client begins to watch."""
        self._viewing.attach(run_id)

    def detach(self, run_id: str) -> None:
        """A client has stopped watching."""
        self._viewing.detach(run_id)

    def heard(self, message: dict[str, Any]) -> Awaitable[None] | None:
        """A message of another process about viewers; what it returns is to be awaited."""
        return self._viewing.heard(message)

    def offer(self, run_id: str) -> None:
        """A queued run could be claimed: here when a slot is free, else by whoever gets its job."""
        if self._stopping or run_id in self._offered:
            return
        task = asyncio.create_task(self._offer(run_id), name=f"offer {run_id}")
        self._offered[run_id] = task
        task.add_done_callback(lambda _: self._offered.pop(run_id, None))

    async def run_queued(self, run_id: str) -> None:
        """The body of a job: claim the run when a slot is free, within a second, else let another worker have it."""
        if not await self._slot(_SLOT_WAIT_S):
            await self._jobs.defer(run_id)
            return
        await self._take(run_id)

    def cancel(self, run_id: str, by: str, reason: str) -> bool:
        """Stop the run promptly when it is worked on here; it ends as cancelled. False when it is not."""
        for work in self._working.values():
            if work.claim.run.id == run_id:
                work.by, work.reason = by, reason
                work.stop("cancel")
                return True
        return False

    def let_go(self, reason: str) -> None:
        """The lease cannot be trusted: stop every run here without a word; others take them over."""
        for work in list(self._working.values()):
            _log.warning("run_let_go", run_id=work.claim.run.id, reason=reason)
            work.stop("lost")
            self._attempts.release(work.claim)

    async def stop(self, *, grace_s: float) -> None:
        """Take nothing new, let runs end for `grace_s` seconds, then hand the rest over to other workers."""
        self._stopping = True
        tasks = [work.task for work in self._working.values() if work.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=grace_s)
        for work in list(self._working.values()):
            work.stop("shutdown")
        waiting = [work.task for work in self._working.values() if work.task is not None]
        if waiting:
            await asyncio.wait(waiting, timeout=10.0)
        offers = list(self._offered.values())
        for task in offers:
            task.cancel()
        if offers:
            await asyncio.wait(offers)
        await self._viewing.close()

    async def _offer(self, run_id: str) -> None:
        try:
            if self.free():
                await self._take(run_id)
            else:
                await self._jobs.defer(run_id)
        except YuzuiError as error:  # the sweeper offers it again
            _log.warning("offer_failed", run_id=run_id, error=error.code)

    async def _take(self, run_id: str) -> None:
        self._claiming += 1
        try:
            claim = await self._attempts.claim(run_id)
        finally:
            self._claiming -= 1
        if claim is not None:
            self.start(claim)

    async def _slot(self, within_s: float) -> bool:
        deadline = asyncio.get_running_loop().time() + within_s
        while not self.free():
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0 or self._stopping:
                return False
            self._freed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._freed.wait()
        return True

    async def _work(self, work: _Work) -> None:
        claim = work.claim
        try:
            self._viewing.restarted(claim.run.id)
            pen = self._attempts.attempt_log(claim)
            pen.on_lost(lambda _: work.stop("lost"))
            await self._attempt(work, pen)
        except FencedOutError:
            _log.info("run_fenced_out", run_id=claim.run.id, attempt=claim.attempt)
        except YuzuiError as error:
            _log.warning("run_released", run_id=claim.run.id, error=error.code)
            self._attempts.release(claim)
        finally:
            del self._working[claim.token]
            self._viewing.ended(claim.run.id)
            self._freed.set()

    async def _attempt(self, work: _Work, pen: Pen) -> None:
        claim = work.claim
        try:
            await self._execute(claim, pen)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or (work.why is None and task.cancelling()):
                raise
            if (
                work.why is None
            ):  # nobody stopped it: something it waited for was cancelled, which is a fault like any other
                await self._crashed(work, pen)
                return
            task.uncancel()
            await self._stopped(work, pen)
        except FencedOutError:
            raise
        except YuzuiError as error:
            await self._failed(work, pen, error)
        except (Exception, SystemExit):  # noqa: BLE001  the worker is an edge: whatever an app raises ends its run, not the process
            await self._crashed(work, pen)
        else:
            if not pen.ended:
                _log.error("run_not_finished", run_id=claim.run.id)
                await pen.finish(failure("internal", "Something went wrong.", retryable=False))

    async def _crashed(self, work: _Work, pen: Pen) -> None:
        _log.exception("run_crashed", run_id=work.claim.run.id, attempt=work.claim.attempt)
        await pen.finish(failure("internal", "Something went wrong.", retryable=False))

    async def _stopped(self, work: _Work, pen: Pen) -> None:
        match work.why:
            case "cancel":
                event = RunCancelled(by=work.by, reason=work.reason)
                await pen.finish(Ending(event=event, status="cancelled"))
            case "shutdown":
                await self._hand_over(work.claim, "shutdown", 0.0)
            case _:
                _log.warning("run_lost", run_id=work.claim.run.id, attempt=work.claim.attempt)

    async def _failed(self, work: _Work, pen: Pen, error: YuzuiError) -> None:
        claim = work.claim
        if error.retryable and claim.attempt < self._options.max_attempts and not pen.ended:
            _log.warning("run_retried", run_id=claim.run.id, attempt=claim.attempt, error=error.code)
            delay = error.retry_after or self._options.retry_s * 2 ** (claim.attempt - 1)
            await self._hand_over(claim, "retry", delay)
            return
        await pen.finish(failure(error.code, error.detail, retryable=error.retryable))

    async def _hand_over(self, claim: Claim, reason: str, delay_s: float) -> None:
        for tries in range(_RELEASE_TRIES):
            try:
                await self._attempts.hand_over(claim, reason, delay_s=delay_s)
                break
            except FencedOutError:
                raise
            except YuzuiError as error:
                if tries == _RELEASE_TRIES - 1:
                    raise
                _log.warning("hand_over_failed", run_id=claim.run.id, error=error.code)
                await asyncio.sleep(0.2 * 2**tries)
        await self._jobs.defer(claim.run.id, delay_s=delay_s)


def failure(code: str, detail: str, *, retryable: bool) -> Ending:
    """A run that ends as failed; `detail` is for the caller."""
    return Ending(
        event=RunFailed(code=code, detail=detail, retryable=retryable),
        status="failed",
        error={"code": code, "detail": detail, "retryable": retryable},
    )
