"""The same task as the peers have, declared as two apps that differ in their engine, and one direct read."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from benchmarks.peers.peer import look_up
from yuzui import App, BoundedReact, Budget, Ctx, Database, DirectRead, Rule, ToolError

SELECT = "select id, owner, status, report from bench_incident where id = %(id)s and owner = %(owner)s"
OWNERS = 100


@dataclass(frozen=True, slots=True)
class Incidents:
    """The service of the benchmark: the SELECT that the floor endpoint runs too."""

    database: Database

    async def get(self, number: int) -> dict[str, Any] | None:
        """One incident, or None."""
        return await self.database.row(SELECT, id=number, owner=number % OWNERS)


def declare(name: str, engine: Literal["json", "native"]) -> App[Incidents]:
    """The benchmark's app on one engine."""
    app: App[Incidents] = App(name, deps=Incidents, assets=Path(__file__).parent / "assets", engine=engine)

    @app.read
    async def knowledge_search(ctx: Ctx[Incidents], query: str) -> str:
        """在知识库里检索。"""
        return look_up(query)

    @app.read
    async def incident(ctx: Ctx[Incidents], number: int) -> dict[str, Any]:
        """一个事件的状态和报告。"""
        found = await ctx.deps.get(number)
        if found is None:
            raise ToolError(f"没有事件 {number}")
        return found

    app.intent(
        "incident",
        "Asks for the state of one incident.",
        rules=[Rule(r"查看 incident_(?P<number>\d+) 的状态", yes=["查看 incident_7 的状态"], no=["什么是 incident"])],
        policy=DirectRead(incident, arguments=_number, requires=("status", "report"), render=_summary),
    )
    app.intent(
        "question",
        "Asks a question about operations.",
        rules=[Rule("什么是", yes=["什么是数据库死锁？"], no=["查看 incident_7 的状态"])],
        policy=BoundedReact([knowledge_search], budget=Budget(model_calls=3, tool_calls=2, seconds=120)),
    )
    return app


def _number(slots: Any) -> dict[str, Any]:
    return {"number": int(slots["number"])}


def _summary(value: dict[str, Any], _: str) -> str:
    return f"incident_{value['id']}：{value['status']}，处置方式 {value['report']['mode']}"


json_app = declare("bench-json", "json")
native_app = declare("bench-native", "native")
