"""Clarifications: a question with choices, each of which is a message that routes by itself (R-ROUTE-02, R-ROUTE-06)."""

import re
from collections.abc import Mapping, Sequence

from yuzui.owner import Locale
from yuzui.routing.ids import Found, IdBook
from yuzui.routing.intents import RoutableIntent
from yuzui.routing.route import Option

_HAN = re.compile(r"[\u4e00-\u9fff]")
_MAX_CHOICES = 5
_EDGES = " \t\n,，。.;；!！?？、:："
_JOINS = r"(?:\s*(?:和|与|跟|及|以及|还有|或者?|、|,|，|and|or)\s*|\s+)"
_LEADING = re.compile(r"^(?:但是?|不过|可是|然而|而是|而且|并且?|然后|接着|同时|另外|再|and|but|then|however)\s*")

SEVERAL_TARGETS: Mapping[Locale, str] = {
    "zh": "这条消息里有多个目标：{names}。请选择其中一个：",
    "en": "This message names several targets: {names}. Which one do you mean?",
}
SEVERAL_INTENTS: Mapping[Locale, str] = {
    "zh": "这条消息像是同时要做几件事：{names}。什么都还没有执行，请选择先做哪一件：",
    "en": "This message seems to ask for several things: {names}. Nothing was done yet. Which one first?",
}
MISSING_TARGET: Mapping[Locale, str] = {
    "zh": "请告诉我编号（{kinds}），例如：{sample}",
    "en": "Which one do you mean? Please give its id ({kinds}), for example: {sample}",
}
MALFORMED_TARGET: Mapping[Locale, str] = {
    "zh": "编号格式不对：{words}。请检查后再发一次。",
    "en": "This is not a valid id: {words}. Please check it and send it again.",
}
UNSURE: Mapping[Locale, str] = {
    "zh": "我不确定您想做什么，是下面的哪一种？也可以换个说法再说一次。",
    "en": "I am not sure what you want. Is it one of these? You can also say it in other words.",
}
SUSPICIOUS: Mapping[Locale, str] = {
    "zh": "这条消息里有像是写给系统的指令，所以没有执行任何修改。如果确实要做，请只写这一件事：",
    "en": "Part of this message reads like instructions to the system, so nothing was changed. If you do want this, send only this one thing:",
}


def one_target(text: str, ids: Sequence[str], chosen: str) -> str:
    """The person's own message with every one of `ids` replaced by the chosen one, named once where they were enumerated."""
    either = "|".join(map(re.escape, sorted(ids, key=len, reverse=True)))
    pattern = rf"(?<![a-z0-9_])(?:{either})(?!-?[a-z0-9_])"
    same = re.sub(pattern, chosen, text)
    word = re.escape(chosen)
    return re.sub(rf"{word}(?:{_JOINS}{word}(?!-?[a-z0-9_]))+", chosen, same)


def target_choices(matching: str, candidates: Sequence[str]) -> tuple[Option, ...]:
    """One choice for each candidate id of one kind."""
    return tuple(
        Option(label=candidate, message=one_target(matching, candidates, candidate))
        for candidate in candidates[:_MAX_CHOICES]
    )


def clause_message(matching: str, span: tuple[int, int]) -> str:
    """A clause as a message of its own: without the connector before it and the punctuation around it."""
    text = matching[slice(*span)].strip(_EDGES)
    return _LEADING.sub("", text).strip(_EDGES) or text


def sample_of(intent: RoutableIntent, ids: IdBook, found: Found, locale: Locale) -> str | None:
    """A sentence of the intent in the reader's language, with the message's own ids in place of the sample's.

    None when there is none that is safe to send as it is: a write is only offered with the targets that the message names.
    """
    if intent.mode == "confirmation_required" and not (intent.needs and set(intent.needs) <= found.targets.keys()):
        return None
    sentences = sorted(intent.sentences, key=lambda sentence: bool(_HAN.search(sentence)) != (locale == "zh"))
    for sentence in sentences:
        sample = _with_targets(sentence, ids, found)
        if sample is not None:
            return sample
    return None


def _with_targets(sentence: str, ids: IdBook, found: Found) -> str | None:
    text = sentence
    for kind, samples in ids.find(sentence.lower()).ids.items():
        if kind not in found.targets:
            return None
        text = one_target(text.lower(), samples, found.targets[kind])
    return text


def intent_choices(intents: Sequence[RoutableIntent], ids: IdBook, found: Found, locale: Locale) -> tuple[Option, ...]:
    """One choice for each intent that has a sentence safe to send."""
    samples = (sample_of(intent, ids, found, locale) for intent in intents)
    return tuple(Option(label=sample, message=sample) for sample in dict.fromkeys(filter(None, samples)))[:_MAX_CHOICES]


def missing_target(intent: RoutableIntent, missing: Sequence[str], ids: IdBook, found: Found, locale: Locale) -> str:
    """The question that asks for a target: the app's own words, else one made of the intent's first sentence with an id."""
    if found.malformed:
        return MALFORMED_TARGET[locale].format(
            words="、".join(found.malformed) if locale == "zh" else ", ".join(found.malformed)
        )
    if own := intent.question.get(locale):
        return own
    samples = [sentence for sentence in intent.sentences if set(missing) <= ids.find(sentence.lower()).ids.keys()]
    kinds = "、".join(missing) if locale == "zh" else ", ".join(missing)
    return MISSING_TARGET[locale].format(kinds=kinds, sample=samples[0] if samples else kinds)
