"""Every layer's verdict, as `yuzui route explain` prints it."""

import json
from dataclasses import dataclass, replace

from tests.unit.routing.sample import operations, said

from yuzui.budget import Deadline
from yuzui.routing.explain import explain
from yuzui.testing.models import ScriptedModel

AIOPS = operations()


async def test_R_ROUTE_11_an_explanation_tells_ids_rules_and_what_kept_them_out() -> None:
    told = await explain(AIOPS, said("不要执行恢复，只看 incident_a1 的状态"), "zh", None, Deadline.after(5))
    assert told.ids == {"incident": ("incident_a1",)}
    by_rule = {verdict.rule_id: verdict for verdict in told.rules}
    assert by_rule["recovery_request/1"].excluded_by == "negated"
    assert by_rule["recovery_request/1"].clause == "不要执行恢复,"
    assert by_rule["incident_query/1"].excluded_by is None
    assert by_rule["incident_query/1"].matched == "看 incident_"
    assert told.conflict == ()
    assert (told.classifier, told.route.intent) == ("not asked", "incident_query")


async def test_R_ROUTE_11_an_explanation_names_conflicting_rules() -> None:
    told = await explain(AIOPS, said("查看 incident_a1 并且恢复 diagnostic_b2"), "zh", None, Deadline.after(5))
    assert set(told.conflict) == {"incident_query/1", "recovery_request/1"}
    assert told.route.needs_clarification


async def test_R_ROUTE_11_an_explanation_quotes_the_classifier_or_why_it_said_nothing() -> None:
    answer = '{"intent": "knowledge_question", "confidence": 0.8, "plan": "PARALLEL"}'
    told = await explain(AIOPS, said("聊聊死锁"), "en", ScriptedModel(script=[answer]), Deadline.after(5))
    assert told.classifier == "knowledge_question (0.80, PARALLEL)"
    told = await explain(AIOPS, said("聊聊死锁"), "en", ScriptedModel(script=["?"]), Deadline.after(5))
    assert told.classifier == "no proposal: bad_classification"
    assert told.route.source == "fallback"


@dataclass(frozen=True)
class _Blocked:
    reason: str


async def test_R_ROUTE_11_an_explanation_is_json_and_tells_screening() -> None:
    request = replace(said("启动诊断 incident_"), flags=("suspected_injection",), blocked=_Blocked("forbidden"))
    told = await explain(AIOPS, request, "zh", None, Deadline.after(5))
    public = json.loads(json.dumps(told.public(), ensure_ascii=False))
    assert public["flags"] == ["suspected_injection"]
    assert public["blocked_reason"] == "forbidden"
    assert public["malformed_ids"] == ["incident_"]
    assert public["route"]["source"] == "blocked"
