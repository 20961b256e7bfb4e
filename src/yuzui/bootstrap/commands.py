"""What the commands of the command line do: `Composer` over settings, adapters and the running composition."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from yuzui.app import App
from yuzui.bootstrap.apps import load_app, load_apps
from yuzui.entrypoints.cli.composer import Given, LayerVerdict, Part, Serving
from yuzui.errors import DatabaseUnavailableError
from yuzui.owner import Locale
from yuzui.settings import Settings, load_settings


class Commands:
    """The `Composer` of the `yuzui` command. Heavy parts are imported by the command that needs them."""

    def serve(self, given: Given, *, worker: bool, ready: Callable[[Serving], None]) -> None:
        """See `Composer.serve`."""
        from yuzui.bootstrap.logs import configure_logs
        from yuzui.bootstrap.serving import serve

        settings = _settings(given)
        configure_logs(settings)
        serve(settings, load_apps(settings.apps), worker=worker, ready=ready)

    def work(self, given: Given, ready: Callable[[str], None]) -> None:
        """See `Composer.work`."""
        from yuzui.bootstrap.logs import configure_logs
        from yuzui.bootstrap.serving import work

        settings = _beside(_settings(given))
        configure_logs(settings)
        work(settings, load_apps(settings.apps), ready=ready)

    def migrate(self, given: Given) -> Sequence[str]:
        """See `Composer.migrate`."""
        settings = _settings(given)
        return asyncio.run(_migrate(settings, load_apps(settings.apps)))

    def diagnose(self, given: Given) -> Sequence[Part]:
        """See `Composer.diagnose`."""
        from yuzui.bootstrap.diagnosis import diagnose

        return asyncio.run(diagnose(_settings(given)))

    def app(self, name: str) -> App[Any]:
        """See `Composer.app`."""
        return load_app(name)

    def explain(self, app: App[Any], text: str, locale: Locale) -> Sequence[LayerVerdict]:
        """See `Composer.explain`."""
        from yuzui.bootstrap.explaining import explain_text

        return asyncio.run(explain_text(app, text, locale, load_settings()))


def _settings(given: Given) -> Settings:
    return load_settings(
        apps=given.apps,
        host=given.host,
        port=given.port,
        data_dir=given.data_dir,
        worker_concurrency=given.concurrency,
    )


def _beside(settings: Settings) -> Settings:
    """Settings for a process beside a server: the embedded PostgreSQL that the server runs is used, never started."""
    if settings.database_url is not None:
        return settings
    from yuzui.adapters.embedded_postgres import running_dsn

    dsn = running_dsn(Path(settings.data_dir))
    if dsn is None:
        raise DatabaseUnavailableError(
            f"No server runs its embedded PostgreSQL under {settings.data_dir}. Start 'yuzui serve --no-worker' with this"
            " --data-dir first, or set YUZUI_DATABASE_URL."
        )
    return settings.model_copy(update={"database_url": dsn})


async def _migrate(settings: Settings, apps: Sequence[App[Any]]) -> list[str]:
    from yuzui.adapters.embedded_postgres import running_dsn
    from yuzui.bootstrap.compose import prepare, start_database, start_pool

    if settings.database_url is None and (dsn := running_dsn(Path(settings.data_dir))) is not None:
        settings = settings.model_copy(update={"database_url": dsn})
    async with AsyncExitStack() as stack:
        pool = await start_pool(settings, await start_database(settings, stack), stack)
        return await prepare(pool, apps)
