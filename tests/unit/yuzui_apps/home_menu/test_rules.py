"""What people write in a kitchen, and which intent the rules give it: an intent, a question, or nothing (left to the classifier)."""

import time

import pytest

from yuzui.routing.route import Route, RouterInput
from yuzui.tools.matching import matching_copy
from yuzui_apps.home_menu import app

ROUTER = app.router()

CLAIMED = [
    ("冰箱里有什么", "fridge"),
    ("冰箱里还剩什么？", "fridge"),
    ("冰箱裡還有什麼", "fridge"),
    ("看看冰箱", "fridge"),
    ("帮我查看一下我家冰箱", "fridge"),
    ("我家冰箱里有啥", "fridge"),
    ("冰箱里面都有哪些东西啊", "fridge"),
    ("冰箱清单", "fridge"),
    ("What's in the fridge?", "fridge"),
    ("What’s in our fridge", "fridge"),
    ("ＷＨＡＴ IS IN MY FRIDGE？", "fridge"),
    ("whats in the fridge", "fridge"),
    ("please show me the fridge", "fridge"),
    ("家里都有谁", "family"),
    ("谁对花生过敏？", "family"),
    ("誰對蝦過敏", "family"),
    ("家人都对什么过敏", "family"),
    ("who is allergic to peanuts?", "family"),
    ("Who's in our family?", "family"),
    ("本周菜单", "plan"),
    ("看看這週的菜單", "plan"),
    ("今天的菜单是什么", "plan"),
    ("菜单上有什么", "plan"),
    ("看一下菜单", "plan"),
    ("show this week's menu", "plan"),
    ("what is on the menu today", "plan"),
    ("番茄炒蛋怎么做", "recipe"),
    ("请问宫保鸡丁怎么做呢？", "recipe"),
    ("怎么做家常豆腐", "recipe"),
    ("紅燒肉怎麼做", "recipe"),
    ("你好，番茄炒蛋怎么做？", "recipe"),
    ("recipe for potato curry", "recipe"),
    ("How do I make mashed potatoes?", "recipe"),
    ("猪肉的热量", "nutrition"),
    ("豬肉的熱量", "nutrition"),
    ("100克猪肉多少卡", "nutrition"),
    ("１００克豆腐热量是多少？", "nutrition"),
    ("两个鸡蛋有多少热量", "nutrition"),
    ("一碗米饭多少大卡", "nutrition"),
    ("查一下鸡蛋的营养", "nutrition"),
    ("牛奶的蛋白质含量", "nutrition"),
    ("how many calories are in tofu?", "nutrition"),
    ("nutrition of tofu", "nutrition"),
    ("how much protein is in 200 g of chicken breast", "nutrition"),
    ("把两盒牛奶放进冰箱", "add_item"),
    ("把兩盒牛奶放進冰箱", "add_item"),
    ("请把１２个鸡蛋放进冰箱", "add_item"),
    ("帮我把500克牛肉放到冰箱里", "add_item"),
    ("能不能帮我把两盒牛奶放进冰箱", "add_item"),
    ("把半斤虾放进冰箱", "add_item"),
    ("把两斤半牛肉放进我家的冰箱", "add_item"),
    ("往冰箱里放三个番茄", "add_item"),
    ("put two boxes of milk in the fridge", "add_item"),
    ("could you put 3 lemons in the fridge", "add_item"),
    ("Add a dozen eggs to our fridge", "add_item"),
    ("add an apple to the fridge", "add_item"),
    ("今天晚上做什么菜，家里有人对花生过敏", "suggest"),
    ("晚饭吃什么", "suggest"),
    ("今晚吃啥", "suggest"),
    ("推荐几道快手菜", "suggest"),
    ("冰箱里的东西能做什么菜", "suggest"),
    ("冰箱里有什么可以做的菜", "suggest"),
    ("What should we cook tonight?", "suggest"),
    ("suggest a quick vegetarian dinner", "suggest"),
    ("what's for dinner", "suggest"),
]

UNCLAIMED = [
    "要不要把两盒牛奶放进冰箱？",
    "不要把两盒牛奶放进冰箱",
    "别把两盒牛奶放进冰箱",
    "先不把两盒牛奶放进冰箱",
    "把两盒牛奶放进冰箱，算了",
    "昨天我把两盒牛奶放进冰箱了吗",
    "昨天把两盒牛奶放进冰箱了",
    "为什么要把两盒牛奶放进冰箱",
    "如果把两盒牛奶放进冰箱会坏吗",
    "两盒牛奶放进冰箱能放多久",
    "把两盒牛奶和三个鸡蛋放进冰箱",
    "两盒牛奶、三个鸡蛋放进冰箱",
    "把牛奶放进冰箱",
    "把第二盒牛奶放进冰箱",
    "don't put two boxes of milk in the fridge",
    "did I put two boxes of milk in the fridge?",
    "should I put 2 eggs in the fridge",
    "if I put 2 eggs in the fridge, do they keep",
    "put two boxes of milk in the fridge, never mind",
    "put 2 eggs and 3 lemons in the fridge",
    "add apples to the fridge",
    "add tenderloin to the fridge",
    "冰箱坏了怎么办",
    "冰箱里放了两盒牛奶吗",
    "不要看冰箱",
    "今天的热量",
    "我今天吃了多少卡",
    "昨天我吃够 2000 卡了吗",
    "银行卡",
    "什么菜热量最低",
    "did I eat 2000 calories yesterday",
    "菜单怎么改",
    "取消今天的菜单",
    "把今天的菜单改一下",
    "change the menu",
    "make a weekly menu",
    "don't show this week's menu",
    "我们该怎么做",
    "不知道怎么做",
    "过敏了怎么办",
    "我今天吃了什么",
    "how to make a plan for dinner",
    "不要推荐菜",
    "你好",
    "谢谢",
    "hello",
    "冰想里有神马",
    "whta is in teh frigde",
]

