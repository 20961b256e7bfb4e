"""An app: tools, intents and policies, declared once and refused at import when they do not hold (R-ROUTE-03, R-TOOL-02)."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, Literal, TypeAlias, TypeVar, overload

from yuzui.budget import Budget
from yuzui.errors import DeclarationError
from yuzui.guard import Block, check_blocks
from yuzui.owner import Locale
from yuzui.policy import BoundedReact, Confirm, DirectRead, Policy
from yuzui.routing.classifier import CLASSIFY_SECONDS
from yuzui.routing.intents import THRESHOLD, RoutableIntent
from yuzui.routing.router import Router
from yuzui.routing.rules import ResourceId, Rule
from yuzui.runs.database import Database
from yuzui.tools.schema import arguments_model, json_schema
from yuzui.tools.tool import AnyTool, ReadTool, WriteTool

D = TypeVar("D")
Text: TypeAlias = Mapping[Locale, str]
Fn = TypeVar("Fn", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True, slots=True)
class Intent:
    """One thing a person may want: how it is recognised and how it may run. `needs` names target kinds it cannot do without."""

    name: str
    description: str
    policy: Policy
    rules: tuple[Rule, ...] = ()
    examples: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    threshold: float | None = None
    question: Text = field(default_factory=dict[Locale, str])
    answer_hint: str = ""

    def routable(self, threshold: float = THRESHOLD) -> RoutableIntent:
        """The part of the declaration that the router sees; `threshold` is for an intent that sets none."""
        return RoutableIntent(
            name=self.name,
            description=self.description,
            mode=self.policy.mode,
            rules=self.rules,
            examples=self.examples,
            needs=self.needs,
            threshold=threshold if self.threshold is None else self.threshold,
            question=self.question,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoint:
    """A business endpoint that works with AI off. `handler(ctx, …)` takes path, query and body parameters by annotation."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    handler: Callable[..., Awaitable[Any]]
    status: int = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class McpDeclaration:
    """An MCP server the app uses: a command (stdio) or a URL (streamable HTTP), and which of its tools."""

    name: str
    command: tuple[str, ...] = ()
    url: str | None = None
    only: frozenset[str] = frozenset()


