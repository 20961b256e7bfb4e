"""What a reply of the JSON loop means: one action, an answer in prose, or a broken action (R-REACT-02).

Drift is detected here and nowhere else: prose around the object, code fences, several objects, backticks inside strings,
other names of the fields, decorated tool names. Nothing here executes; a name that is not in the catalog stays as it is, so
that the gateway turns it away.
"""

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from yuzui.execution.answer_stream import decode_string
from yuzui.model.arguments import ArgumentsError, is_cut, parse_lenient, parse_strict
from yuzui.model.json_values import is_mapping
from yuzui.model.splitter import split_reasoning

_MAX_CANDIDATES = 40
_LONGEST_NAME = 200
_ARGUMENTS = ("arguments", "args", "parameters", "action_input", "input")
_BARE = frozenset({"action", "tool", "name", "thought", "reason", "cards"})
_ANSWERS = ("answer", "final", "final_answer")
_PREFIX = re.compile(r"^(?:default_api|functions?|tools?|api|creating|calling|call)[.:/]+", re.IGNORECASE)
_SIGNATURE = re.compile(r"\s*\(.*\)\s*$", re.DOTALL)
_LOOKS_LIKE_ACTION = re.compile(r"""["'“]?(?:action|tool|final|answer|name)["'”]?\s*[:：]""")
_FENCE = re.compile(r"\A```[\w-]*[ \t]*\n(.*?)\n?```\s*\Z", re.DOTALL)
_OBJECT = re.compile(r"\s*(?:```\w*\s*)?[{｛]")
_FINAL_TEXT = re.compile(r'\s*(?:```\w*\s*)?\{\s*"action"\s*:\s*"final"\s*,\s*"answer"\s*:\s*"')
_FINAL_END = re.compile(r'"\s*(?:,\s*"cards"\s*:.*)?\}\s*(?:```)?\s*\Z', re.DOTALL)


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolAction:
    """The model proposes a call. `arguments` is None when they are no object; `problem` says why. `exact` is True when the
    whole reply was the action in strict JSON: a write is drafted from nothing less.
    """

    tool: str
    arguments: dict[str, Any] | None
    problem: str = ""
    exact: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class FinalAction:
    """The model answers. `degraded` says that the text was cut off or the action was not as asked for."""

    answer: str
    degraded: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Prose:
    """No action at all: the text is the answer."""

    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Broken:
    """An action was meant and cannot be read. `cut` forbids a repair (decision 2)."""

    text: str
    problem: str
    cut: bool = False


Action: TypeAlias = ToolAction | FinalAction | Prose | Broken


@dataclass(frozen=True, kw_only=True, slots=True)
class _Candidate:
    value: dict[str, Any]
    strict: bool
    whole: bool


@dataclass(kw_only=True, slots=True)
class _Reading:
    """One pass over a reply: where candidates are and what was wrong with those that failed."""

    text: str
    cut: bool
    problem: str = ""


def parse_action(text: str, allowed: Collection[str], *, cut: bool = False) -> Action:
    """The action in a reply. `cut` says that the provider stopped at the token limit."""
    text = split_reasoning(text)[0]
    reading = _Reading(text=text, cut=cut)
    for candidate in _candidates(reading):
        action = _read(candidate, allowed)
        if action is not None:
            return action
        reading.problem = reading.problem or "it is neither a tool action nor a final action"
    if not _meant(text):
        return Prose(text=text)
    ended = cut or is_cut(text)
    readable = _final_text(text, cut=ended)
    if readable is not None:
        return FinalAction(answer=readable, degraded=True)
    return Broken(text=text, problem=reading.problem or "it is not valid JSON", cut=ended)


def resolve_name(name: str, allowed: Collection[str]) -> str:
    """The allowed tool a decorated name stands for (`default_api:x`, `functions.x`, `x(city)`); any other name as it is."""
    if name in allowed or len(name) > _LONGEST_NAME:
        return name
    bare = _SIGNATURE.sub("", _PREFIX.sub("", name.strip()))
    return bare if bare in allowed else name


def _meant(text: str) -> bool:
    """True when the text tries to be an action: an object that has one of its keys, or nothing but an object."""
    start = text.find("{")
    start = start if start >= 0 else text.find("｛")
    if start < 0:
        return False
    return _OBJECT.match(text) is not None or _LOOKS_LIKE_ACTION.search(text, start) is not None


