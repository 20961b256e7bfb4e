"""`yuzui doctor`: every part of the configuration, asked once."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import SecretStr

from yuzui.app import App
from yuzui.bootstrap.apps import load_app
from yuzui.bootstrap.compose import choose_authenticator, sources, unused_settings
from yuzui.bootstrap.models import check_provider
from yuzui.entrypoints.auth import TokenAuthenticator, is_loopback
from yuzui.entrypoints.cli.composer import Part
from yuzui.errors import YuzuiError
from yuzui.settings import Settings

_ASK_SECONDS: Final = 5.0
_WITHOUT_MODEL: Final = "direct reads, confirmations, business endpoints; other answers are labelled fallbacks"


async def diagnose(settings: Settings) -> Sequence[Part]:
    """Look at settings, apps, authentication, database, schema and model; nothing is started and nothing changed."""
    apps, parts = _apps(settings)
    parts.append(_authentication(settings))
    parts.extend(await _database(settings, apps))
    parts.append(await _model(settings))
    for name, what in unused_settings(settings).items():
        parts.append(
            Part(
                name=f"YUZUI_{name.upper()}",
                state="invalid",
                detail=f"this version has no {what}",
                works="everything else; the setting has no effect",
                remedy=f"remove YUZUI_{name.upper()}",
            )
        )
    return parts


def _apps(settings: Settings) -> tuple[list[App[Any]], list[Part]]:
    apps: list[App[Any]] = []
    parts: list[Part] = []
    for name in settings.apps:
        try:
            app = load_app(name)
        except YuzuiError as error:
            parts.append(
                Part(
                    name=f"app {name}",
                    state="invalid",
                    detail=error.detail,
                    works="the other apps",
                    remedy="correct --app or YUZUI_APPS",
                )
            )
            continue
        apps.append(app)
        detail = f"{len(app.intents)} intents, {len(app.tools)} tools, {len(app.endpoints)} endpoints"
        parts.append(Part(name=f"app {app.name}", state="ok", detail=detail))
        parts.extend(_servers(app))
    return apps, parts


def _servers(app: App[Any]) -> list[Part]:
    parts: list[Part] = []
    for server in app.servers.values():
        name = f"MCP server {server.name}"
        if server.command and shutil.which(server.command[0]) is None:
            parts.append(
                Part(
                    name=name,
                    state="unreachable",
                    detail=f"there is no program {server.command[0]!r}",
                    works=f"{app.name} without this server's figures",
                    remedy="install it, or change the app's declaration",
                )
            )
        else:
            parts.append(
                Part(name=name, state="ok", detail="declared: " + (server.url or " ".join(server.command[-2:])))
            )
    return parts


def _authentication(settings: Settings) -> Part:
    try:
        authenticator = choose_authenticator(settings)
    except YuzuiError as error:
        return Part(
            name="authentication", state="invalid", detail=error.detail, works="nothing", remedy="correct the setting"
        )
    if isinstance(authenticator, TokenAuthenticator) and not authenticator.dev_tokens:
        return Part(name="authentication", state="ok", detail=f"API keys from {settings.api_keys_file}")
    if is_loopback(settings.host):
        return Part(
            name="authentication",
            state="missing",
            detail="public dev tokens, on this machine only",
            works="everything, on a loopback address",
            remedy="YUZUI_API_KEYS_FILE for real users",
        )
    return Part(
        name="authentication",
        state="invalid",
        detail=f"none, and the address {settings.host} is public",
        works="nothing: the server refuses to start",
        remedy="YUZUI_API_KEYS_FILE, or --host 127.0.0.1",
    )


async def _database(settings: Settings, apps: Sequence[App[Any]]) -> list[Part]:
    from yuzui.adapters.postgres.migrate import pending
    from yuzui.adapters.postgres.pool import open_pool, require_server

    dsn = settings.database_url or _running(settings)
    if dsn is None:
        return [
            Part(
                name="database",
                state="ok",
                detail=f"embedded PostgreSQL under {settings.data_dir}, not running now",
                works="'yuzui serve' starts it",
                remedy="YUZUI_DATABASE_URL for several servers",
            )
        ]
    try:
        major = await require_server(dsn, wait_s=_ASK_SECONDS)
        pool = await open_pool(dsn, wait_s=_ASK_SECONDS)
        try:
            missing = await pending(pool, sources(apps))
        finally:
            await pool.close()
    except YuzuiError as error:
        return [
            Part(
                name="database",
                state="unreachable",
                detail=error.detail,
                works="nothing",
                remedy="start PostgreSQL, or correct YUZUI_DATABASE_URL",
            )
        ]
    kind = "YUZUI_DATABASE_URL" if settings.database_url else "embedded, running"
    labels = ", ".join(migration.label for migration in missing)
    return [
        Part(name="database", state="ok", detail=f"PostgreSQL {major} ({kind})"),
        Part(
            name="schema",
            state="missing",
            detail=f"not applied: {labels}",
            works="'yuzui serve' applies them",
            remedy="yuzui migrate",
        )
        if labels
        else Part(name="schema", state="ok", detail="up to date"),
    ]


def _running(settings: Settings) -> str | None:
    from yuzui.adapters.embedded_postgres import running_dsn

    return running_dsn(Path(settings.data_dir))


async def _model(settings: Settings) -> Part:
    if settings.model is None:
        return Part(
            name="model",
            state="missing",
            detail="no YUZUI_MODEL: demo mode",
            works="direct reads, confirmations, business endpoints; other answers are labelled demo answers",
            remedy="YUZUI_MODEL=provider:name and YUZUI_MODEL_API_KEY",
        )
    try:
        await check_provider(settings)
    except YuzuiError as error:
        return Part(
            name="model",
            state="invalid",
            detail=error.detail,
            works=_WITHOUT_MODEL,
            remedy="correct YUZUI_MODEL and YUZUI_MODEL_API_KEY; any OpenAI-compatible server: YUZUI_MODEL_BASE_URL",
        )
    if settings.model_base_url is None:
        return Part(name="model", state="ok", detail=f"{settings.model}, not asked (it costs money)")
    return await _model_server(settings.model, settings.model_base_url, settings.model_api_key)


async def _model_server(name: str, base_url: str, api_key: SecretStr | None) -> Part:
    """Ask a compatible server for its models: that needs the right address and key, and costs nothing."""
    import httpx2

    url = f"{base_url.rstrip('/')}/models"
    headers = {"Authorization": f"Bearer {api_key.get_secret_value()}"} if api_key else {}
    try:
        async with httpx2.AsyncClient(timeout=_ASK_SECONDS) as client:
            response = await client.get(url, headers=headers)
    except httpx2.HTTPError as error:
        return Part(
            name="model",
            state="unreachable",
            detail=f"{url}: {type(error).__name__}",
            works=_WITHOUT_MODEL,
            remedy="start the model server, or correct YUZUI_MODEL_BASE_URL",
        )
    if response.status_code in (401, 403):
        return Part(
            name="model",
            state="invalid",
            detail=f"{url} refuses the key",
            works=_WITHOUT_MODEL,
            remedy="correct YUZUI_MODEL_API_KEY",
        )
    if response.status_code >= 500:
        return Part(
            name="model",
            state="unreachable",
            detail=f"{url} answers {response.status_code}",
            works=_WITHOUT_MODEL,
            remedy="look at the model server's log, or correct YUZUI_MODEL_BASE_URL",
        )
    note = f" (it lists no models: {response.status_code} for {url}; the address may be wrong)"
    return Part(name="model", state="ok", detail=f"{name} at {base_url}{'' if response.is_success else note}")