class App(Generic[D]):
    """The declaration of one chat agent.

    `deps` makes the app's service object over a `Database`, once per call. `assets` is the folder with `prompts/system.md`,
    `skills/`, `evals/`, `migrations/`. `engine` chooses the ReAct engine (R-REACT-03). `on_lost_client` is what a run does
    when its last viewer is gone (R-RUN-06); `on_repeat` what the fence does with an identical call (R-FENCE-03).
    """

    def __init__(  # noqa: PLR0913  a declaration names its parts
        self,
        name: str,
        *,
        deps: Callable[[Database], D],
        assets: Path,
        title: Text | None = None,
        engine: Literal["json", "native"] = "json",
        on_lost_client: Literal["cancel", "continue"] = "continue",
        on_repeat: Literal["abort", "finalize"] = "finalize",
        fallback: str = "chat",
        ids: Sequence[ResourceId] = (),
        blocks: Sequence[Block] = (),
        suggestions: Mapping[Locale, Sequence[str]] | None = None,
        seed: Callable[[Database], Awaitable[None]] | None = None,
    ) -> None:
        if not name.replace("-", "").isalnum() or name != name.lower():
            raise DeclarationError(f"an app's name is lower-case letters, digits and hyphens, not {name!r}")
        check_blocks(blocks)
        self.name = name
        self.deps = deps
        self.assets = assets
        self.title: Text = title or {"en": name, "zh": name}
        self.engine: Literal["json", "native"] = engine
        self.on_lost_client: Literal["cancel", "continue"] = on_lost_client
        self.on_repeat: Literal["abort", "finalize"] = on_repeat
        self.fallback = fallback
        self.ids = tuple(ids)
        self.blocks = tuple(blocks)
        self.suggestions: Mapping[Locale, Sequence[str]] = suggestions or {}
        self.seed = seed
        self.tools: dict[str, AnyTool] = {}
        self.intents: dict[str, Intent] = {}
        self.endpoints: list[Endpoint] = []
        self.servers: dict[str, McpDeclaration] = {}
        self._prompts: dict[str, str] = {}

    @overload
    def read(self, fn: Callable[..., Any], /) -> ReadTool: ...

    @overload
    def read(
        self,
        /,
        *,
        key: Callable[[Any], object] | None = None,
        timeout_s: float = 20.0,
        retries: int = 1,
        redact: Sequence[str] = (),
        labels: Mapping[Locale, str] | None = None,
    ) -> Callable[[Callable[..., Any]], ReadTool]: ...

    def read(
        self,
        fn: Callable[..., Any] | None = None,
        /,
        *,
        key: Callable[[Any], object] | None = None,
        timeout_s: float = 20.0,
        retries: int = 1,
        redact: Sequence[str] = (),
        labels: Mapping[Locale, str] | None = None,
    ) -> ReadTool | Callable[[Callable[..., Any]], ReadTool]:
        """Declare a read tool; its first parameter is the `Ctx`, the others are what a model may fill. Usable bare or with options."""

        def declare(function: Callable[..., Any]) -> ReadTool:
            arguments = arguments_model(function)
            tool = ReadTool(
                name=function.__name__,
                description=_description(function),
                fn=function,
                arguments=arguments,
                schema=json_schema(arguments),
                key=key,
                timeout_s=timeout_s,
                retries=retries,
                redact=frozenset(redact),
                labels=labels or {},
            )
            self._add_tool(tool)
            return tool

        return declare if fn is None else declare(fn)

    def write(  # noqa: PLR0913  a declaration names its parts
        self,
        *,
        summary: Callable[[Any, Any], str],
        once: Callable[[Any], object] | None = None,
        transactional: bool = True,
        approval: Literal["self", "approver"] = "self",
        check: Callable[..., Awaitable[None]] | None = None,
        reconcile: Callable[..., Awaitable[bool | None]] | None = None,
        timeout_s: float = 20.0,
        redact: Sequence[str] = (),
        labels: Mapping[Locale, str] | None = None,
    ) -> Callable[[Callable[..., Any]], WriteTool]:
        """Declare a write. `summary(ctx, arguments)` makes the card's text; `once` is the tool's own key; `check` re-validates at confirm."""

        def declare(function: Callable[..., Any]) -> WriteTool:
            arguments = arguments_model(function)
            tool = WriteTool(
                name=function.__name__,
                description=_description(function),
                fn=function,
                arguments=arguments,
                schema=json_schema(arguments),
                key=once,
                summary=summary,
                transactional=transactional,
                approval=approval,
                check=check,
                reconcile=reconcile,
                timeout_s=timeout_s,
                retries=0,
                redact=frozenset(redact),
                labels=labels or {},
            )
            self._add_tool(tool)
            return tool

        return declare

    def intent(
        self,
        name: str,
        description: str,
        *,
        policy: Policy,
        rules: Sequence[Rule] = (),
        examples: Sequence[str] = (),
        needs: Sequence[str] = (),
        threshold: float | None = None,
        question: Text | None = None,
    ) -> Intent:
        """Declare an intent. Rule ids default to `intent/number`, its threshold to the setting `route_threshold`."""
        if name in self.intents:
            raise DeclarationError(f"intent {name!r} is declared twice")
        if not isinstance(policy, DirectRead | Confirm | BoundedReact):  # pyright: ignore[reportUnnecessaryIsInstance] - an untyped caller may pass anything
            raise DeclarationError(f"intent {name!r} needs a policy")
        named = tuple(rule if rule.id else replace(rule, id=f"{name}/{n}") for n, rule in enumerate(rules, start=1))
        intent = Intent(
            name=name,
            description=description,
            policy=policy,
            rules=named,
            examples=tuple(examples),
            needs=tuple(needs),
            threshold=threshold,
            question=question or {},
        )
        self.intents[name] = intent
        return intent

    def router(self, *, classify_seconds: float = CLASSIFY_SECONDS, threshold: float = THRESHOLD) -> Router:
        """The router of the declared intents. Raises `DeclarationError` when rules break their examples (R-ROUTE-03).

        An app that declares no intent named `fallback` gets plain chat without tools under that name.
        """
        if self.fallback not in self.intents:
            self.intent(self.fallback, _PLAIN_CHAT, policy=BoundedReact(budget=DEFAULT_CHAT_BUDGET))
        intents = [intent.routable(threshold) for intent in self.intents.values()]
        return Router(self.name, intents, self.ids, self.fallback, classify_seconds=classify_seconds)

    def mcp(
        self, name: str, *, command: Sequence[str] = (), url: str | None = None, only: Sequence[str] = ()
    ) -> McpDeclaration:
        """Declare an MCP server; tools reach it as `ctx.servers(name)`."""
        if bool(command) == bool(url):
            raise DeclarationError(f"MCP server {name!r} needs a command or a URL, one of them")
        declaration = McpDeclaration(name=name, command=tuple(command), url=url, only=frozenset(only))
        self.servers[name] = declaration
        return declaration

    def endpoint(
        self, method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"], path: str, *, status: int = 200
    ) -> Callable[[Fn], Fn]:
        """Declare a business endpoint under `/v1`; it passes the same authentication and service layer (R-TOOL-03)."""

        def declare(handler: Fn) -> Fn:
            self.endpoints.append(Endpoint(method=method, path=path, handler=handler, status=status))
            return handler

        return declare

    def prompt(self, name: str) -> str:
        """The text of `prompts/NAME.md`, read once."""
        if name in self._prompts:
            return self._prompts[name]
        path = self.assets / "prompts" / f"{name}.md"
        if not path.is_file():
            raise DeclarationError(f"app {self.name!r} has no prompt {name!r} ({path.name} is missing in prompts/)")
        self._prompts[name] = path.read_text(encoding="utf-8")
        return self._prompts[name]

    def _add_tool(self, tool: AnyTool) -> None:
        if tool.name in self.tools:
            raise DeclarationError(f"tool {tool.name!r} is declared twice")
        self.tools[tool.name] = tool


def _description(function: Callable[..., Any]) -> str:
    text = (function.__doc__ or "").strip()
    if not text:
        raise DeclarationError(f"tool {function.__name__!r} needs a docstring: it is what the model reads")
    return text


_PLAIN_CHAT = "Greetings, small talk, and anything that fits no other intent."
DEFAULT_CHAT_BUDGET = Budget(model_calls=3, tool_calls=3, seconds=60)
