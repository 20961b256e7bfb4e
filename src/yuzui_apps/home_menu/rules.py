"""Patterns that decide without a model, each with its examples and counter-examples (R-ROUTE-03)."""

from yuzui import NEGATED, QUESTION_ABOUT, Rule
from yuzui_apps.home_menu.amounts import NUMBER, UNIT_EN, UNIT_ZH

_WHAT = "(?:什么|什麼|啥|哪些|多少)"
_IN_FRIDGE = "(?:里|裡|裏|里面|裡面|中|内|內)?"
_HOME = "(?:我|我们|我們|咱|咱们)?(?:家|家里|家裡)?的?"
_POLITE = "(?:请问|請問|请教一下|告诉我|帮我|麻烦)?"
_WHEN = "(?:今晚|今天|今日|晚上|中午|早上|明天|周末|晚饭|晚飯|午饭|午飯|早饭|早餐|晚餐|午餐)"
_CHANGE = "(?:改|换|換|删|刪|取消|安排|制定|制訂|排)"

FRIDGE = (
    Rule(
        rf"冰箱{_IN_FRIDGE}(?:还|還|都|现在|現在|目前){{0,3}}(?:有|剩)(?:下|些|点|了)?(?:的)?{_WHAT}(?!可以|能)"
        rf"|(?:看看?|查看|看一下|看下|瞧瞧|打开|列出){_HOME}冰箱{_IN_FRIDGE}(?:的?东西|的?清单|的?存货|的?内容)?(?=$|[\s,。!?;])"
        r"|冰箱(?:里的?)?(?:清单|存货|庫存|库存)",
        yes=["冰箱里有什么", "冰箱里还剩什么？", "看一下冰箱", "冰箱裡有什麼", "我家冰箱里都有哪些东西", "冰箱清单"],
        no=["把牛奶放进冰箱", "冰箱坏了怎么办", "用冰箱里的东西做什么菜好", "冰箱里有什么可以做的菜", "不要看冰箱"],
        unless=[NEGATED],
    ),
    Rule(
        r"what(?:'s|s| is| do (?:i|we) have| have (?:i|we) got)(?: there)?(?: still)?(?: left)? in (?:my|our|the) fridge"
        r"|(?:show|list|check)(?: me)?(?: what's in| what is in)? (?:my|our|the) fridge",
        yes=["What's in the fridge?", "what is left in our fridge", "show me the fridge"],
        no=["put milk in the fridge", "what can I cook from the fridge", "don't show me the fridge"],
        unless=[NEGATED],
    ),
)

FAMILY = (
    Rule(
        r"(?:家里|家裡|我们家|我們家|我家)(?:都|现在){0,2}(?:有)?(?:谁|誰|哪些人|几口人|幾口人)(?!.{0,6}(?:做饭|做飯|洗碗|买))"
        r"|(?:谁|誰|哪些人)(?:对|對).{1,8}(?:过敏|過敏)|(?:谁|誰)(?:会|有)?(?:过敏|過敏)|家(?:里)?人都?(?:对|對)(?:什么|什麼|哪些|啥).{0,4}(?:过敏|過敏)"
        r"|(?:家里|家裡|家人|我们家).{0,4}(?:过敏|過敏|忌口)(?:情况|信息|有哪些|是什么)",
        yes=["家里都有谁", "谁对花生过敏？", "家人过敏情况", "家人都对什么过敏", "誰對蝦過敏"],
        no=["今天晚上做什么菜，家里有人对花生过敏", "过敏了怎么办", "家里谁做饭"],
    ),
    Rule(
        r"who(?: is|'s) (?:in (?:my|our|the) family|allergic)|(?:my|our|the) family(?:'s)? allergies|what is (?:my|our|the) family allergic to",
        yes=["who is allergic to peanuts?", "who is in our family", "our family's allergies"],
        no=["what shall we cook, somebody is allergic to nuts"],
    ),
)

