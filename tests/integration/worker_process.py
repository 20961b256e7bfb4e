"""A worker in a process of its own, to be killed: `python -m tests.integration.worker_process DSN SESSION`.

It accepts one run, works on it step by step (an event, a ledger entry, a flush each), and prints what it has reached.
"""

import asyncio
import sys
from typing import Any

from tests.integration.heart_case import ALICE, delta, heart, message

from yuzui.adapters.postgres.heart import Heart
from yuzui.runs.log import AttemptLog
from yuzui.runs.run import Claim

STEPS = 5


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


async def main(dsn: str, session_id: str) -> None:
    beats: Heart

    async def work(claim: Claim, log: AttemptLog) -> None:
        for number in range(STEPS):
            scope: dict[str, Any] = {"run_id": claim.run.id, "tool": "add", "owner": ALICE.owner, "arguments": {}}
            async with beats.ledger.transaction(key=f"{claim.run.id}:{number}", **scope) as ledger:
                if ledger.earlier is None:
                    await ledger.db.execute("INSERT INTO public.effects VALUES (%(n)s)", n=number)
                    await ledger.done({"n": number})
            log.emit(delta(claim, f"{number} "))
            await log.flush()
            say(f"step {number}")
            await asyncio.sleep(0.05)
        await asyncio.Event().wait()

    async with heart(dsn, work) as beats:
        accepted = await beats.runs.accept(message(session_id), claim=True)
        if accepted.claim is None:
            raise SystemExit("the session was not free")
        say(accepted.run.id)
        beats.dispatcher.start(accepted.claim)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
