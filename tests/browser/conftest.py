"""Headless Chromium, one page per test, and the server it looks at.

Scenarios that need no misbehaving server run on the fake one and on a real `yuzui serve`, or on the server that
BROWSER_BASE_URL (with BROWSER_TOKEN, BROWSER_APP) names.
"""

import os
import shutil
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field

import pytest
from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Error, Page, Request, async_playwright
from tests.acceptance.conftest import Server
from tests.browser.fake_server import Fake, serving
from tests.browser.site import FAKE_PHRASES, REAL_PHRASES, Site

CHROMIUM = "/usr/bin/chromium"
INSTALL = "Chromium is missing; install it with: apt-get install -y chromium"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
    "--disable-component-update",
    "--disable-sync",
]


@dataclass(kw_only=True)
class Watch:
    """What the page did that a person does not see: console errors, uncaught errors, requests to other hosts."""

    errors: list[str] = field(default_factory=list[str])
    requests: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def attach(self, page: Page) -> None:
        """Listen to this page from now on."""

        def console(message: ConsoleMessage) -> None:
            if message.type in {"error", "warning"}:
                self.errors.append(message.text)

        def crashed(error: Error) -> None:
            self.errors.append(str(error))

        def request(sent: Request) -> None:
            self.requests.append((sent.method, sent.url))

        page.on("console", console)
        page.on("pageerror", crashed)
        page.on("request", request)

    def sent(self, method: str, ending: str) -> int:
        """How many requests with this method and end of the path went out."""
        return sum(1 for verb, url in self.requests if verb == method and url.split("?")[0].endswith(ending))


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    """One Chromium for the session."""
    executable = shutil.which("chromium") or CHROMIUM
    if not os.path.exists(executable):
        pytest.skip(INSTALL)
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(headless=True, executable_path=executable, args=FLAGS)
        yield chromium
        await chromium.close()


@pytest.fixture
def fake() -> Fake:
    """The fake server's knobs; a test that turns one cannot run on a real server."""
    if "BROWSER_BASE_URL" in os.environ:
        pytest.skip("this scenario needs the fake server; unset BROWSER_BASE_URL")
    return Fake()


@pytest.fixture(scope="session")
def real_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real server with the bundled app, started for the browser."""
    if base := os.environ.get("BROWSER_BASE_URL"):
        yield base.rstrip("/")
        return
    running = Server(tmp_path_factory.mktemp("browser-server"))
    yield running.url
    assert running.stop() == 0, running.output


@pytest.fixture
def site(request: pytest.FixtureRequest) -> Iterator[Site]:
    """The server under test: a fresh fake, or the real one when the test asks for `real`."""
    if getattr(request, "param", "fake") == "real":
        token, app = os.environ.get("BROWSER_TOKEN", "dev-alice"), os.environ.get("BROWSER_APP", "home-menu")
        yield Site(base_url=request.getfixturevalue("real_url"), token=token, app=app, phrases=REAL_PHRASES)
        return
    knobs: Fake = request.getfixturevalue("fake")
    with serving(knobs) as base_url:
        yield Site(base_url=base_url, token="dev-alice", app="fitmind", phrases=FAKE_PHRASES)


@pytest.fixture
async def context(browser: Browser) -> AsyncIterator[BrowserContext]:
    """A fresh profile, English."""
    made = await browser.new_context(locale="en-GB", timezone_id="Asia/Shanghai")
    made.set_default_timeout(10_000)
    yield made
    await made.close()


@pytest.fixture
async def page(context: BrowserContext) -> Page:
    """An empty tab."""
    return await context.new_page()


@pytest.fixture
def watch(page: Page) -> Watch:
    """What this tab does unseen."""
    seen = Watch()
    seen.attach(page)
    return seen
