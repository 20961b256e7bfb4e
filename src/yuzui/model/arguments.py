"""The two parsers of what a model wrote as arguments (decision 2, R-FENCE-06).

`parse_strict` is for writes, confirmations and webhooks and is the first try for everything. `parse_lenient` may repair the
arguments of a read once. A text that was cut off is never repaired, and a repair never adds a key that the text does not have.
"""

import ast
import json
import math
import re
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

from yuzui.errors import InvalidInputError
from yuzui.model.json_values import is_items, is_mapping

MAX_DEPTH = 20
MAX_CHARS = 100_000
MAX_REPAIRED = 20_000
_STRUCTURAL = {
    "“": '"',
    "”": '"',
    "„": '"',
    "＂": '"',
    "：": ":",
    "，": ",",
    "｛": "{",
    "｝": "}",
    "［": "[",
    "］": "]",
}
_NOT_TEXT = re.compile("[\0\ud800-\udfff]")
_KEY = re.compile(r"""["'“”＂]?([^"'“”＂{}\[\],:：，]{1,80}?)["'“”＂]?\s{0,8}[:：]""")


class ArgumentsError(InvalidInputError):
    """The arguments are not one JSON object."""

    code = "bad_arguments"


class _NotJsonError(ArgumentsError):
    """The text is not JSON; a repair may help."""


def parse_strict(text: str | None) -> dict[str, Any]:
    """One JSON object. Nothing and white space are `{}`; an object encoded twice is unwrapped once.

    Raises `ArgumentsError` for anything else: another type, duplicate keys at any depth, NaN or Infinity, more than
    `MAX_DEPTH` levels, NUL or unpaired surrogates, more than `MAX_CHARS` characters.
    """
    if text is None or not text.strip():
        return {}
    value = _decode(text)
    if isinstance(value, str):
        if not value.strip():
            return {}
        value = _decode(value)
    return _as_object(value)


def parse_lenient(text: str | None) -> dict[str, Any]:
    """Like `parse_strict`, with one repair of a text that is no JSON: Python literals, full-width or single quotes, bare
    keys, trailing commas. The same object several times in a row is one; distinct ones are refused. Raises `ArgumentsError`.
    """
    try:
        return parse_strict(text)
    except _NotJsonError:
        source = (text or "").strip()
    several = _several(source)
    if several is not None:
        return several
    if is_cut(source):
        raise ArgumentsError("the arguments end in the middle; they were cut off")
    for attempt in (_control_characters, _python_literal, _full_width, _repaired):
        value = attempt(source)
        if value is not None:
            return value
    raise ArgumentsError("the arguments are not a JSON object and could not be repaired")


def _decode(text: str, *, bare: bool = False) -> Any:
    if len(text) > MAX_CHARS:
        raise ArgumentsError(f"the arguments are longer than {MAX_CHARS} characters")
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_number, strict=not bare
        )
    except RecursionError:
        raise ArgumentsError(f"the arguments are nested deeper than {MAX_DEPTH} levels") from None
    except ArgumentsError:
        raise
    except ValueError as error:
        raise _NotJsonError(f"the arguments are not JSON: {error}") from None
    check_value(value)
    return value


def check_value(value: Any, depth: int = 0) -> None:
    """Raise `ArgumentsError` when a decoded value is nested too deep or holds text that no store can keep."""
    if depth > MAX_DEPTH:
        raise ArgumentsError(f"the arguments are nested deeper than {MAX_DEPTH} levels")
    match value:
        case str():
            if _NOT_TEXT.search(value):
                raise ArgumentsError("the arguments hold a character that is not text")
        case _ if is_mapping(value):
            for key, item in value.items():
                check_value(key, depth + 1)
                check_value(item, depth + 1)
        case _ if is_items(value):
            for item in value:
                check_value(item, depth + 1)
        case _:
            pass


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ArgumentsError(f"the key {twice[:60]!r} stands twice in one object")
    return value


def _constant(name: str) -> NoReturn:
    raise ArgumentsError(f"{name} is not a JSON number")


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ArgumentsError(f"{text[:40]} is not a finite number")
    return value


def _as_object(value: Any) -> dict[str, Any]:
    if not is_mapping(value):
        raise ArgumentsError(f"the arguments are {_kind(value)}, not an object")
    return dict(value)


def _kind(value: Any) -> str:
    match value:
        case str():
            return "a text"
        case list():
            return "a list"
        case None:
            return "null"
        case _:
            return "a number or a truth value"


def _several(text: str) -> dict[str, Any] | None:
    """Concatenated objects: one when all are the same, `ArgumentsError` when they differ, None when the text is no such thing."""
    decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_float=_number)
    found: list[Any] = []
    at = 0
    while at < len(text):
        try:
            value, end = decoder.raw_decode(text, at)
        except (ArgumentsError, ValueError, RecursionError):
            return None
        check_value(value)
        found.append(value)
        at = end
        while at < len(text) and text[at].isspace():
            at += 1
    if len(found) < 2:
        return None
    if any(value != found[0] for value in found[1:]):
        raise ArgumentsError("the arguments are several different objects; send one call for each")
    return _as_object(found[0])


