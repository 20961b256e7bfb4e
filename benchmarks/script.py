"""What the scripted model says: options in the model's name, a request in, the frames of the reply out.

The name carries options after semicolons, so one server serves every scenario: `mock;ttft=300;tok=20;n=200;b=json;hops=2`.
`ttft` and `tok` are milliseconds to the first piece and between pieces, `n` the pieces of the answer, `hops` the tool
rounds before it, `call` the tool named when none is offered, `b` the behaviour (see `Behaviour`).
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal, TypeAlias, get_args

import orjson

Behaviour: TypeAlias = Literal[
    "auto", "json", "answer", "loop", "badjson", "badname", "err500", "err429", "hang", "cut"
]
"""auto: tool rounds, then the answer, as the request offers tools or not. json: like auto, and JSON actions as text when no
tools are offered. answer: never a tool. loop: the same call for ever. badjson, badname: one broken call, then the answer.
err500, err429, hang: no reply. cut: the connection drops in the middle of the stream.
"""

BEHAVIOURS: dict[str, Behaviour] = {name: name for name in get_args(Behaviour)}
WORDS = (
    "死锁", "是", "两个", "事务", "各自", "持有", "对方", "需要", "的", "锁", "，", "谁", "都", "不能", "继续", "。",
    "按", "固定", "顺序", "加锁", "，", "失败", "后", "重试", "。",
)  # fmt: skip
QUERY = "数据库死锁"
CALL_PIECES = 8
PROMPT_TOKENS = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class Script:
    """How to reply. Times in milliseconds; `tokens` counts the pieces of the answer."""

    ttft: float = 0.0
    tok: float = 0.0
    tokens: int = 200
    hops: int = 1
    behaviour: Behaviour = "auto"
    call: str = "knowledge_search"

    @property
    def own_ms(self) -> float:
        """The model's own time for one task: `hops` tool rounds and one answer, nothing around them."""
        return self.to_answer_ms + (self.tokens - 1) * self.tok

    @property
    def to_answer_ms(self) -> float:
        """The model's own time until the first piece of the answer."""
        return self.hops * (self.ttft + (CALL_PIECES - 1) * self.tok) + self.ttft


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """`frames` of a stream, or `message` and `pieces` (how long it takes) of a reply in one; `kind` is what the counters count."""

    kind: Literal["tool", "answer"]
    frames: tuple[bytes, ...] = ()
    message: dict[str, Any] | None = None
    pieces: int = 0


def parse_options(model: str, defaults: Script) -> Script:
    """The script a model's name asks for. Raises `ValueError` for an option or behaviour that does not exist."""
    script = defaults
    for option in model.split(";")[1:]:
        key, _, value = option.partition("=")
        match key:
            case "ttft":
                script = replace(script, ttft=float(value))
            case "tok":
                script = replace(script, tok=float(value))
            case "n":
                script = replace(script, tokens=int(value))
            case "hops":
                script = replace(script, hops=int(value))
            case "call":
                script = replace(script, call=value)
            case "b" if value in BEHAVIOURS:
                script = replace(script, behaviour=BEHAVIOURS[value])
            case _:
                raise ValueError(f"the scripted model has no option {option!r}")
    return script


def reply_to(request: dict[str, Any], script: Script) -> Reply:
    """The reply to a chat-completion request: a tool call, a JSON action, or the answer."""
    messages: list[dict[str, Any]] = request.get("messages", [])
    offered: list[dict[str, Any]] = request.get("tools") or []
    native = bool(offered) or any(message["role"] == "tool" for message in messages)
    as_actions = script.behaviour == "json" and not native
    wants_tool = (bool(offered) or as_actions) and _wants_tool(script, _rounds(messages))
    stream = bool(request.get("stream"))
    options: dict[str, Any] = request.get("stream_options") or {}
    usage = bool(options.get("include_usage"))
    if wants_tool and not as_actions:
        name = "no_such_tool" if script.behaviour == "badname" else offered[0]["function"]["name"]
        return _tool_reply(name, script.behaviour == "badjson", _call_id(messages), stream=stream, usage=usage)
    pieces = action_pieces(script.call) if wants_tool else answer_pieces(script.tokens, as_action=as_actions)
    kind: Literal["tool", "answer"] = "tool" if wants_tool else "answer"
    if stream:
        return Reply(kind=kind, frames=_text_frames(pieces, usage))
    return Reply(kind=kind, message={"role": "assistant", "content": "".join(pieces)}, pieces=len(pieces))


