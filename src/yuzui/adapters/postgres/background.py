"""Ending background tasks for certain."""

import asyncio
from typing import Any, Final

_AGAIN_S: Final = 0.5


async def end(*tasks: "asyncio.Task[Any] | None") -> None:
    """Cancel tasks and wait for their end.

    More than once if need be: a cancellation that arrives while the driver waits for a connection that breaks at that very
    moment is replaced by the connection's error.
    """
    pending = {task for task in tasks if task is not None and not task.done()}
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=_AGAIN_S)
