"""What every execution receives: the run, its app, its policy, and the ports it may use."""

from dataclasses import dataclass

from yuzui.budget import Meter
from yuzui.model.metered import MeteredModel
from yuzui.owner import Caller, Locale
from yuzui.policy import CompiledPolicy
from yuzui.routing.route import Route
from yuzui.runs.log import AttemptLog
from yuzui.runs.run import RunRecord
from yuzui.tools.gateway import Gateway


@dataclass(frozen=True, kw_only=True, slots=True)
class Execution:
    """One attempt of one run, ready to be carried out. `model` is None in demo mode (R-DEG-01)."""

    run: RunRecord
    route: Route
    policy: CompiledPolicy
    gateway: Gateway
    meter: Meter
    log: AttemptLog
    model: MeteredModel | None

    @property
    def caller(self) -> Caller:
        """The authenticated person."""
        return self.run.caller

    @property
    def locale(self) -> Locale:
        """The language of everything code says to the person."""
        return self.run.caller.locale