PLAN = (
    Rule(
        rf"(?:本周|这周|這周|這週|本週|这个星期|一周|今天|今日|今晚|明天|下周|后天)(?:(?!{_CHANGE}).){{0,3}}(?:菜单|菜單|食谱安排|用餐计划)(?!.{{0,4}}{_CHANGE})"
        rf"|(?<!改)(?:菜单|菜單)(?:上)?(?:有|是)(?:什么|什麼|啥|哪些)|(?:查看|看看?|看一下|看下)(?:我们?的?)?(?:菜单|菜單)(?!.{{0,4}}{_CHANGE})",
        yes=["本周菜单", "今天的菜单是什么", "看看这周的菜单", "看一下菜单", "本週菜單"],
        no=[
            "菜单怎么改",
            "今天晚上做什么菜",
            "帮我安排本周菜单",
            "不要本周菜单",
            "取消今天的菜单",
            "把今天的菜单改一下",
        ],
        unless=[NEGATED, rf"{_CHANGE}(?:一下|下|掉|成)?[^,。!?]{{0,8}}(?:菜单|菜單)"],
    ),
    Rule(
        r"(?:weekly|(?:this|next) week'?s?|today'?s|tonight'?s|tomorrow'?s) (?:menu|meal plan)|what(?:'s|s| is) on the menu|(?:show|see)(?: me)? (?:my|our|the) (?:menu|meal plan)",
        yes=["show this week's menu", "what's on the menu today", "show me the meal plan"],
        no=["change the menu", "make a weekly menu", "don't show this week's menu"],
        unless=[
            NEGATED,
            r"(?<![a-z])(?:make|change|create|write|plan|delete|remove|update|edit|cancel|clear) (?:me |us )?(?:a |an |the |our |my )?(?:new )?(?:weekly|this|next|today|tonight|tomorrow|menu)",
        ],
    ),
)

RECIPE = (
    Rule(
        rf"(?:^|(?<=[,。!?;]))\s?{_POLITE}(?P<query>[\u4e00-\u9fff]{{2,12}}?)(?:应该|應該|该|要|得)?(?:怎么|怎麼|咋|怎样|如何)(?:做|煮|烧|燒|炒|炖|蒸|弄)(?:才)?(?:好吃)?(?:呢|啊|呀|吗|的)?[?。!\s]{{0,3}}$",
        yes=["番茄炒蛋怎么做", "宫保鸡丁怎么做？", "请问家常豆腐怎么做", "紅燒肉怎麼做"],
        no=["今天晚上怎么做菜单计划", "冰箱坏了怎么办", "不知道怎么做", "我们该怎么做"],
        unless=[
            r"今天|今晚|晚上|明天|冰箱|菜单|计划|不知道|不会|不要|接下来|这个|那个|(?:我们?|你|他|她|现在|过敏)[^,。]{0,4}(?:怎么|怎样|如何)"
        ],
    ),
    Rule(
        rf"(?:^|(?<=[,。!?;]))\s?{_POLITE}(?:怎么|怎麼|怎样|如何)(?:做|煮|烧|燒|炖|蒸)(?P<query>[\u4e00-\u9fff]{{2,10}}?)(?:呢|啊|呀)?[?。!\s]{{0,3}}$",
        yes=["怎么做宫保鸡丁", "请问如何做番茄炒蛋？"],
        no=["怎么做菜单计划", "怎么做才好", "如何做决定"],
        unless=[r"计划|菜单|决定|选择|才好|比较好|好吃|[做煮](?:饭|菜)"],
    ),
    Rule(
        r"(?:recipe for|how (?:do (?:i|we|you)|to|can i) (?:make|cook|prepare)) (?:a |an |some |the )?(?P<query>[a-z][a-z'-]{1,20}(?: [a-z][a-z'-]{0,20}){0,4})(?=[?.!\s]{0,3}$)",
        yes=["recipe for potato curry", "How to make mashed potatoes?"],
        no=["how to plan a week", "how to make a plan for dinner", "how to make a weekly menu"],
        unless=[r"(?<![a-z])(?:plan|menu|list|week|dinner|lunch|decision|sure|sense|friends|money)(?![a-z])"],
    ),
)

