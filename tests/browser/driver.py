"""What a person does on the page, as small functions."""

from playwright.async_api import Locator, Page, expect
from tests.browser.site import Site


async def sign_in(page: Page, site: Site) -> None:
    """Open the page, give the token, choose the app."""
    await page.goto(site.base_url)
    await page.locator("#token").fill(site.token)
    await page.locator("#signin-form button").click()
    await expect(page.locator("#shell")).to_be_visible()
    if await page.locator("#app").input_value() != site.app:
        await choose_app(page, site.app)


async def choose_app(page: Page, name: str) -> None:
    """Pick an assistant, through the drawer on a narrow screen."""
    toggle = page.locator("#nav-toggle")
    if await toggle.is_visible():
        await toggle.click()
    await page.locator("#app").select_option(name)
    if await toggle.is_visible():
        await page.keyboard.press("Escape")


async def say(page: Page, text: str) -> None:
    """Type a message and press Enter."""
    await page.locator("#message").fill(text)
    await page.locator("#message").press("Enter")


def turn(page: Page, index: int = -1) -> Locator:
    """A turn by its place; the last by default."""
    turns = page.locator(".turn")
    return turns.last if index == -1 else turns.nth(index)


async def answered(page: Page, index: int = -1) -> Locator:
    """The turn, once its run has succeeded."""
    found = turn(page, index)
    await expect(found).to_have_attribute("data-status", "succeeded")
    return found


async def timeline(found: Locator) -> list[str]:
    """Every line of the turn's timeline."""
    await found.locator(".run-details > summary").click()
    return await found.locator(".timeline code").all_inner_texts()
