"""Ready-made `unless` patterns: a question about an action, a negated action (R-ROUTE-04).

They are searched in the clause that a rule matched, in the matching copy (NFKC, lower case).
"""

_POLITE = r"(?:帮我|帮忙|替我|给我|麻烦|请(?!问))(?!.{0,4}(?:[看查算问想]|分析|评估|判断|确认|解释|说))"

QUESTION_ABOUT = "|".join(
    (
        # 能不能、可以…吗: a question, unless it asks for the thing to be done (能不能帮我记一下)
        rf"(?:能不能|可不可以|可否|能否|是否可以)(?!.{{0,4}}{_POLITE})",
        rf"^(?!.*{_POLITE}).*[吗嘛么]\s*[?。!~]*\s*$",
        r"呢\s*[?。!~]*\s*$",
        r"是不是|有没有|要不要|该不该|会不会|够不够|应不应该|需不需要|行不行|好不好|对不对|吃没吃|是否",
        r"多少|(?<!好)几(?:克|个|顿|次|天|卡|千卡|大卡|毫升|分钟|小时|公里|杯|碗)(?!前)",
        r"怎么|怎样|如何|为什么|为何|为啥|什么(?!都)|啥(?!都)|哪(?:些|个|天|种|里|儿|一)|谁|几时|何时",
        rf"^(?!.*(?:{_POLITE}|(?:can|could|would|will)\s+you|please)).*\?\s*$",
        r"^\W*(?:and\s+|so\s+|but\s+)?(?:did|do|does|is|are|am|was|were|have|has|had|should|shall|may|might|can\s+i|could\s+i|would\s+i|will\s+i|can\s+we|what|what's|when|where|which|who|whom|whose|why|how)(?![a-z])(?!\s+not(?![a-z]))",
        r"(?<![a-z])(?:whether|how\s+(?:much|many|to|do|does)|if\s+i\s+(?:can|could|should|may))(?![a-z])",
    )
)
"""The clause asks about the action instead of asking for it. Polite requests (能不能帮我…, "could you …") are not questions."""

NEGATED = "|".join(
    (
        r"不(?:要|用|必|想|需要|该|应该|(?<!能不)能|会|(?<!可不)可以|可(?!以)|许|准|再|打算|同意|允许|让|执行|启动|恢复|诊断|记|做|删|改|重启)",
        r"(?<![分级特性区识个类差])别(?![的人处名墅扭致样说管离])",
        r"勿|毋须|无需|无须|不得|禁止|严禁|拒绝|取消|撤销|停止|暂停|避免|免得|先不|没必要|没有必要",
        r"(?<!有)没(?:有)?(?:在|去|再|能|想|要|让|吃|喝|跑|练|做|记|动|启动|执行|恢复|诊断|运动|锻炼)",
        r"(?<![a-z])(?:do|does|did|should|must|can|could|will|would|need|shall|have|has|had|is|are|was|were)\s*(?:not|n't)(?![a-z])",
        r"(?<![a-z])(?:dont|didnt|doesnt|cannot|can't|won't|never|no\s+need|not\s+to|not\s+yet|without|instead\s+of|rather\s+than|avoid|refrain|stop|cancel|abort|skip)(?![a-z])",
        r"^\W*not\s",
    )
)
"""The clause says that the action is not to happen, or did not."""

RETRACTED = (
    r"(?:算了|还是(?:算|不)|不(?:用|要|必)了|当我没说|作罢|(?<![a-z])(?:never\s?mind|forget\s+it|scratch\s+that|on\s+second\s+thought))"
    r".{0,6}$"
)
"""The message ends by taking back what it said. It goes with `NEGATED`, and holds for everything before it."""
