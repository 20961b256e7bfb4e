"""`yuzui serve`: a socket, an event loop, signals that end everything in order (R-OPSX-01)."""

import asyncio
import contextlib
import errno
import gc
import ipaddress
import signal
import socket
from collections.abc import Callable, Coroutine, Generator, Sequence
from typing import Any

import uvicorn
from typing_extensions import override

from yuzui.app import App
from yuzui.bootstrap.compose import Yuzui, build
from yuzui.entrypoints.auth import require_safe_bind
from yuzui.entrypoints.cli.composer import Serving
from yuzui.errors import YuzuiError
from yuzui.settings import Settings


class AddressError(YuzuiError):
    """The address cannot be listened on."""

    code = "address_unusable"


class _Server(uvicorn.Server):
    """Uvicorn without its own signal handling: signals end streams, then connections, then everything behind them."""

    @override
    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


class Stop:
    """What a signal does: before `armed` it cancels the start, afterwards it asks for an orderly end; a second one cancels that."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.armed = False

    def signalled(self, task: asyncio.Future[None]) -> None:
        """A signal came."""
        if self.asked.is_set() or not self.armed:
            task.cancel()
        self.asked.set()


def serve(settings: Settings, apps: Sequence[App[Any]], *, worker: bool, ready: Callable[[Serving], None]) -> None:
    """Serve until a signal. Raises `AddressError` that names the port and the flag, `SettingsError`, and what `build` raises."""
    require_safe_bind(settings.host, authenticated=settings.authenticated)
    listening = bind(settings.host, settings.port)
    try:
        run_until_signal(lambda stop: _serve(settings, apps, listening, stop, worker=worker, ready=ready))
    finally:
        listening.close()


def bind(host: str, port: int) -> socket.socket:
    """A bound socket, so that a port in use is known before anything is started."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host.strip("[]"), port))
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            raise AddressError(
                f"Port {port} on {host} is in use. Choose another one with --port, or 0 for a free one."
            ) from error
        raise AddressError(
            f"Cannot listen on {host}, port {port}: {error.strerror}. Change --host or --port."
        ) from error
    return listening  # not inheritable: a child that outlives a killed server would hold the port against the next one


async def _serve(
    settings: Settings,
    apps: Sequence[App[Any]],
    listening: socket.socket,
    stop: Stop,
    *,
    worker: bool,
    ready: Callable[[Serving], None],
) -> None:
    async with build(settings, apps, worker=worker) as yuzui:
        server = _Server(_configuration(settings, yuzui))
        serving = asyncio.create_task(server.serve(sockets=[listening]), name="yuzui-http")
        stopping = asyncio.create_task(stop.asked.wait())
        try:
            await _started(server, serving)
            stop.armed = True
            _settle_heap()
            ready(_greeting(yuzui, listening, worker=worker))
            await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
            yuzui.services.streams.close()
            server.should_exit = True
            await asyncio.wait({serving})
        serving.result()


def _settle_heap() -> None:
    """What the start made lives as long as the process: the collector need not walk it again for every few requests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


def _configuration(settings: Settings, yuzui: Yuzui) -> uvicorn.Config:
    return uvicorn.Config(
        yuzui.http,
        loop="none",
        http="httptools",
        ws="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        server_header=False,
        date_header=True,
        proxy_headers=False,
        timeout_graceful_shutdown=max(1, round(settings.shutdown_grace_s)),
        timeout_keep_alive=65,
        h11_max_incomplete_event_size=65_536,
    )


async def _started(server: uvicorn.Server, serving: asyncio.Task[None]) -> None:
    while not server.started:
        if serving.done():
            serving.result()
            raise AddressError("The server ended before it was ready.")
        await asyncio.sleep(0.002)


def _greeting(yuzui: Yuzui, listening: socket.socket, *, worker: bool) -> Serving:
    host, port = listening.getsockname()[:2]
    address = ipaddress.ip_address(host)
    shown = (
        "127.0.0.1"
        if address.is_unspecified and address.version == 4
        else f"[{host}]"
        if address.version == 6
        else host
    )
    return Serving(
        url=f"http://{shown}:{port}",
        apps=yuzui.apps,
        dev_tokens=yuzui.services.authenticator.dev_tokens,
        demo=yuzui.settings.model is None,
        embedded=yuzui.embedded,
        worker=worker,
        model=_model_shown(yuzui.settings),
    )


def _model_shown(settings: Settings) -> str:
    at = f" at {settings.model_base_url}" if settings.model_base_url else ""
    return f"{settings.model}{at}" if settings.model else ""


def run_until_signal(main: Callable[[Stop], Coroutine[Any, Any, None]]) -> None:
    """Run a coroutine on uvloop with a `Stop` that SIGINT and SIGTERM reach. Being ended by a signal is no error."""
    import uvloop

    async def run() -> None:
        stop = Stop()
        task = asyncio.create_task(main(stop))
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.signalled, task)
        try:
            await task
        except asyncio.CancelledError:
            if not stop.asked.is_set():
                raise

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(run())


def work(settings: Settings, apps: Sequence[App[Any]], *, ready: Callable[[str], None]) -> None:
    """Carry out runs until a signal, without HTTP."""
    run_until_signal(lambda stop: _work(settings, apps, stop, ready))


async def _work(settings: Settings, apps: Sequence[App[Any]], stop: Stop, ready: Callable[[str], None]) -> None:
    async with build(settings, apps):
        stop.armed = True
        names = ", ".join(app.name for app in apps)
        ready(f"Working on runs of {names}, {settings.worker_concurrency} at a time. Ctrl-C stops it.")
        await stop.asked.wait()
