"""The core of one process: stores, conversation, dispatcher and confirmations over one database."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from typing import Any, Final, Literal

from yuzui.adapters.postgres.births import Limits
from yuzui.adapters.postgres.database import PooledDatabase
from yuzui.adapters.postgres.feedback import PostgresFeedback
from yuzui.adapters.postgres.heart import Heart, HeartOptions
from yuzui.adapters.postgres.pool import Pool
from yuzui.adapters.postgres.workers import LeaseOptions
from yuzui.app import App
from yuzui.bootstrap.measuring import Measures
from yuzui.bootstrap.models import classifier_model, main_model
from yuzui.conversation import AppRuntime, Conversation, Ports
from yuzui.execution.confirmations import AppTools, Confirmations
from yuzui.execution.engine import Engine
from yuzui.execution.react import JsonActionEngine
from yuzui.owner import Caller
from yuzui.runs.database import Database
from yuzui.runs.dispatcher import DispatchOptions
from yuzui.runs.log import AttemptLog
from yuzui.runs.run import Claim
from yuzui.runs.viewing import ViewingOptions
from yuzui.settings import Settings
from yuzui.tools.context import Ctx, utc_now
from yuzui.tools.gateway import ContextFactory
from yuzui.tools.mcp import McpServer

LISTENER_SECONDS: Final = 2.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Core:
    """What one process runs on."""

    heart: Heart
    contexts: Mapping[str, ContextFactory]
    conversation: Conversation
    confirmations: Confirmations
    feedback: PostgresFeedback

    def listener_problem(self) -> str:
        """Why news of other processes do not arrive; empty when they do."""
        return "" if self.heart.listener.listening.is_set() else "not connected; streams poll until it is"


async def start_core(
    settings: Settings,
    apps: Sequence[App[Any]],
    *,
    dsn: str,
    pool: Pool,
    stack: AsyncExitStack,
    measures: Measures,
    worker: bool,
) -> Core:
    """Start the core; the stack stops it, handing over the runs in work. Raises `DeclarationError`, `SettingsError`."""
    engines = _engines(apps, stack)
    main = main_model(settings, stack)
    database = PooledDatabase(pool)
    contexts = {app.name: context_factory(app, database, _servers(app, stack)) for app in apps}
    runtimes = _runtimes(apps, contexts, settings)

    async def converse(claim: Claim, log: AttemptLog) -> None:
        await conversation.converse(claim, log)

    heart = Heart(pool, dsn, measures.measured(converse), heart_options(settings, apps, worker=worker))
    ports = Ports(
        sessions=heart.sessions,
        actions=heart.actions,
        ledger=heart.ledger,
        engines=engines,
        model=main,
        classifier=classifier_model(settings, main, stack),
        max_message_chars=settings.max_message_chars,
        action_ttl_s=settings.action_ttl_s,
        history_turns=settings.history_turns,
        now=utc_now,
    )
    conversation = Conversation(runtimes, ports)
    confirmations = Confirmations(
        apps={app.name: AppTools(tools=app.tools, context=contexts[app.name]) for app in apps},
        actions=heart.actions,
        runs=heart.runs,
        events=heart.hub,
        submit=heart.submit,
        ttl_s=settings.action_ttl_s,
        wait_s=settings.confirm_wait_s,
    )
    stack.push_async_callback(heart.stop)
    await heart.start()
    with suppress(TimeoutError):  # so that a server that says it is ready is; without the listener it works by polling
        async with asyncio.timeout(LISTENER_SECONDS):
            await heart.listener.listening.wait()
    return Core(
        heart=heart,
        contexts=contexts,
        conversation=conversation,
        confirmations=confirmations,
        feedback=PostgresFeedback(database),
    )


def heart_options(settings: Settings, apps: Sequence[App[Any]], *, worker: bool) -> HeartOptions:
    """The settings, as the durable side takes them. Without a worker only what rules decide is carried out here."""
    return HeartOptions(
        tick_s=settings.flush_ms / 1000,
        poll_s=settings.poll_s,
        shutdown_grace_s=settings.shutdown_grace_s,
        transaction_pooler=settings.transaction_pooler,
        limits=Limits(
            per_caller=settings.max_runs_per_caller, queue=settings.max_queued_runs, wait_s=settings.pool_wait_s
        ),
        lease=LeaseOptions(heartbeat_s=settings.heartbeat_s, lease_s=settings.lease_s),
        dispatch=DispatchOptions(
            concurrency=settings.worker_concurrency if worker else 0, max_attempts=settings.max_attempts
        ),
        viewing=ViewingOptions(
            apps=frozenset(app.name for app in apps if app.on_lost_client == "cancel"),
            grace_s=settings.lost_client_grace_s,
        ),
    )


def _servers(app: App[Any], stack: AsyncExitStack) -> Callable[[str], McpServer]:
    """The app's MCP servers, connecting in the background: the start never waits for them (R-MCP-01)."""
    from yuzui.adapters.mcp_servers import McpServers

    servers = McpServers(app.servers.values())
    stack.push_async_callback(servers.close)
    servers.start()
    return servers


def _runtimes(
    apps: Sequence[App[Any]], contexts: Mapping[str, ContextFactory], settings: Settings
) -> dict[str, AppRuntime]:
    return {
        app.name: AppRuntime(
            app=app,
            router=app.router(threshold=settings.route_threshold),
            context=contexts[app.name],
            unavailable=frozenset,
        )
        for app in apps
    }


def _engines(apps: Sequence[App[Any]], stack: AsyncExitStack) -> Mapping[Literal["json", "native"], Engine]:
    """Both engines. LangChain takes seconds to import: it is fetched in the background as soon as an app asks for it."""
    from yuzui.adapters.langchain.engine import NativeEngine

    engine = JsonActionEngine()
    native = NativeEngine(fallback=engine)
    if any(app.engine == "native" for app in apps):
        warming = asyncio.create_task(native.warm(), name="yuzui-native-engine")
        stack.push_async_callback(_ended, warming)
    return {"json": engine, "native": native}


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


def context_factory(app: App[Any], database: Database, servers: Callable[[str], McpServer]) -> ContextFactory:
    """Makes the `Ctx` of every call: the app's services over the pool, or over the transaction of a confirmed write."""

    def context(
        caller: Caller, *, run_id: str | None = None, db: Database | None = None, idempotency_key: str | None = None
    ) -> Ctx[Any]:
        chosen = database if db is None else db
        return Ctx(
            caller=caller,
            deps=app.deps(chosen),
            db=chosen,
            now=utc_now(),
            run_id=run_id,
            idempotency_key=idempotency_key,
            servers=servers,
        )

    return context
