"""The end of what a child process wrote to its standard error: mostly the reason why it is gone."""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final, TextIO

from typing_extensions import override

from yuzui.tools.redact import redact_text

_KEPT: Final = 4_096  # bytes


class ChildLog(asyncio.Protocol):
    """Reads a child's standard error as it comes, so that the child never blocks on it, and keeps only the end."""

    def __init__(self) -> None:
        self._end = b""

    @override
    def data_received(self, data: bytes) -> None:
        """Keep the newest bytes."""
        self._end = (self._end + data)[-_KEPT:]

    def last_line(self) -> str:
        """The last line that is not empty, without secrets; empty when the child said nothing."""
        lines = self._end.decode("utf-8", "replace").strip().splitlines()
        return redact_text(lines[-1].strip())[:200] if lines else ""


@asynccontextmanager
async def child_log() -> AsyncGenerator[tuple[ChildLog, TextIO]]:
    """A log and the file to give to a child as its standard error."""
    loop = asyncio.get_running_loop()
    read_end, write_end = os.pipe()
    with os.fdopen(read_end, "rb", 0) as source, os.fdopen(write_end, "w") as file:
        transport, log = await loop.connect_read_pipe(ChildLog, source)
        try:
            yield log, file
        finally:
            transport.close()
