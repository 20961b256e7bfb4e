"""What the fake server's runs say: event payloads in the shapes of the contract, chosen by a word in the message."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html import escape
from typing import Any, TypeAlias

Payload: TypeAlias = tuple[str, dict[str, Any]]

APPS: list[dict[str, Any]] = [
    {
        "name": "fitmind",
        "title": {"en": "FitMind", "zh": "健身助手"},
        "tools": {"get_bmi": {"effect": "read", "labels": {"en": "Compute the BMI", "zh": "计算体质指数"}}},
        "examples": {
            "en": ["Work out my BMI", "How much protein do I need?", "Log a meal: 200 g of rice for lunch"],
            "zh": ["算下 BMI", "我每天需要多少蛋白质？", "记录饮食：午餐 200 克米饭"],
        },
    },
    {
        "name": "home-menu",
        "title": {"en": "Home menu", "zh": "小家菜单"},
        "examples": {"en": ["What is in the fridge?"], "zh": ["冰箱里有什么？"]},
    },
]
USAGE: dict[str, Any] = {
    "model_calls": 2,
    "tool_calls": 1,
    "tokens_in": 812,
    "tokens_out": 164,
    "cost": 0.0021,
    "seconds": 1.42,
}
PARAGRAPHS = (
    "Most adults do well with ",
    "**1.2–1.6 g** of protein ",
    "per kilogram of body weight a day. ",
    "成年人每公斤体重约 1.2–1.6 克。",
)
HOSTILE = (
    '<p id="kept">kept <b>bold</b> <a href="javascript:alert(1)" onclick="window.hit=1">link</a></p>'
    "<script>window.hit=1</script><img src=x onerror='window.hit=1' alt='a picture'>"
    "<img src='https://tracker.example/p.png'><p style='position:fixed' onmouseover='window.hit=1'>styled</p>"
    "<svg onload='window.hit=1'><script>window.hit=1</script></svg><iframe srcdoc='<script>parent.hit=1</script>'></iframe>"
    "<form action='https://tracker.example'><input name=x></form><math><mi xlink:href='javascript:1'>m</mi></math>"
)


def started(intent: str, mode: str, tools: list[str]) -> Iterator[Payload]:
    """The events every run begins with."""
    yield "run.created", {"status": "queued"}
    yield "run.started", {"attempt": 1}
    route: dict[str, Any] = {
        "intent": intent,
        "confidence": 0.94,
        "source": "rule",
        "rule_id": f"{intent}.1",
        "targets": {},
        "plan": "DIRECT",
    }
    yield "route.decided", {**route, "needs_clarification": False, "blocked_reason": None, "flags": []}
    budget = {"model_calls": 3, "tool_calls": 2, "rewrites": 1, "deadline_s": 120}
    policy = {
        "mode": mode,
        "tools": tools,
        "required_tools": tools[:1],
        "budget": budget,
        "postconditions": ["grounded"],
    }
    yield "policy.compiled", {**policy, "policy_hash": "5f1c9a", "catalog_version": "c41d"}


def call(tool: str, *, outcome: str = "ok", arguments: dict[str, Any] | None = None) -> Iterator[Payload]:
    """One tool call."""
    yield "tool.started", {"call_id": f"call_{tool}", "tool": tool, "arguments": arguments or {}}
    finished = {"outcome": outcome, "observation": "2 rows", "duration_ms": 38, "reused": False}
    yield "tool.finished", {"call_id": f"call_{tool}", "tool": tool, **finished}


def completed(text: str, *, html: str | None = None, source: str = "model", **extra: Any) -> Payload:
    """`message.completed` with everything that is not named left empty."""
    body: dict[str, Any] = {
        "text": text,
        "html": f"<p>{escape(text)}</p>" if html is None else html,
        "cards": [],
        "citations": [],
    }
    return "message.completed", {
        **body, "source": source, "explanation": "ok", "grounded": True, "truncated": None, "provenance": [], **extra
    }  # fmt: skip


def done(outcome: str = "answered") -> Payload:
    """The last event of a run that went well."""
    return "run.completed", {"outcome": outcome, "usage": USAGE}


def bmi(_: str) -> Iterator[Payload]:
    """A direct read with a card."""
    yield from started("bmi", "direct_read", ["get_bmi"])
    yield from call("get_bmi")
    fields = [
        {"label": {"en": "BMI", "zh": "体质指数"}, "value": 22.5},
        {"label": {"en": "Range", "zh": "范围"}, "value": "18.5–23.9"},
    ]
    rows = [{"day": "2026-03-01", "weight_kg": 65.2}, {"day": "2026-03-08", "weight_kg": 64.9}]
    actions = [{"label": {"en": "Energy target", "zh": "热量目标"}, "message": "算下热量 protein"}]
    card = {
        "kind": "bmi",
        "title": {"en": "Body-mass index", "zh": "体质指数"},
        "fields": fields,
        "items": rows,
        "actions": actions,
    }
    yield completed("Your BMI is 22.5. 你的 BMI 是 22.5。", source="direct", cards=[card])
    yield done()


def protein(_: str) -> Iterator[Payload]:
    """A knowledge answer: streamed, once reset, with citations and stamped figures."""
    yield from started("advice", "bounded_react", ["knowledge_retrieval", "lookup_food"])
    yield from call("knowledge_retrieval", arguments={"query": "protein per kg"})
    yield from call("lookup_food", outcome="timeout", arguments={"food": "豆腐"})
    yield "content.delta", {"text": "Let me think about fish"}
    yield "content.reset", {}
    for piece in PARAGRAPHS:
        yield "content.delta", {"text": piece}
    snippet = "Adults who train should aim for 1.2–1.6 g per kilogram.\u2028每公斤体重 1.2–1.6 克。"
    citation = {
        "n": 1,
        "chunk_id": "chk_1",
        "document": "doc_1",
        "title": "Nutrition handbook",
        "locator": "§ 3.2",
        "snippet": snippet,
    }
    yield "citation.added", citation
    notes = [
        {"subject": "豆腐 81 kcal/100 g", "provenance": "mcp_exact", "source": "food-composition"},
        {"subject": "午餐 364 kcal", "provenance": "mcp_derived", "source": "food-composition"},
        {"subject": "酱汁 40 kcal", "provenance": "llm_estimate", "source": ""},
    ]
    html = (
        "<p>Most adults do well with <strong>1.2–1.6 g</strong> of protein per kilogram of body weight a day [1].</p>"
    )
    html += "<ul><li>成年人每公斤体重约 1.2–1.6 克。</li><li>Tofu, eggs and fish are good sources.</li></ul>"
    yield completed("".join(PARAGRAPHS), html=html, citations=[citation], provenance=notes)
    yield done()


def clarify(_: str) -> Iterator[Payload]:
    """A question with choices."""
    yield from started("log_meal", "bounded_react", [])
    choices = [{"label": "Lunch 午餐", "message": "log lunch"}, {"label": "BMI", "message": "bmi please"}]
    yield "clarification.required", {"question": "Which meal do you mean? 你指哪一餐？", "choices": choices}
    yield done("clarification")


def log_meal(action_id: str, lifetime: timedelta) -> Iterator[Payload]:
    """A draft that waits for a person."""
    yield from started("log_meal", "confirmation_required", ["log_meal"])
    yield from call("log_meal", arguments={"food": "rice"})
    draft = {
        "action_id": action_id,
        "tool": "log_meal",
        "summary": "Record 200 g of rice for lunch on 1 March 2026 · 记录 2026年3月1日 午餐 200 克米饭",
        "arguments": {"food": "米饭", "grams": 200, "day": "2026-03-01", "meal": "lunch"},
        "expires_at": (datetime.now(UTC) + lifetime).isoformat(),
        "approval": "self",
    }
    yield "confirmation.required", draft
    yield completed("Please confirm. 请确认。")
    yield done("confirmation_required")


def hostile(_: str) -> Iterator[Payload]:
    """HTML that a broken server might let through."""
    yield from started("chat", "bounded_react", [])
    yield completed("hostile", html=HOSTILE, source="fallback", grounded=False, truncated="tool_calls")
    yield done()


def failing(_: str) -> Iterator[Payload]:
    """A run that fails in a way that trying again may help."""
    yield from started("chat", "bounded_react", [])
    yield (
        "run.failed",
        {"code": "model_unavailable", "detail": "The model did not answer. 模型没有应答。", "retryable": True},
    )


def effect(_: str) -> Iterator[Payload]:
    """The run that carries out a confirmed action."""
    yield "run.created", {"status": "queued"}
    yield "run.started", {"attempt": 1}
    yield from call("log_meal")
    yield completed("Recorded. 已记录。", source="direct")
    yield done()


SCRIPTS = {"bmi": bmi, "protein": protein, "蛋白质": protein, "which": clarify, "hostile": hostile, "fail": failing}