_ENERGY = "(?:热量|熱量|卡路里|大卡|千卡|千焦|kcal|卡|营养成分|营养|營養|蛋白质|蛋白質|脂肪|碳水|钠)"
_EATEN = "昨天|前天|今天|今晚|本周|目标|我们?(?!家)|吃(?:了|过|够|完|得|不)|冰箱|菜单|哪些|什么|什麼|[最更]"
NUTRITION = (
    Rule(
        rf"(?:^|(?<=[,。!?;]))\s?{_POLITE}(?:查一下|查下|查查|查询|查|看看)?(?P<amount>{NUMBER}\s{{0,2}}{UNIT_ZH}半?|{NUMBER}\s{{0,2}}{UNIT_EN})?\s?(?:的)?(?P<food>[\u4e00-\u9fff]{{1,10}}?)(?:里|含)?(?:有|是|含)?(?:多少|几)?(?:的)?{_ENERGY}"
        r"(?:含量|值)?(?:大概|大约)?(?:是|有)?(?:多少|几|怎么样|高吗|高不高|如何)?(?:大卡|千卡|卡)?(?:呢|啊|呀)?(?=[?。!\s]{0,3}$|[,;。?!])",
        yes=[
            "猪肉的热量",
            "100克猪肉多少卡",
            "豆腐热量是多少？",
            "查一下鸡蛋的营养",
            "两个鸡蛋有多少热量",
            "豬肉的熱量",
        ],
        no=["昨天我吃够 2000 卡了吗", "我今天吃了多少卡", "今天的热量", "什么菜热量最低", "银行卡", "不要查猪肉的热量"],
        unless=[_EATEN, r"(?:银行|信用|公交|饭|会员|手机|显|打|刷|办)卡", NEGATED],
    ),
    Rule(
        rf"(?:how many (?:calories|kcal|carbs)(?: are| is)?(?: there)? in|how much (?:protein|fat|energy|sodium)(?: is)?(?: there)? in|(?:calories|energy|kcal|protein|nutrition|nutrients) (?:of|in|for)) (?P<amount>{NUMBER} ?{UNIT_EN}?)? ?(?:of )?(?P<food>[a-z][a-z'-]{{1,20}}(?: [a-z][a-z'-]{{0,20}}){{0,3}})(?=[?.!\s]{{0,3}}$)",
        yes=["how many calories in pork?", "nutrition of tofu", "how much protein is in 200 g of chicken breast"],
        no=["did I eat 2000 calories yesterday", "how many calories in my fridge", "nutrition for kids today"],
        unless=[r"(?<![a-z])(?:my|our|fridge|today|yesterday|tonight|menu|plan|week|i|we)(?![a-z])", NEGATED],
    ),
)

_PUT = "(?:放进|放進|放到|放入|放回|存进|存進|存到|存入|加到|加进|加入|添到|塞进|塞到|搁进|收进|放(?=(?:我|咱|家)?[^,。!?]{0,3}冰箱))"
_MORE_ITEMS = rf"(?:和|跟|与|與|及|还有|還有|、|,)\s?{NUMBER}\s?(?:{UNIT_ZH}|{UNIT_EN})"
_PAST = r"(?:放进|放進|放到|放入|存进|放)(?:了)?[^,。!?]{0,6}冰箱(?:里|裡)?(?:多久|几天)|(?:昨天|刚才|剛才|已经|已經|之前|上周|前天)"
_IDLE = r"如果|假如|要是|万一|(?:能|可以)(?:放|存)多久|之后|以后会|的话"
ADD_ITEM = (
    Rule(
        rf"(?:(?:把|将|將)\s{{0,3}}|(?<![,、和跟与與及])(?<![,、]\s))(?P<number>{NUMBER})\s{{0,3}}(?P<unit>{UNIT_ZH})(?P<half>半)?\s{{0,3}}(?:的)?(?P<name>[\u4e00-\u9fffa-z]{{1,16}}?)\s{{0,3}}(?:都|也|先|给我|帮我)?{_PUT}(?:了)?{_HOME}冰箱",
        yes=["把两盒牛奶放进冰箱", "帮我把 500克牛肉 放到冰箱里", "将３袋饺子存进冰箱", "把半斤虾放进冰箱", "把2盒牛奶放冰箱里", "把兩盒牛奶放進冰箱", "把两斤半牛肉放进冰箱"],
        no=["要不要把两盒牛奶放进冰箱？", "不要把两盒牛奶放进冰箱", "昨天我把两盒牛奶放进冰箱了吗", "昨天把两盒牛奶放进冰箱了", "把两盒牛奶和三个鸡蛋放进冰箱", "如果把两盒牛奶放进冰箱会坏吗", "把两盒牛奶放冰箱外面"],
        unless=[QUESTION_ABOUT, NEGATED, _MORE_ITEMS, _PAST, _IDLE, r"冰箱(?:外|旁|上面|顶|下面)"],
    ),
    Rule(
        rf"(?:^|(?<=[,。!?;]))\s?(?:请|帮我|麻烦|麻烦帮我)?(?:再)?(?:放|加|存|添|塞)\s?(?P<number>{NUMBER})\s{{0,3}}(?P<unit>{UNIT_ZH})(?P<half>半)?\s{{0,3}}(?:的)?(?P<name>[\u4e00-\u9fffa-z]{{1,16}}?)(?:到|进|進|在|去){_HOME}冰箱{_IN_FRIDGE}(?:去|吧|哦|啦)?(?=[。!\s]{{0,3}}$)",
        yes=["放两个鸡蛋到冰箱", "帮我放三盒酸奶进冰箱里吧"],
        no=["放两个鸡蛋到冰箱了吗", "别放两个鸡蛋到冰箱", "放两个鸡蛋到锅里", "放两个鸡蛋和三个番茄到冰箱"],
        unless=[QUESTION_ABOUT, NEGATED, _MORE_ITEMS, _PAST, _IDLE],
    ),
    Rule(
        rf"(?:^|(?<=[,。!?;]))\s?(?:请|帮我|麻烦|麻烦帮我)?(?:往|向|在|给)?{_HOME}冰箱{_IN_FRIDGE}(?:再|帮我|多)?(?:放|加|存|添|塞)(?:入|进|进去|上|了)?\s?(?P<number>{NUMBER})\s{{0,3}}(?P<unit>{UNIT_ZH})(?P<half>半)?\s{{0,3}}(?P<name>[\u4e00-\u9fffa-z]{{1,16}}?)(?:吧|哦|啦)?(?=[。!\s]{{0,3}}$)",
        yes=["往冰箱里放两盒牛奶", "冰箱里再加三个番茄吧"],
        no=["冰箱里放了两盒牛奶吗", "别往冰箱里放两盒牛奶", "冰箱里有两盒牛奶", "冰箱里放两盒牛奶和三个鸡蛋"],
        unless=[QUESTION_ABOUT, NEGATED, _MORE_ITEMS, _PAST, _IDLE],
    ),
    Rule(
        rf"(?<![a-z])(?:put|add|store) (?P<number>{NUMBER}) ?(?P<unit>{UNIT_EN})? ?(?:of )?(?P<name>[a-z][a-z'-]{{0,20}}(?: [a-z][a-z'-]{{0,20}}){{0,3}}) (?:in|into|to|inside) (?:my|our|the) fridge",
        yes=["put two boxes of milk in the fridge", "Add 500 g beef to our fridge", "please store 3 bags of rice in the fridge", "add an apple to the fridge"],
        no=["don't put two boxes of milk in the fridge", "did I put two boxes of milk in the fridge?", "add apples to the fridge", "put 2 eggs and 3 lemons in the fridge", "if I put 2 eggs in the fridge, do they keep"],
        unless=[QUESTION_ABOUT, NEGATED, rf"(?:and|,|plus)\s{{0,2}}{NUMBER}", r"(?<![a-z])(?:if|yesterday|already|(?:i|we|he|she|they)(?:'ve| have)? put|used to)(?![a-z])"],
    ),
)  # fmt: skip

