"""A chat model behind any OpenAI-compatible server, streamed by a lean client of our own (R-REACT-04).

The server's deltas go straight to the sink: all that one network read brought, in one call. One monotonic deadline covers
connecting, the first token and every later one, so that a server that drips cannot hold a run (R-FENCE-01).
"""

import asyncio
from dataclasses import dataclass, replace
from urllib.request import getproxies

import httpx2
import orjson

from yuzui.adapters.openai.assembly import Assembly
from yuzui.adapters.openai.errors import UsageUnsupportedError, error_of
from yuzui.adapters.openai.sse import SseParser
from yuzui.adapters.openai.transport import LeanTransport
from yuzui.adapters.openai.wire import encode_request
from yuzui.errors import DeadlineExceededError, ModelStreamCutError, ModelUnavailableError
from yuzui.model.port import Capabilities, ModelReply, ModelRequest, TextSink, ToolsUnsupportedError, Usage
from yuzui.model.tokens import estimate_tokens

OPENAI_URL = "https://api.openai.com/v1"
CONNECT_SECONDS = 10.0
USAGE_SECONDS = 2.0  # how long to wait for the usage chunk once the reply itself is finished
_LOOPBACK = ("http://127.0.0.1", "http://localhost", "http://[::1]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """Money per million tokens, in the price table's currency."""

    tokens_in: float = 0.0
    tokens_out: float = 0.0


class OpenAICompatibleModel:
    """One model of one server. Concurrent calls share a connection pool of the running event loop; `aclose` ends it.

    What the server turns out not to take (tools, usage in streams) is remembered, so that it costs one refusal, not one
    for every call.
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        capabilities: Capabilities | None = None,
        price: Price | None = None,
        client: httpx2.AsyncClient | None = None,
    ) -> None:
        self._name = name
        self._url = (base_url or OPENAI_URL).rstrip("/") + "/chat/completions"
        self._headers = {
            "content-type": "application/json",
            "accept": "text/event-stream",
            "accept-encoding": "identity",
        }
        if api_key:
            self._headers["authorization"] = f"Bearer {api_key}"
        self._capabilities = capabilities or Capabilities()
        self._price = price or Price()
        self._client = client
        self._include_usage = True

    @property
    def name(self) -> str:
        """The model's name as the server knows it."""
        return self._name

    @property
    def capabilities(self) -> Capabilities:
        """What the server can do, as far as it has shown."""
        return self._capabilities

    async def aclose(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def complete(self, request: ModelRequest, on_text: TextSink | None = None) -> ModelReply:
        """One call, not retried here. Errors as the port says; a refusal of `stream_options` is answered by leaving them out."""
        request.deadline.check()
        scope = request.deadline.scope()
        assembly = Assembly()
        try:
            async with scope:
                try:
                    await self._stream(request, assembly, on_text, scope)
                except UsageUnsupportedError:
                    if not self._include_usage:
                        raise
                    self._include_usage = False
                    await self._stream(request, assembly, on_text, scope)
        except TimeoutError:
            if assembly.finish_reason is None:
                raise DeadlineExceededError from None
        except ToolsUnsupportedError:
            self._capabilities = replace(self._capabilities, native_tools=False)
            raise
        rest = assembly.close()
        if assembly.finish_reason is None:
            raise ModelStreamCutError
        if rest and on_text is not None:
            on_text(rest)
        return self._reply(request, assembly)

    async def _stream(
        self, request: ModelRequest, assembly: Assembly, on_text: TextSink | None, scope: asyncio.Timeout
    ) -> None:
        body = encode_request(request, model=self._name, capabilities=self._capabilities, usage=self._include_usage)
        try:
            async with self._connected().stream("POST", self._url, content=body, headers=self._headers) as response:
                if response.status_code >= 400:
                    raise error_of(response.status_code, await response.aread(), response.headers)
                if response.headers.get("content-type", "").startswith("application/json"):
                    assembly.add(await response.aread())
                    return
                await self._read(response, assembly, on_text, scope)
        except (httpx2.ReadError, httpx2.RemoteProtocolError, httpx2.StreamError) as error:
            if assembly.finish_reason is None:
                raise ModelStreamCutError(f"the model's stream broke off ({type(error).__name__})") from error
        except (httpx2.TimeoutException, httpx2.TransportError) as error:
            raise ModelUnavailableError(
                f"the model's server cannot be reached ({type(error).__name__}): check YUZUI_MODEL_BASE_URL"
            ) from error

    async def _read(
        self, response: httpx2.Response, assembly: Assembly, on_text: TextSink | None, scope: asyncio.Timeout
    ) -> None:
        parser = SseParser()
        finishing = False
        async for chunk in response.aiter_raw():
            ended = any(assembly.add(payload) for payload in parser.feed(chunk))
            text = assembly.take()
            if text and on_text is not None:
                on_text(text)
            if ended:
                return
            if assembly.finish_reason is not None and not finishing:
                finishing = True
                now = asyncio.get_running_loop().time()
                scope.reschedule(min(scope.when() or now, now + USAGE_SECONDS))
        for payload in parser.finish():
            assembly.add(payload)

    def _connected(self) -> httpx2.AsyncClient:
        if self._client is None:
            limits = httpx2.Limits(max_connections=1000, max_keepalive_connections=200)
            loopback = self._url.startswith(_LOOPBACK)
            # A proxy of the environment is the library's own business; only a direct connection is ours.
            direct = loopback or not getproxies()
            self._client = httpx2.AsyncClient(
                timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
                transport=LeanTransport(limits=limits) if direct else None,
                limits=limits,
                trust_env=not loopback,
            )
        return self._client

    def _reply(self, request: ModelRequest, assembly: Assembly) -> ModelReply:
        calls = assembly.calls()
        finish = assembly.finish_reason or "stop"
        return ModelReply(
            text=assembly.text,
            finish_reason="tool_calls" if calls and finish == "stop" else finish,
            model=assembly.model or self._name,
            tool_calls=calls,
            reasoning=assembly.reasoning,
            usage=self._usage(request, assembly),
        )

    def _usage(self, request: ModelRequest, assembly: Assembly) -> Usage:
        estimated = assembly.tokens_in is None or assembly.tokens_out is None
        read, written = assembly.tokens_in, assembly.tokens_out
        if read is None:
            read = sum(estimate_tokens(message.text) + 4 for message in request.messages)
            read += estimate_tokens(orjson.dumps([tool.parameters for tool in request.tools]).decode())
        if written is None:
            written = estimate_tokens(assembly.text + (assembly.reasoning or ""))
            written += sum(estimate_tokens(call.name + call.arguments) for call in assembly.calls())
        cost = (read * self._price.tokens_in + written * self._price.tokens_out) / 1_000_000
        return Usage(tokens_in=read, tokens_out=written, cost=cost, estimated=estimated)
