"""What a person does with a pending action: confirm, reject, amend. One logic for every entrance (R-CONF-02, R-CONF-05)."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from yuzui.errors import ActionSettledError, ForbiddenError, InvalidInputError, NotFoundError
from yuzui.execution.confirmation import refuse_settled
from yuzui.execution.drafts import draft
from yuzui.owner import Caller
from yuzui.runs.actions import ActionStore, PendingAction
from yuzui.runs.ids import new_id
from yuzui.runs.log import EventReader, RunStore
from yuzui.runs.run import Accepted, NewRun
from yuzui.tools.gateway import ContextFactory
from yuzui.tools.tool import AnyTool, WriteTool

SETTLED = frozenset({"executed", "failed", "uncertain"})


@dataclass(frozen=True, kw_only=True, slots=True)
class AppTools:
    """What confirmations need of an app: its registry and its context factory."""

    tools: Mapping[str, AnyTool]
    context: ContextFactory


class Confirmations:
    """Decisions about pending actions. Another owner's action is `NotFoundError` on every path.

    `submit` accepts and dispatches a run (durably, before anything else); `wait_s` bounds how long `confirm` waits for the
    effect, in seconds.
    """

    def __init__(
        self,
        *,
        apps: Mapping[str, AppTools],
        actions: ActionStore,
        runs: RunStore,
        events: EventReader,
        submit: Callable[[NewRun], Any],
        ttl_s: float,
        wait_s: float = 30.0,
    ) -> None:
        self._apps = apps
        self._actions = actions
        self._runs = runs
        self._events = events
        self._submit = submit
        self._ttl_s = ttl_s
        self._wait_s = wait_s

    async def confirm(self, caller: Caller, action_id: str) -> PendingAction:
        """Carry the action out and return it settled; still `executing` when the effect took longer than the wait.

        Every confirm of one action leads to the same run: a double click, a retry, a second device.
        """
        action = await self._actions.get(caller.owner, action_id)
        refuse_settled(action)
        if action.approval == "approver":
            raise ForbiddenError("this action needs the approval of another person")
        if action.status in SETTLED:
            return action
        words = "确认执行：" if caller.locale == "zh" else "Confirmed: "
        accepted: Accepted = await self._submit(
            NewRun(
                id=new_id("run"),
                session_id=action.session_id,
                app=action.app,
                caller=caller,
                text=f"{words}{action.summary}",
                message_id=new_id("msg"),
                user_message_id=new_id("msg"),
                key=f"confirm {action.id}",  # a space: no client's Idempotency-Key can be this one
                body_hash=action.digest,
                kind="effect",
                action_id=action.id,
            )
        )
        await self._ended(accepted.run.id)
        settled = await self._actions.get(caller.owner, action_id)
        refuse_settled(settled)
        return settled

    async def reject(self, caller: Caller, action_id: str) -> PendingAction:
        """Refuse it. Terminal once: rejecting again returns the row, rejecting a settled one raises `ActionSettledError`."""
        await self._actions.get(caller.owner, action_id)
        await self._actions.settle(action_id, frm="pending", to="rejected", by=caller.owner.user)
        action = await self._actions.get(caller.owner, action_id)
        if action.status != "rejected":
            refuse_settled(action)
            raise ActionSettledError(f"the pending action is {action.status} already")
        return action

    async def amend(self, caller: Caller, action_id: str, arguments: Mapping[str, Any]) -> PendingAction:
        """A new draft with these fields changed; the old one is superseded. Raises `InvalidInputError` for bad arguments."""
        action = await self._actions.get(caller.owner, action_id)
        refuse_settled(action)
        app = self._apps.get(action.app)
        tool = app.tools.get(action.tool) if app else None
        if app is None or not isinstance(tool, WriteTool):
            raise NotFoundError
        try:
            validated = tool.arguments.model_validate({**action.arguments, **arguments})
        except ValidationError as error:
            problems = "; ".join(f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors())
            raise InvalidInputError(problems) from error
        run = await self._runs.get(caller.owner, action.run_id)
        replacement = draft(
            tool,
            validated,
            run=run,
            policy_hash=action.policy_hash,
            catalog_version=action.catalog_version,
            context=app.context,
            ttl_s=self._ttl_s,
        )
        stored = await self._actions.supersede(caller.owner, action_id, replacement, by=caller.owner.user)
        if stored is None:
            current = await self._actions.get(caller.owner, action_id)
            refuse_settled(current)
            raise ActionSettledError(f"the pending action is {current.status} already")
        return stored

    async def _ended(self, run_id: str) -> None:
        try:
            async with asyncio.timeout(self._wait_s):
                async for batch in self._events.follow(run_id, 0):
                    if batch and batch[-1].terminal:
                        return
        except TimeoutError:
            return
