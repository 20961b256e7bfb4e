"""Patterns that decide without a model, each with its examples and counter-examples (R-ROUTE-03)."""

from yuzui import NEGATED, QUESTION_ABOUT, Rule
from yuzui_apps.home_menu.amounts import NUMBER, UNIT_EN, UNIT_ZH

FRIDGE = (
    Rule(
        r"冰箱(?:里|裡|中|内|內)?(?:还|還|都|现在|現在)*(?:有|剩)(?:些|点)?(?:什么|什麼|啥|哪些|多少)|看(?:看|一下|下)?(?:我家|我们家|家里)?的?冰箱|冰箱清单",
        yes=["冰箱里有什么", "冰箱里还剩什么？", "看一下冰箱", "冰箱裡有什麼", "我家冰箱里都有哪些东西"],
        no=["把牛奶放进冰箱", "冰箱坏了怎么办", "用冰箱里的东西做什么菜好"],
    ),
    Rule(
        r"what(?:'s| is| do (?:i|we) have)(?: there)?(?: left)? in (?:my|our|the) fridge|show (?:me )?(?:my|our|the) fridge",
        yes=["What's in the fridge?", "what is left in our fridge", "show me the fridge"],
        no=["put milk in the fridge", "what can I cook from the fridge"],
    ),
)

FAMILY = (
    Rule(
        r"(?:家里|家裡|我们家|我家)(?:都)?(?:有)?(?:谁|誰|哪些人|几口人)|(?:谁|誰|哪些人)(?:对|對).{1,8}过敏|(?:家里|家人|我们家).{0,4}(?:过敏|過敏|忌口)(?:情况|信息|有哪些|是什么)",
        yes=["家里都有谁", "谁对花生过敏？", "家人过敏情况"],
        no=["今天晚上做什么菜，家里有人对花生过敏", "过敏了怎么办"],
    ),
    Rule(
        r"who is (?:in (?:my|our|the) family|allergic)|(?:my|our|the) family(?:'s)? allergies",
        yes=["who is allergic to peanuts?", "who is in our family", "our family's allergies"],
        no=["what shall we cook, somebody is allergic to nuts"],
    ),
)

PLAN = (
    Rule(
        r"(?:本周|这周|这个星期|一周|今天|今日|明天).{0,3}(?:的)?(?:菜单|菜單|食谱安排|用餐计划)|菜单(?:上)?(?:有|是)什么",
        yes=["本周菜单", "今天的菜单是什么", "看看这周的菜单"],
        no=["菜单怎么改", "今天晚上做什么菜"],
    ),
    Rule(
        r"(?:weekly|this week's|today's|tomorrow's) (?:menu|meal plan)|what(?:'s| is) on the menu",
        yes=["show this week's menu", "what's on the menu today"],
        no=["change the menu"],
    ),
)

RECIPE = (
    Rule(
        r"^(?:请问|请教一下|告诉我)?(?P<query>[\u4e00-\u9fff]{2,12}?)(?:应该|该)?(?:怎么|怎样|如何)(?:做|煮|烧|炒)(?:好吃|呢|啊|呀)?[?？。!！]*$",
        yes=["番茄炒蛋怎么做", "宫保鸡丁怎么做？", "请问家常豆腐怎么做"],
        no=["今天晚上怎么做菜单计划", "冰箱坏了怎么办"],
        unless=[r"(?:今天|今晚|晚上|明天|冰箱|菜单)"],
    ),
    Rule(
        r"(?:recipe for|how (?:do i|to) (?:make|cook)) (?P<query>[a-z][a-z -]{1,40})",
        yes=["recipe for potato curry", "How to make mashed potatoes?"],
        no=["how to plan a week"],
    ),
)

NUTRITION = (
    Rule(
        rf"^(?:请问|查一下|查查|查)?(?P<amount>{NUMBER}{UNIT_ZH})?(?:的)?(?P<food>[\u4e00-\u9fff]{{1,10}}?)(?:有|是|含)?(?:多少|几)?(?:的)?(?:热量|卡路里|大卡|千卡|kcal|卡|营养|蛋白质)(?:是|有)?(?:多少|几|怎么样|成分)?(?:呢|啊)?[?？。]*$",
        yes=["猪肉的热量", "100克猪肉多少卡", "豆腐热量是多少？", "查一下鸡蛋的营养"],
        no=["昨天我吃够 2000 卡了吗", "我今天吃了多少卡"],
        unless=[r"(?:昨天|今天|我|吃)"],
    ),
    Rule(
        r"(?:how many (?:calories|kcal) (?:are )?in|calories (?:of|in)|nutrition (?:of|for)) (?P<food>[a-z][a-z -]{1,30})",
        yes=["how many calories in pork?", "nutrition of tofu"],
        no=["did I eat 2000 calories yesterday"],
    ),
)

ADD_ITEM = (
    Rule(
        rf"(?:(?:把|将|將)\s{{0,3}})?(?P<number>{NUMBER})\s{{0,3}}(?P<unit>{UNIT_ZH})\s{{0,3}}(?P<name>[\u4e00-\u9fffa-z]{{1,16}}?)\s{{0,3}}(?:放进|放進|放到|放入|存进|加到|加进|塞进)(?:了)?(?:家里|我家|我们家)?(?:的)?冰箱",
        yes=["把两盒牛奶放进冰箱", "帮我把 500克牛肉 放到冰箱里", "将３袋饺子存进冰箱", "把半斤虾放进冰箱"],
        no=["要不要把两盒牛奶放进冰箱？", "不要把两盒牛奶放进冰箱", "昨天我把两盒牛奶放进冰箱了吗"],
        unless=[QUESTION_ABOUT, NEGATED],
    ),
    Rule(
        rf"(?<![a-z])(?:put|add|store) (?P<number>{NUMBER}) ?(?P<unit>{UNIT_EN})? ?(?:of )?(?P<name>[a-z][a-z -]{{1,30}}?) (?:in|into|to) (?:my|our|the) fridge",
        yes=[
            "put two boxes of milk in the fridge",
            "Add 500 g beef to our fridge",
            "please store 3 bags of rice in the fridge",
        ],
        no=["don't put two boxes of milk in the fridge", "did I put two boxes of milk in the fridge?"],
        unless=[QUESTION_ABOUT, NEGATED],
    ),
)

SUGGEST = (
    Rule(
        r"(?:今晚|今天|晚上|中午|明天|晚饭|午饭|晚餐|午餐).{0,8}(?:做|吃|煮|烧|弄)(?:点|些|个)?(?:什么|什麼|啥)|(?:做|吃)什么(?:菜|饭)?好|推荐.{0,6}(?:菜|食谱)|(?:能|可以)做(?:什么|啥|哪些)菜",
        yes=["今天晚上做什么菜，家里有人对花生过敏", "晚饭吃什么", "推荐几道快手菜", "冰箱里的东西能做什么菜"],
        no=["今天的菜单是什么", "番茄炒蛋怎么做", "我今天吃了什么"],
        unless=[r"吃了(?:什么|啥)"],
    ),
    Rule(
        r"what (?:should|shall|can|could) (?:i|we) (?:cook|make|eat|have)|(?:suggest|recommend) (?:a |some )?(?:dish|dinner|lunch|recipe|meal)",
        yes=["What should we cook tonight? Someone is allergic to nuts", "suggest a dinner"],
        no=["what's on the menu today"],
    ),
)
