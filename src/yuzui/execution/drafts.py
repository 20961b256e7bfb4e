"""Drafts: from validated arguments of a write to a pending action whose digest is frozen (R-CONF-01, decision 3)."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from pydantic import BaseModel

from yuzui.errors import ToolError
from yuzui.policy import CompiledPolicy
from yuzui.runs.actions import ActionStore, PendingAction, action_digest
from yuzui.runs.ids import new_id
from yuzui.runs.run import RunRecord
from yuzui.tools.context import utc_now
from yuzui.tools.fence import canonical_json
from yuzui.tools.gateway import ContextFactory
from yuzui.tools.redact import redact_text
from yuzui.tools.render import as_json
from yuzui.tools.tool import WriteTool


@dataclass(frozen=True, kw_only=True, slots=True)
class Drafting:
    """What a draft needs to know of its run. `ttl_s` is the time a person has to confirm, in seconds."""

    run: RunRecord
    token: str
    policy: CompiledPolicy
    catalog_version: str
    actions: ActionStore
    context: ContextFactory
    ttl_s: float
    _drafted: dict[str, str] = field(default_factory=dict[str, str])

    async def propose(self, tool: WriteTool, arguments: BaseModel) -> PendingAction:
        """Create the pending action. A second, different draft of the same tool in one run is refused (an edited call must
        not come back as a new one); `ToolError` when the tool is not among the policy's proposals.
        """
        if tool.name not in self.policy.proposals:
            raise ToolError(f"{tool.name} may not be proposed in this request.")
        content = canonical_json(arguments)
        if self._drafted.setdefault(tool.name, content) != content:
            raise ToolError(f"A different draft of {tool.name} already waits for the person; do not draft it again.")
        action = draft(
            tool,
            arguments,
            run=self.run,
            policy_hash=self.policy.policy_hash,
            catalog_version=self.catalog_version,
            context=self.context,
            ttl_s=self.ttl_s,
        )
        return await self.actions.create(action, token=self.token)


def draft(
    tool: WriteTool,
    arguments: BaseModel,
    *,
    run: RunRecord,
    policy_hash: str,
    catalog_version: str,
    context: ContextFactory,
    ttl_s: float,
) -> PendingAction:
    """The pending action of a write: the card's text comes from code, the arguments are validated and frozen."""
    now = utc_now()
    expires_at = now + timedelta(seconds=ttl_s)
    owner = run.caller.owner
    values: dict[str, Any] = as_json(arguments)
    summary = redact_text(tool.summary(context(run.caller, run_id=run.id), arguments))
    return PendingAction(
        id=new_id("act"),
        run_id=run.id,
        session_id=run.session_id,
        app=run.app,
        owner=owner,
        tool=tool.name,
        arguments=values,
        summary=summary,
        digest=action_digest(
            tool=tool.name,
            arguments=canonical_json(values),
            owner=owner,
            policy_hash=policy_hash,
            expires_at=expires_at,
        ),
        policy_hash=policy_hash,
        catalog_version=catalog_version,
        approval=tool.approval,
        status="pending",
        created_at=now,
        expires_at=expires_at,
    )


def intact(action: PendingAction) -> bool:
    """Whether a stored action is still what was shown: its digest matches its content."""
    expected = action_digest(
        tool=action.tool,
        arguments=canonical_json(action.arguments),
        owner=action.owner,
        policy_hash=action.policy_hash,
        expires_at=action.expires_at,
    )
    return expected == action.digest