def is_cut(text: str) -> bool:
    """True when the text ends inside a string, or inside an object or list whose last value is not itself closed.

    A missing last bracket after a closed inner object is a slip, not a cut: every value is there.
    """
    stack, quote, escaped = 0, "", False
    for char in text:
        if quote:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == quote or (quote in "“”" and char in "“”"):
                quote = ""
        elif char == '"' or char in "“”":
            quote = char
        elif char in "{[｛［":
            stack += 1
        elif char in "}]｝］":
            stack -= 1
    return bool(quote) or (stack > 0 and text.rstrip()[-1:] not in ("}", "]", ")", "｝"))


def _control_characters(text: str) -> dict[str, Any] | None:
    """JSON whose strings hold bare line ends or tabs."""
    return _strict_or_none(text, bare=True)


def _python_literal(text: str) -> dict[str, Any] | None:
    """A Python dict of JSON types (also with `true`, `null`): parsed as syntax, never evaluated."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tree = ast.parse(text, mode="eval")
        value = _literal(tree.body)
    except (SyntaxError, TypeError, ValueError, RecursionError, MemoryError, Warning):
        return None
    if not is_mapping(value):
        return None
    check_value(value)
    return dict(value)


_NAMES: dict[str, bool | None] = {"true": True, "false": False, "null": None, "none": None}


def _literal(node: ast.expr) -> Any:
    match node:
        case ast.Dict(keys=keys, values=values):
            pairs: list[tuple[str, Any]] = []
            for key, item in zip(keys, values, strict=True):
                if not (isinstance(key, ast.Constant) and isinstance(key.value, str)):
                    raise TypeError("a key is a text")
                pairs.append((key.value, _literal(item)))
            return _object(pairs)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_literal(item) for item in items]
        case ast.Constant(value=str() | int() | None as value):
            return value
        case ast.Constant(value=float() as value) if math.isfinite(value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.Constant():  # bytes, complex, an infinite float: valid Python that no JSON type holds
            raise ArgumentsError("the arguments hold a value that JSON has no type for")
        case ast.Name(id=name) if name in _NAMES:
            return _NAMES[name]
        case _:
            raise ValueError("not a JSON type")


def _full_width(text: str) -> dict[str, Any] | None:
    """A text whose structure is written in full-width characters; quotes inside a value keep their form."""
    if not any(char in text for char in _STRUCTURAL):
        return None
    out: list[str] = []
    quote = ""
    for at, char in enumerate(text):
        if quote:
            closes = (char == quote == '"') or (quote == "“" and char in "“”" and _ends_value(text, at + 1))
            out.append('"' if closes else "\\" + char if char == '"' else char)
            quote = "" if closes else quote
        elif char in "“”„＂":
            quote = "“"
            out.append('"')
        else:
            quote = '"' if char == '"' else ""
            out.append(_STRUCTURAL.get(char, char))
    return _strict_or_none("".join(out))


def _ends_value(text: str, at: int) -> bool:
    while at < len(text) and text[at].isspace():
        at += 1
    return at >= len(text) or text[at] in ":：,，}｝]］"


def _repaired(text: str) -> dict[str, Any] | None:
    """What the repair library makes of it, when that holds nothing the text does not have."""
    if len(text) > MAX_REPAIRED:
        return None
    from json_repair import repair_json

    repair: Callable[..., Any] = repair_json
    try:
        fixed = repair(text, return_objects=False, ensure_ascii=False)
    except (ValueError, RecursionError, IndexError):
        return None
    value = _strict_or_none(fixed) if isinstance(fixed, str) else None
    return value if value is not None and _only_known(value, text) else None


def _strict_or_none(text: str, *, bare: bool = False) -> dict[str, Any] | None:
    try:
        value = _decode(text, bare=bare)
    except ArgumentsError:
        return None
    return dict(value) if is_mapping(value) else None


def _only_known(value: dict[str, Any], text: str) -> bool:
    """Every key is written as a key, every value is in the text, and as many keys came out as went in."""
    written = [name.strip() for name in _KEY.findall(text)]
    keys: list[str] = []

    def known(item: Any) -> bool:
        match item:
            case _ if is_mapping(item):
                keys.extend(item)
                return all(name in written and known(inner) for name, inner in item.items())
            case _ if is_items(item):
                return all(known(inner) for inner in item)
            case str():
                return item in text or json.dumps(item, ensure_ascii=False)[1:-1] in text
            case bool() | None:
                return True
            case _:
                return re.search(rf"(?<![\w.+-]){re.escape(json.dumps(item))}(?![\w.+-])", text) is not None

    return bool(value) and known(value) and sorted(keys) == sorted(written)