def _candidates(reading: _Reading) -> Iterator[_Candidate]:
    """Objects in the text: the whole of it, then each that strictly parses, then each that one repair makes readable."""
    text = reading.text
    fenced = _FENCE.match(text)
    core = fenced.group(1).strip() if fenced else text
    try:
        value = parse_strict(core)
    except ArgumentsError as error:
        reading.problem = error.detail
    else:
        yield _Candidate(value=value, strict=True, whole=True)
        return
    yield from _strict_objects(reading)
    for span in () if reading.cut else _bracketed(text):  # what was cut off is never repaired
        try:
            value = parse_lenient(span)
        except ArgumentsError as error:
            reading.problem = error.detail
            continue
        yield _Candidate(value=value, strict=False, whole=span.strip() == core.strip())


def _strict_objects(reading: _Reading) -> Iterator[_Candidate]:
    decoder = json.JSONDecoder(strict=False)
    text, at = reading.text, 0
    for _ in range(_MAX_CANDIDATES):
        at = text.find("{", at)
        if at < 0:
            return
        try:
            _, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        try:
            value = parse_strict(text[at:end])
        except ArgumentsError as error:
            reading.problem = error.detail
        else:
            yield _Candidate(value=value, strict=True, whole=False)
        at = end


def _bracketed(text: str) -> Iterator[str]:
    """Pieces that may be one object: from the first brace to the last, and to the end when it never closes."""
    start = min((at for at in (text.find("{"), text.find("｛")) if at >= 0), default=-1)
    if start < 0:
        return
    body = text[start:]
    end = max(body.rfind("}"), body.rfind("｝"), body.rfind("})"))
    if end >= 0:
        yield body[: end + 1]
    if body.rstrip().rstrip("`").rstrip() != body[: end + 1]:
        yield body.rstrip().rstrip("`").rstrip()


def _read(candidate: _Candidate, allowed: Collection[str]) -> Action | None:
    value = candidate.value
    kind = value.get("action")
    if kind == "final" or (kind is None and not _tool_name(value)):
        return _final(candidate)
    if kind == "tool":
        name = value.get("tool") or value.get("name")
        return _tool(candidate, name, allowed) if isinstance(name, str) and name else None
    if isinstance(kind, str):  # {"action": NAME, …}
        return _tool(candidate, kind, allowed) if resolve_name(kind, allowed) in allowed else None
    name = _tool_name(value)
    if "tool" not in value and not candidate.whole:
        return None  # {"name": …} inside prose is an example, not a call
    known = resolve_name(name, allowed) in allowed
    return _tool(candidate, name, allowed) if known or ("tool" in value and candidate.whole) else None


def _tool_name(value: dict[str, Any]) -> str:
    for key in ("tool", "name"):
        name = value.get(key)
        if isinstance(name, str) and name and any(other in value for other in _ARGUMENTS):
            return name
    return ""


def _final(candidate: _Candidate) -> FinalAction | None:
    value = candidate.value
    for key in _ANSWERS:
        answer = value.get(key)
        if isinstance(answer, str):
            asked = candidate.strict and value.get("action") == "final" and key == "answer"
            return FinalAction(answer=split_reasoning(answer)[0], degraded=not asked)
    return None


def _tool(candidate: _Candidate, name: str, allowed: Collection[str]) -> ToolAction | None:
    key = next((key for key in _ARGUMENTS if key in candidate.value), "")
    if not key and not candidate.value.keys() <= _BARE:
        return None  # fields beside the call are perhaps its arguments: it never runs with none instead
    held: Any = candidate.value.get(key)
    exact = candidate.strict and candidate.whole
    tool = resolve_name(name, allowed)
    match held:
        case _ if is_mapping(held):
            return ToolAction(tool=tool, arguments=dict(held), exact=exact)
        case None:
            return ToolAction(tool=tool, arguments={}, exact=exact)
        case str():
            try:
                return ToolAction(tool=tool, arguments=parse_strict(held), exact=exact)
            except ArgumentsError as error:
                return ToolAction(tool=tool, arguments=None, problem=error.detail, exact=exact)
        case _:
            return ToolAction(tool=tool, arguments=None, problem="the arguments are not an object", exact=exact)


def _final_text(text: str, *, cut: bool) -> str | None:
    """The readable text of a final action that is no JSON: cut off, or with bare quotes inside its answer."""
    head = _FINAL_TEXT.match(text)
    if head is None:
        return None
    end = None if cut else _FINAL_END.search(text, head.end())
    if not cut and end is None:
        return None
    body = text[head.end() : end.start() if end else len(text)]
    return split_reasoning(decode_string(body))[0] or None
