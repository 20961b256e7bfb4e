"""Text that looks like an injected instruction (R-SAFE-04).

A hit only ever narrows what a run may do, so a miss costs nothing that the fences do not hold anyway; the patterns are kept
narrow so that ordinary sentences are left alone. Every repetition is bounded: the text is a stranger's, up to the longest
message, and unbounded white space before a word that never comes would cost the square or cube of its length.
"""

import re

_RULES_ZH = r"(?:规则|指令|指示|提示词|系统提示|设定|约束|安全策略|prompt)"
_DISREGARD_ZH = r"(?:忽略|无视|忘记|忘掉|抛开|绕过|违反|不要?(?:再)?(?:遵守|理会))掉?"
_STANDING_ZH = r"(?:之前|以上|上面|上述|先前|前面|此前|所有|全部|一切|任何|系统|你的|原有)"
_DISREGARD_EN = r"(?:ignore|disregard|forget|override|bypass)"
_STANDING_EN = r"(?:previous|prior|above|earlier|preceding|existing|system|safety)"
_RULES_EN = (
    r"(?:instructions?|rules?|prompts?|directions?|guidelines?|polic(?:y|ies)|restrictions?|constraints?|programming)"
)
_PATTERNS = (
    # 忽略之前所有规则 / 无视系统的指令
    rf"{_DISREGARD_ZH}.{{0,6}}{_STANDING_ZH}.{{0,6}}{_RULES_ZH}",
    r"(?:忽略|无视|绕过|解除|取消)掉?(?:你的|系统的?|所有的?|一切|全部的?|任何)(?:安全)?限制",
    # 你现在是…开发者模式 / 进入无限制模式
    r"你(?:现在|从现在起|从此).{0,12}(?:开发者|越狱|无限制|不受限制|上帝|管理员|调试|debug|dan|root)的?\s{0,4}(?:模式|权限|身份)",
    r"(?:进入|切换到?|开启|启用|激活).{0,4}(?:开发者|越狱|无限制|上帝|dan)\s{0,4}模式",
    r"(?:输出|显示|泄露|打印|复述|重复|告诉我).{0,4}(?:你的|系统的?)(?:完整的?|全部的?)?\s{0,4}(?:提示词|系统提示|系统指令|初始指令|system prompt|prompt)",
    r"(?:跳过|绕过|无需|不需要|不经过?)(?:用户|人工|我)?的?(?:确认|审批|授权|权限检查).{0,6}(?:执行|恢复|删除|调用|写入|终止)",
    # ignore all previous instructions / disregard your rules
    rf"{_DISREGARD_EN}\s{{1,4}}(?:(?:all|any|every|of|the|these|those|your)\s{{1,4}}){{0,4}}{_STANDING_EN}\s{{1,4}}(?:[a-z]{{1,20}}\s{{1,4}}){{0,2}}{_RULES_EN}",
    rf"{_DISREGARD_EN}\s{{1,4}}(?:(?:all|any|every)\s{{1,4}}(?:of\s{{1,4}})?(?:(?:the|your)\s{{1,4}})?|your\s{{1,4}}){_RULES_EN}",
    r"you\s{1,4}are\s{1,4}now\s{1,4}.{0,24}(?:developer|jailbreak|jailbroken|god|unrestricted|admin|root|debug|dan)(?:\s{1,4}mode|\s{1,4}access|$|[\s,.!])",
    r"(?:enter|enable|activate|switch\s{1,4}to)\s{1,4}(?:the\s{1,4})?(?:developer|jailbreak|god|unrestricted|dan)\s{1,4}mode",
    r"(?:reveal|print|show|repeat|output|leak)\s{1,4}(?:me\s{1,4})?(?:your|the)\s{1,4}(?:full\s{1,4}|entire\s{1,4})?(?:system|hidden|initial)\s{1,4}(?:prompt|instructions?)",
    r"(?:skip|bypass|without)\s{1,4}(?:(?:the|any|user|human|asking|for)\s{1,4}){0,3}(?:confirmation|approval|permission\s{1,4}checks?)",
    r"new\s{1,4}(?:system\s{1,4})?instructions?\s{0,4}:",
    # a role tag that begins a line, and the tags of chat templates
    r"(?m)^ {0,8}[#*\[<【]{0,3} {0,4}(?:system|assistant|developer|系统(?:提示|指令|消息)) {0,4}[\]>】*]{0,3} {0,4}: {0,8}\S",
    r"</?\s{0,4}(?:system|assistant|observation|tool_result|untrusted[a-z_-]{0,20})\s{0,4}>",
    r"<\|[a-z_]{2,20}\|>|\[/?inst\]|<</?sys>>",
    # look-alikes of a tool call
    r"<\s{0,4}/?\s{0,4}(?:tool_call|function_calls?|invoke|tool_use)[\s>]",
    r"\"(?:tool|tool_name|action|function|name)\"\s{0,4}:\s{0,4}\"[^\"\n]{1,80}\"\s{0,4},\s{0,4}\"(?:args|arguments|parameters|action_input|input)\"\s{0,4}:",
)
_INJECTED = tuple(re.compile(pattern) for pattern in _PATTERNS)
_GAP_IN_HAN = re.compile(r"(?<=[\u4e00-\u9fff])[ ]+(?=[\u4e00-\u9fff])")


def looks_injected(matching: str) -> bool:
    """Whether a matching copy holds text that speaks to the machinery instead of asking it for something."""
    joined = _GAP_IN_HAN.sub("", matching)
    return any(pattern.search(joined) for pattern in _INJECTED)
