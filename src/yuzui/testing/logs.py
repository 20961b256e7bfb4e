"""An attempt's log in memory, for tests of engines and tools."""

from dataclasses import dataclass, field
from typing import TypeVar

from yuzui.errors import FencedOutError
from yuzui.runs.audit import AuditRecord
from yuzui.runs.events import ContentDelta, ContentReset, Event
from yuzui.runs.run import Ending

E = TypeVar("E")


@dataclass(kw_only=True)
class MemoryLog:
    """An `AttemptLog` that keeps everything. After `fence()` another attempt owns the run: `flush` and `finish` raise."""

    run_id: str = "run_test"
    events: list[Event] = field(default_factory=list[Event])
    records: list[AuditRecord] = field(default_factory=list[AuditRecord])
    ending: Ending | None = None
    _fenced: bool = False

    def fence(self) -> None:
        """Let another attempt take the run over."""
        self._fenced = True

    def emit(self, event: Event) -> None:
        """Keep an event."""
        self.events.append(event)

    def record(self, entry: AuditRecord) -> None:
        """Keep an audit record."""
        self.records.append(entry)

    async def flush(self) -> None:
        """Nothing to wait for. Raises `FencedOutError` after `fence()`."""
        if self._fenced:
            raise FencedOutError

    async def finish(self, ending: Ending) -> None:
        """Keep the ending. Raises `FencedOutError` after `fence()`."""
        await self.flush()
        self.ending = ending

    def of(self, kind: type[E]) -> list[E]:
        """The events and records of one kind, in order."""
        return [item for item in (*self.events, *self.records) if isinstance(item, kind)]

    @property
    def visible(self) -> str:
        """The answer's text as a reader of the stream sees it now."""
        shown: list[str] = []
        for event in self.events:
            if isinstance(event, ContentDelta):
                shown.append(event.text)
            elif isinstance(event, ContentReset):
                shown.clear()
        return "".join(shown)