def _wants_tool(script: Script, rounds: int) -> bool:
    match script.behaviour:
        case "answer":
            return False
        case "loop":
            return True
        case "badjson" | "badname":
            return rounds == 0
        case _:
            return rounds < script.hops


def _rounds(messages: list[dict[str, Any]]) -> int:
    """Tool rounds already taken, as native calls or as JSON actions. History holds answers only, never actions."""
    return sum(
        1
        for message in messages
        if message["role"] == "assistant" and (message.get("tool_calls") or _is_tool_action(message.get("content")))
    )


def _is_tool_action(content: object) -> bool:
    if not isinstance(content, str) or not content.lstrip().startswith("{"):
        return False
    try:
        action: dict[str, Any] = orjson.loads(content)
    except orjson.JSONDecodeError:
        return False
    return action.get("action") == "tool"


def _call_id(messages: list[dict[str, Any]]) -> str:
    return f"call_{_rounds(messages) + 1}"


@lru_cache
def answer_pieces(tokens: int, *, as_action: bool = False) -> tuple[str, ...]:
    """The answer in pieces; as a JSON action the wrapping rides on the first and last piece, so the timing is the same."""
    pieces = [WORDS[n % len(WORDS)] for n in range(tokens)]
    if as_action:
        pieces[0] = '{"action":"final","answer":"' + pieces[0]
        pieces[-1] += '"}'
    return tuple(pieces)


def answer_text(tokens: int) -> str:
    """The whole answer, as a reader should see it."""
    return "".join(answer_pieces(tokens))


@lru_cache
def action_pieces(tool: str) -> tuple[str, ...]:
    """A JSON action that calls `tool`, in as many pieces as a native call has."""
    return _cut(orjson.dumps({"action": "tool", "tool": tool, "arguments": {"query": QUERY}}).decode())


def _cut(text: str) -> tuple[str, ...]:
    bounds = [len(text) * n // CALL_PIECES for n in range(CALL_PIECES + 1)]
    return tuple(text[start:end] for start, end in pairwise(bounds))


def _chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return _frame({"choices": [choice]})


def _frame(part: dict[str, Any]) -> bytes:
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "mock"}
    return b"data: " + orjson.dumps(head | part) + b"\n\n"


def _tail(finish: str, pieces: int, usage: bool) -> bytes:
    end = _chunk({}, finish)
    if usage:
        end += _frame({"choices": [], "usage": usage_of(pieces)})
    return end + b"data: [DONE]\n\n"


def usage_of(pieces: int) -> dict[str, int]:
    """Token counts as the provider reports them: one token a piece."""
    return {
        "prompt_tokens": PROMPT_TOKENS,
        "completion_tokens": pieces,
        "total_tokens": PROMPT_TOKENS + pieces,
    }


@lru_cache
def _text_frames(pieces: tuple[str, ...], usage: bool) -> tuple[bytes, ...]:
    frames = [_chunk({"content": piece}) for piece in pieces]
    frames[0] = _chunk({"role": "assistant", "content": pieces[0]})
    frames[-1] += _tail("stop", len(pieces), usage)
    return tuple(frames)


@lru_cache
def _tool_reply(name: str, broken: bool, call_id: str, *, stream: bool, usage: bool) -> Reply:
    arguments = orjson.dumps({"query": QUERY}).decode()
    if broken:
        arguments = arguments[:-1] + "，然后"
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
    if not stream:
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        return Reply(kind="tool", message=message, pieces=CALL_PIECES)
    first, *rest = _cut(arguments)
    head = call | {"index": 0, "function": {"name": name, "arguments": first}}
    frames = [_chunk({"role": "assistant", "content": None, "tool_calls": [head]})]
    frames += [_chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}) for piece in rest]
    frames[-1] += _tail("tool_calls", CALL_PIECES, usage)
    return Reply(kind="tool", frames=tuple(frames))
