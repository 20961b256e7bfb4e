"""`build`: one running composition, from the database to the HTTP application."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Final

import structlog

from yuzui.adapters.postgres.database import PooledDatabase
from yuzui.adapters.postgres.jobs import migrate_jobs
from yuzui.adapters.postgres.migrate import CORE, Source, migrate, pending
from yuzui.adapters.postgres.pool import Pool, PoolOptions, open_pool
from yuzui.adapters.postgres.seeds import seed_once
from yuzui.app import App
from yuzui.bootstrap.core import Core, start_core
from yuzui.bootstrap.measuring import Measures
from yuzui.entrypoints.auth import (
    Authenticate,
    Authenticator,
    Defaults,
    HostAuthenticator,
    dev_authenticator,
    key_authenticator,
)
from yuzui.entrypoints.http.application import http_application
from yuzui.entrypoints.http.edge import Edge
from yuzui.entrypoints.services import Check, Limits, Services, Stores
from yuzui.entrypoints.sse import Streams
from yuzui.errors import SettingsError, YuzuiError
from yuzui.runs.ids import new_id
from yuzui.settings import Settings

CHECK_SECONDS: Final = 1.0
_NOT_YET: Final = {
    "embedding_url": "embeddings by URL",
    "embedding_model": "embeddings by URL",
    "rerank_url": "reranker",
    "milvus_uri": "Milvus",
    "redis_url": "Redis quota counter",
    "prometheus_url": "Prometheus queries",
    "otel_exporter_otlp_endpoint": "OpenTelemetry export",
    "retention_days": "retention",
}
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Yuzui:
    """A running composition: `http` is the ASGI application, `services` the ports behind it."""

    settings: Settings
    apps: tuple[App[Any], ...]
    services: Services
    http: Edge
    embedded: bool


@asynccontextmanager
async def build(
    settings: Settings, apps: Sequence[App[Any]], *, authenticate: Authenticate | None = None, worker: bool = True
) -> AsyncGenerator[Yuzui]:
    """Start everything that the settings name; stop it when the block ends, handing over the runs in work.

    Migrates the schema and lays out each app's demo data once. Without `worker` runs are accepted and left to others.
    Raises `SettingsError`, `DeclarationError`, `DatabaseUnavailableError`, `MigrationError` or what the embedded PostgreSQL
    raises.
    """
    authenticator = choose_authenticator(settings, authenticate)
    for name, what in unused_settings(settings).items():
        _log.warning("setting.unused", name=name, reason=f"this version has no {what}")
    async with AsyncExitStack() as stack:
        dsn = await start_database(settings, stack)
        pool = await start_pool(settings, dsn, stack)
        await prepare(pool, apps)
        measures, streams = Measures(), Streams()
        core = await start_core(settings, apps, dsn=dsn, pool=pool, stack=stack, measures=measures, worker=worker)
        measures.watch(core.heart, streams)
        stack.callback(streams.close)
        services = Services(
            apps={app.name: app for app in apps},
            contexts=core.contexts,
            stores=Stores(
                runs=core.heart.runs,
                events=core.heart.hub,
                sessions=core.heart.sessions,
                actions=core.heart.actions,
                audit=core.heart.audit,
                feedback=core.feedback,
            ),
            reception=core.conversation,
            confirmations=core.confirmations,
            dispatcher=core.heart.dispatcher,
            authenticator=authenticator,
            health=Readiness(pool, core, apps, streams),
            streams=streams,
            limits=_limits(settings),
            version=version("yuzui"),
            new_id=new_id,
            metrics=measures.text,
        )
        yield Yuzui(
            settings=settings,
            apps=tuple(apps),
            services=services,
            http=http_application(services),
            embedded=settings.database_url is None,
        )


def unused_settings(settings: Settings) -> dict[str, str]:
    """Settings that are given and that this version has no use for: name → what it would need."""
    return {name: what for name, what in _NOT_YET.items() if getattr(settings, name) is not None}


def choose_authenticator(settings: Settings, authenticate: Authenticate | None = None) -> Authenticator:
    """The host's login, API keys, or the dev tokens; never two of them. Raises `SettingsError`."""
    defaults = Defaults(locale=settings.default_locale, timezone=settings.default_timezone)
    if authenticate is not None:
        return HostAuthenticator(authenticate)
    if settings.oidc_issuer is not None:
        raise SettingsError("YUZUI_OIDC_ISSUER: this version has no OIDC; use YUZUI_API_KEYS_FILE or the host's login.")
    if settings.api_keys_file is not None:
        return key_authenticator(settings.api_keys_file, defaults)
    return dev_authenticator(defaults)