SUGGEST = (
    Rule(
        rf"{_WHEN}.{{0,8}}(?:做|吃|煮|烧|燒|弄)(?:点|點|些|个|個)?(?:什么|什麼|啥)|(?:做|吃)(?:点|點|些)?(?:什么|什麼|啥)(?:菜|饭|飯)?好|推荐.{{0,8}}(?:菜|食谱|晚餐|午餐)|推薦.{{0,8}}(?:菜|食譜)|(?:能|可以)(?:用来)?做(?:点|些)?(?:什么|什麼|啥|哪些|几道)菜?|冰箱{_IN_FRIDGE}有什么(?:可以|能)",
        yes=["今天晚上做什么菜，家里有人对花生过敏", "晚饭吃什么", "推荐几道快手菜", "冰箱里的东西能做什么菜", "今晚吃啥"],
        no=["今天的菜单是什么", "番茄炒蛋怎么做", "我今天吃了什么", "不要推荐菜"],
        unless=[r"吃了(?:什么|什麼|啥|点|些)|吃过|[做吃]什么工作", r"(?:不要|别|不用|不需要|無需|无需).{0,4}(?:推荐|推薦)"],
    ),
    Rule(
        r"what(?:'s| is)? ?(?:should|shall|can|could|to|for)? ?(?:i|we)? ?(?:cook|make|eat|have for|for) ?(?:for )?(?:tonight|dinner|lunch|breakfast|today)"
        r"|what (?:should|shall|can|could) (?:i|we) (?:cook|make|eat|have)|(?:suggest|recommend)(?: me| us)? (?:a |an |some )?(?:[a-z]{1,12} ){0,2}(?:dish|dishes|dinner|lunch|recipe|recipes|meal|meals)",
        yes=["What should we cook tonight? Someone is allergic to nuts", "suggest a dinner", "suggest a quick vegetarian dinner"],
        no=["what's on the menu today", "don't suggest a dinner"],
        unless=[r"(?:not|n't|never|dont) (?:suggest|recommend)"],
    ),
)  # fmt: skip
