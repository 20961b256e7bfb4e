"""Prometheus metrics of one process (R-OPSX-01). Counters of the durable side are read when they are asked for."""

import time
from collections.abc import Awaitable, Callable, Iterator

from prometheus_client import CollectorRegistry, Counter, GCCollector, Histogram, PlatformCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector
from typing_extensions import override

from yuzui.adapters.postgres.heart import Heart
from yuzui.entrypoints.sse import Streams
from yuzui.runs.audit import AuditRecord
from yuzui.runs.events import Event, PolicyCompiled
from yuzui.runs.log import AttemptLog
from yuzui.runs.run import Claim, Ending

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


class Measures:
    """The metrics of one composition, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self.registry)
        self._runs = Counter(
            "yuzui_runs", "Runs that ended here.", ("app", "mode", "status", "outcome"), registry=self.registry
        )
        self._seconds = Histogram(
            "yuzui_run_seconds",
            "Time from the start of an attempt to the stored ending.",
            ("app", "mode"),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._model_calls = Counter(
            "yuzui_model_calls", "Model calls.", ("purpose", "model", "outcome"), registry=self.registry
        )
        self._tool_calls = Counter("yuzui_tool_calls", "Tool calls.", ("tool", "outcome"), registry=self.registry)

    def watch(self, heart: Heart, streams: Streams) -> None:
        """Add what the durable side and the streams count themselves."""
        self.registry.register(_Durable(heart, streams))

    def text(self) -> bytes:
        """The text format of Prometheus."""
        return generate_latest(self.registry)

    def measured(
        self, converse: Callable[[Claim, AttemptLog], Awaitable[None]]
    ) -> Callable[[Claim, AttemptLog], Awaitable[None]]:
        """The same work, counted and timed."""

        async def execute(claim: Claim, log: AttemptLog) -> None:
            await converse(claim, _MeasuredLog(log, claim.run.app, self))

        return execute

    def record(self, entry: AuditRecord) -> None:
        """Count a call."""
        match entry.kind:
            case "model_call":
                self._model_calls.labels(entry.purpose, entry.model, entry.outcome).inc()
            case "tool_call":
                self._tool_calls.labels(entry.tool, entry.outcome).inc()
            case "confirmation":
                return

    def ended(self, app: str, mode: str, ending: Ending, seconds: float) -> None:
        """Count a run that ended."""
        self._runs.labels(app, mode, ending.status, ending.outcome or "").inc()
        self._seconds.labels(app, mode).observe(seconds)


class _MeasuredLog:
    """An `AttemptLog` that tells the metrics what passes through it."""

    def __init__(self, log: AttemptLog, app: str, measures: Measures) -> None:
        self._log = log
        self._app = app
        self._measures = measures
        self._mode = "none"
        self._begun = time.perf_counter()

    @property
    def run_id(self) -> str:
        """See `AttemptLog.run_id`."""
        return self._log.run_id

    def emit(self, event: Event) -> None:
        """See `AttemptLog.emit`."""
        if isinstance(event, PolicyCompiled):
            self._mode = event.mode
        self._log.emit(event)

    def record(self, entry: AuditRecord) -> None:
        """See `AttemptLog.record`."""
        self._measures.record(entry)
        self._log.record(entry)

    async def flush(self) -> None:
        """See `AttemptLog.flush`."""
        await self._log.flush()

    async def finish(self, ending: Ending) -> None:
        """See `AttemptLog.finish`."""
        await self._log.finish(ending)
        self._measures.ended(self._app, self._mode, ending, time.perf_counter() - self._begun)


class _Durable(Collector):
    def __init__(self, heart: Heart, streams: Streams) -> None:
        self._heart = heart
        self._streams = streams

    @override
    def collect(self) -> Iterator[Metric]:
        heart = self._heart
        for name, text, value in (
            ("yuzui_events", "Events stored by this process.", heart.writer.events_written),
            ("yuzui_flushes", "Statements that stored events.", heart.writer.flushes),
            ("yuzui_log_reads", "Pages of the log that were read from the database.", heart.hub.reads),
            (
                "yuzui_listener_reconnects",
                "Connections of the listener after its first.",
                max(0, heart.listener.reconnects),
            ),
        ):
            yield CounterMetricFamily(name, text, value=value)
        for name, text, value in (
            ("yuzui_runs_in_flight", "Runs this process works on now.", len(heart.dispatcher)),
            ("yuzui_event_streams", "Clients that follow a run now.", len(self._streams)),
            (
                "yuzui_listener_connected",
                "Whether notices of other processes arrive.",
                int(heart.listener.listening.is_set()),
            ),
        ):
            yield GaugeMetricFamily(name, text, value=value)