async def start_database(settings: Settings, stack: AsyncExitStack) -> str:
    """The address of the database; without a setting an own PostgreSQL is started and looked after."""
    if settings.database_url is not None:
        return settings.database_url
    from yuzui.adapters.embedded_postgres import EmbeddedPostgres

    server = EmbeddedPostgres(settings.data_dir)
    await stack.enter_async_context(server)
    watching = asyncio.create_task(server.watch(), name="yuzui-embedded-postgres")
    stack.push_async_callback(_cancelled, watching)
    return server.dsn


async def start_pool(settings: Settings, dsn: str, stack: AsyncExitStack) -> Pool:
    """The open pool."""
    options = PoolOptions(
        min_size=min(settings.pool_min_size, settings.pool_max_size),
        max_size=settings.pool_max_size,
        wait_s=settings.pool_wait_s,
        transaction_pooler=settings.transaction_pooler,
    )
    pool = await open_pool(dsn, options)
    stack.push_async_callback(pool.close)
    return pool


def sources(apps: Sequence[App[Any]]) -> list[Source]:
    """The migrations of the core and of every app that has some."""
    folders = [(app.name, app.assets / "migrations") for app in apps]
    return [CORE, *((name, folder) for name, folder in folders if folder.is_dir())]


async def prepare(pool: Pool, apps: Sequence[App[Any]]) -> list[str]:
    """Bring the schema up to date and lay out demo data; the labels of the applied migrations."""
    applied = [migration.label for migration in await migrate(pool, sources(apps))]
    async with pool.connection() as connection:
        if await migrate_jobs(connection):
            applied.append("jobs")
    for app in apps:
        if app.seed is not None and await seed_once(PooledDatabase(pool), app.name, app.seed):
            _log.info("app.seeded", app=app.name)
    return applied


class Readiness:
    """Whether this process can serve: the database answers, its schema is this version's, news of other processes arrive."""

    def __init__(self, pool: Pool, core: Core, apps: Sequence[App[Any]], streams: Streams) -> None:
        self._pool = pool
        self._core = core
        self._apps = tuple(apps)
        self._streams = streams

    async def checks(self) -> Sequence[Check]:
        """Every part, asked now."""
        found = [Check(part="server", problem="shutting down" if self._streams.closing else "")]
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                missing = await pending(self._pool, sources(self._apps))
        except (TimeoutError, YuzuiError) as error:
            detail = error.detail if isinstance(error, YuzuiError) else f"no answer within {CHECK_SECONDS:g} s"
            return [*found, Check(part="database", problem=detail)]
        labels = ", ".join(migration.label for migration in missing)
        return [
            *found,
            Check(part="database"),
            Check(part="migrations", problem=f"not applied: {labels}; run 'yuzui migrate'" if labels else ""),
            Check(part="listener", problem=self._core.listener_problem()),
        ]


def _limits(settings: Settings) -> Limits:
    return Limits(
        max_body_bytes=settings.max_body_bytes,
        max_json_depth=settings.max_json_depth,
        max_message_chars=settings.max_message_chars,
        max_wait_s=settings.max_wait_s,
        sse_heartbeat_s=settings.sse_heartbeat_s,
        page=settings.page_limit,
        max_page=settings.max_page_limit,
    )


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait({task})
