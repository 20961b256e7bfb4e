"""Two small sets of intents, as an operations app and a diet app would declare them."""

from yuzui.routing.intents import RoutableIntent
from yuzui.routing.readings import NEGATED
from yuzui.routing.route import RouterInput
from yuzui.routing.router import Router
from yuzui.routing.rules import ResourceId, Rule
from yuzui.tools.matching import matching_copy

INCIDENT = ResourceId("incident", r"incident_[a-z0-9]{2,32}")
DIAGNOSTIC = ResourceId("diagnostic", r"diagnostic_[a-z0-9]{2,32}")

CHAT = RoutableIntent(name="chat", description="Small talk.", mode="bounded_react", examples=("你好", "hello"))
KNOWLEDGE = RoutableIntent(
    name="knowledge_question",
    description="Asks about a concept.",
    mode="bounded_react",
    rules=(Rule(r"什么是|what\s+is", yes=["什么是数据库死锁？", "What is a deadlock?"], no=["你好"]),),
    threshold=0.5,
)
INCIDENT_LIST = RoutableIntent(
    name="incident_list",
    description="Lists open incidents.",
    mode="direct_read",
    rules=(
        Rule(r"(?:列出|当前|所有|list|open)\s?.{0,6}(?:事故|incidents)", yes=["列出当前事故", "list open incidents"]),
    ),
)
INCIDENT_QUERY = RoutableIntent(
    name="incident_query",
    description="Asks for the status of an incident.",
    mode="direct_read",
    needs=("incident",),
    rules=(
        Rule(
            r"(?:查看|看看?|查一?下?|show).{0,12}incident_",
            yes=["查看 incident_a1 的状态", "show incident_a1"],
            no=["启动诊断 incident_a1"],
            unless=[NEGATED],
        ),
        Rule(r"incident_[a-z0-9]+", yes=["incident_a1"], priority=-10),
    ),
)
START_DIAGNOSIS = RoutableIntent(
    name="start_diagnosis",
    description="Starts a diagnosis of an incident.",
    mode="confirmation_required",
    needs=("incident",),
    rules=(
        Rule(
            r"(?:启动|开始|发起).{0,4}诊断|诊断\s?\d?\s?一?下|start\s+(?:a\s+)?diagnosis",
            yes=["启动诊断 incident_a1", "Start a diagnosis of incident_a1"],
            no=["不要启动诊断 incident_a1", "启动诊断会影响业务吗"],
        ),
    ),
)
RECOVERY = RoutableIntent(
    name="recovery_request",
    description="Asks for a recovery.",
    mode="confirmation_required",
    needs=("diagnostic",),
    rules=(
        Rule(
            r"(?:执行|进行)?恢复|recover",
            yes=["根据 diagnostic_b2 执行恢复", "recover by diagnostic_b2"],
            no=["不要执行恢复", "怎么恢复 diagnostic_b2"],
        ),
    ),
)
OPERATIONS = (CHAT, KNOWLEDGE, INCIDENT_LIST, INCIDENT_QUERY, START_DIAGNOSIS, RECOVERY)

LOG_MEAL = RoutableIntent(
    name="log_meal",
    description="States a meal with foods and amounts.",
    mode="confirmation_required",
    rules=(
        Rule(
            r"(?P<grams>\d{1,4})\s?(?:克|g(?![a-z]))\s?(?:的|of)?\s?(?P<food>[一-龥]{1,8}|[a-z]{2,20})",
            yes=["午饭吃了 200 克米饭", "I ate 200 g of rice"],
            no=["我今天能不能再吃 200 克米饭？"],
        ),
    ),
)
DAY_TOTAL = RoutableIntent(
    name="day_total",
    description="Asks what was eaten.",
    mode="direct_read",
    rules=(
        Rule(
            r"(?:昨天|今天|记录).{0,10}(?:吃够|吃了多少|有.{1,6}吗|多少卡)|did\s+i\s+eat",
            yes=["昨天我吃够 2000 卡了吗", "记录里昨天有米饭吗", "What did I eat yesterday?"],
        ),
    ),
)
DIET = (CHAT, LOG_MEAL, DAY_TOTAL)


def operations() -> Router:
    """The operations app's router."""
    return Router("aiops", OPERATIONS, [INCIDENT, DIAGNOSTIC], "chat")


def diet() -> Router:
    """The diet app's router."""
    return Router("fitmind", DIET, [], "chat")


def said(text: str) -> RouterInput:
    """A message as screening hands it on, without flags."""
    return RouterInput(matching=matching_copy(text), original=text)