MIXED = [
    ("把两盒牛奶放进冰箱，然后看看今天晚上吃什么", {"add_item", "suggest"}),
    ("猪肉的热量，番茄炒蛋怎么做", {"nutrition", "recipe"}),
    ("冰箱里有什么？谁对花生过敏？", {"fridge", "family"}),
    ("show me the fridge and then put 2 eggs in the fridge", {"fridge", "add_item"}),
]


def _route(text: str) -> Route | None:
    return ROUTER.decide_by_rules(RouterInput(matching=matching_copy(text), original=text), "zh")


@pytest.mark.parametrize(("text", "intent"), CLAIMED)
def test_R_ROUTE_03_a_rule_decides_what_people_write(text: str, intent: str) -> None:
    route = _route(text)
    assert route is not None
    assert (route.intent, route.needs_clarification) == (intent, False)


@pytest.mark.parametrize("text", UNCLAIMED)
def test_R_ROUTE_04_questions_negations_and_vague_words_are_claimed_by_no_rule(text: str) -> None:
    assert _route(text) is None


@pytest.mark.parametrize(("text", "intents"), MIXED)
def test_R_ROUTE_04_two_wishes_in_one_message_are_asked_about(text: str, intents: set[str]) -> None:
    route = _route(text)
    assert route is not None
    assert route.needs_clarification
    chosen = [_route(option.message) for option in route.choices]
    assert {choice.intent for choice in chosen if choice} == intents


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("不要把牛奶放进冰箱，看看冰箱", "fridge"),
        ("不要推荐菜，只看本周菜单", "plan"),
        ("别放冰箱，番茄炒蛋怎么做", "recipe"),
    ],
)
def test_R_ROUTE_04_a_negated_clause_leaves_the_other_one_alone(text: str, intent: str) -> None:
    route = _route(text)
    assert route is not None
    assert (route.intent, route.needs_clarification) == (intent, False)


@pytest.mark.parametrize(
    ("text", "slots"),
    [
        ("把两盒牛奶放进冰箱", {"number": "两", "unit": "盒", "name": "牛奶"}),
        ("把两斤半牛肉放进冰箱", {"number": "两", "unit": "斤", "half": "半", "name": "牛肉"}),
        ("把十二个鸡蛋放进冰箱", {"number": "十二", "unit": "个", "name": "鸡蛋"}),
        ("冰箱里再加三个番茄吧", {"number": "三", "unit": "个", "name": "番茄"}),
        ("put 3 grapes in the fridge", {"number": "3", "name": "grapes"}),
        ("add 500 g of beef to the fridge", {"number": "500", "unit": "g", "name": "beef"}),
        ("put half a dozen eggs in the fridge", {"number": "half a dozen", "name": "eggs"}),
        ("add an apple to the fridge", {"number": "an", "name": "apple"}),
        ("两个鸡蛋有多少热量", {"amount": "两个", "food": "鸡蛋"}),
        ("查一下猪肉的热量", {"food": "猪肉"}),
        ("how many calories in 100 g of pork", {"amount": "100 g", "food": "pork"}),
        ("番茄炒蛋应该怎么做", {"query": "番茄炒蛋"}),
        ("how to make mashed potatoes?", {"query": "mashed potatoes"}),
    ],
)
def test_R_ROUTE_03_the_slots_hold_the_words_and_nothing_else(text: str, slots: dict[str, str]) -> None:
    route = _route(text)
    assert route is not None
    assert dict(route.slots) == slots


def test_R_ROUTE_03_the_table_covers_every_intent_with_rules() -> None:
    covered = {intent for _, intent in CLAIMED}
    assert {name for name, intent in app.intents.items() if intent.rules} <= covered
    assert len(CLAIMED) + len(UNCLAIMED) + len(MIXED) >= 80


@pytest.mark.parametrize("text", ["把" * 8000, "两盒" * 4000, "冰箱里有" * 2000, "how to make " * 600, "一百" * 4000])
def test_R_ROUTE_03_a_long_message_is_read_in_bounded_time(text: str) -> None:
    started = time.thread_time()
    _route(text)
    assert time.thread_time() - started < 2.0
