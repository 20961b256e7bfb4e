"""An app whose writes take as long as the message says, for tests of what happens to a confirmed action in between."""

import asyncio
from pathlib import Path
from typing import Any

from yuzui import App, Confirm, Ctx, DirectRead, Rule


def _summary(_: Ctx[Any], arguments: Any) -> str:
    return f"write for {arguments.seconds:g} s"


writing: App[Any] = App("writing", deps=lambda database: database, assets=Path(__file__).parent / "assets")


@writing.write(summary=_summary, timeout_s=50)
async def write_inside(ctx: Ctx[Any], seconds: float) -> dict[str, float]:
    """Writes in the platform's own transaction."""
    await asyncio.sleep(seconds)
    return {"took": seconds}


@writing.write(summary=_summary, transactional=False, timeout_s=50)
async def write_outside(ctx: Ctx[Any], seconds: float) -> dict[str, float]:
    """Writes to another system."""
    await asyncio.sleep(seconds)
    return {"took": seconds}


@writing.read(timeout_s=60)
async def wait(ctx: Ctx[Any], seconds: float) -> dict[str, float]:
    """Waits."""
    await asyncio.sleep(seconds)
    return {"waited": seconds}


@writing.read()
async def crash(ctx: Ctx[Any]) -> dict[str, float]:
    """Never called: reading its rule's slots fails first."""
    return {}


def _broken(slots: Any) -> dict[str, float]:
    raise ZeroDivisionError(f"the app's own code failed over {slots['word']}")


def _seconds(slots: Any, _: Ctx[Any]) -> dict[str, float]:
    return {"seconds": float(slots["seconds"])}


@writing.read()
async def unwell(ctx: Ctx[Any], how: str) -> Any:
    """Goes wrong in ways that are no exception of its own."""
    match how:
        case "cancelled":
            task = asyncio.create_task(asyncio.sleep(60))
            asyncio.get_running_loop().call_soon(task.cancel)
            return await task
        case "exits":
            raise SystemExit(3)
        case "circular":
            circular: list[Any] = []
            circular += [circular, circular]
            return circular
        case _:
            return {"number": 10**5000, "nested": _nested(10_000), "nan": float("nan"), "bytes": b"\xff\x00"}


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


_SECONDS = r"(?P<seconds>\d+)"
for name, tool in (("inside", write_inside), ("outside", write_outside)):
    writing.intent(
        name,
        f"Asks to write {name}.",
        rules=[Rule(rf"write {name} {_SECONDS}", yes=[f"write {name} 3"])],
        policy=Confirm(tool, arguments=_seconds),
    )
writing.intent(
    "wait",
    "Asks to wait.",
    rules=[Rule(rf"wait {_SECONDS}", yes=["wait 3"])],
    policy=DirectRead(wait, arguments=lambda slots: {"seconds": float(slots["seconds"])}, seconds=60),
)
writing.intent(
    "crash",
    "Meets a fault of the app.",
    rules=[Rule(r"crash over (?P<word>\S+)", yes=["crash over words"])],
    policy=DirectRead(crash, arguments=_broken),
)
writing.intent(
    "unwell",
    "Asks for what goes wrong.",
    rules=[Rule(r"be unwell (?P<how>\w+)", yes=["be unwell exits"])],
    policy=DirectRead(unwell, arguments=lambda slots: {"how": slots["how"]}),
)


def _cancelled(slots: Any) -> dict[str, float]:
    raise asyncio.CancelledError(slots["word"])


writing.intent(
    "cancelled",
    "Meets a cancellation that nobody asked for.",
    rules=[Rule(r"cancelled over (?P<word>\S+)", yes=["cancelled over words"])],
    policy=DirectRead(crash, arguments=_cancelled),
)
