"""The page on any server of the contract: sign-in, answers, confirmation, languages, keyboard (R-UI-01)."""

from typing import Protocol

import pytest
from playwright.async_api import BrowserContext, Page, expect
from tests.browser.conftest import Watch
from tests.browser.driver import answered, say, sign_in, turn
from tests.browser.site import Site

pytestmark = pytest.mark.parametrize("site", ["fake", "real"], indirect=True)


class Devtools(Protocol):
    """The part of a DevTools session these tests use, typed."""

    async def send(self, method: str, params: dict[str, str | int]) -> object:
        """Send one command."""
        ...


async def devtools_of(page: Page) -> Devtools:
    """A DevTools session of this tab."""
    return await page.context.new_cdp_session(page)


async def test_R_UI_01_a_direct_read_shows_its_steps_its_card_and_where_it_came_from(
    page: Page, site: Site, watch: Watch
) -> None:
    await sign_in(page, site)
    await say(page, site.phrases.direct)
    found = await answered(page)
    await expect(found.locator(".asked")).to_contain_text(site.phrases.direct)
    await expect(found.locator(".step").first).to_have_attribute("data-outcome", "ok")
    await expect(found.locator(".prose")).to_contain_text(site.phrases.shown)
    await expect(found.locator(".badge-direct")).to_be_visible()
    await found.locator(".run-details > summary").click()
    await expect(found.locator(".run-details")).to_contain_text("Direct read, no model")
    await expect(found.locator(".timeline li").first).to_contain_text("run.created")
    await expect(found.locator(".timeline li").last).to_contain_text("run.completed")
    assert watch.errors == []


async def test_R_UI_01_nothing_of_ours_is_blocked_and_no_other_host_is_asked(
    page: Page, site: Site, watch: Watch
) -> None:
    response = await page.goto(site.base_url)
    assert response is not None
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    await sign_in(page, site)
    await say(page, site.phrases.direct)
    await answered(page)
    background = await page.evaluate("getComputedStyle(document.querySelector('#send')).backgroundColor")
    assert background == "rgb(13, 102, 112)"
    assert watch.errors == []
    assert {url.split("/v1")[0].split("/assets")[0].split("/healthz")[0].rstrip("/") for _, url in watch.requests} == {
        site.base_url
    }


async def test_R_UI_01_a_double_click_on_confirm_is_one_request_and_one_outcome(
    page: Page, site: Site, watch: Watch
) -> None:
    await sign_in(page, site)
    await say(page, site.phrases.confirm)
    asked = await answered(page, 0)
    card = asked.locator(".confirmation")
    await expect(card.locator("time")).to_contain_text("GMT+8")
    await expect(asked.locator(".badge")).to_have_count(0)  # a draft claims nothing, so nothing is said of its sources
    await expect(card.locator(".arguments tr").first).to_be_visible()
    await card.get_by_role("button", name="Confirm").dblclick()
    await expect(card).to_have_attribute("data-status", "executed")
    await expect(card.get_by_role("button")).to_have_count(0)
    await expect(card.locator(".confirmation-status")).to_be_focused()
    await answered(page, 1)
    assert watch.sent("POST", "/confirm") == 1
    assert watch.errors == []


async def test_R_CONF_02_a_rejected_action_stays_rejected_after_a_reload(page: Page, site: Site, watch: Watch) -> None:
    await sign_in(page, site)
    await say(page, site.phrases.confirm)
    card = (await answered(page)).locator(".confirmation")
    await card.get_by_role("button", name="Reject").click()
    await expect(card).to_have_attribute("data-status", "rejected")
    await page.reload()
    await expect(page.locator(".confirmation")).to_have_attribute("data-status", "rejected")
    await expect(page.locator(".confirmation").get_by_role("button")).to_have_count(0)
    assert watch.sent("POST", "/reject") == 1
    assert watch.errors == []


async def test_R_UI_01_the_page_speaks_the_language_of_the_browser_and_switches(
    context: BrowserContext, site: Site, page: Page
) -> None:
    await context.add_init_script("Object.defineProperty(navigator, 'languages', { get: () => ['zh-CN', 'en'] })")
    await page.goto(site.base_url)
    await expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    await sign_in(page, site)
    await say(page, site.phrases.confirm)
    card = (await answered(page)).locator(".confirmation")
    await expect(card.get_by_role("button", name="确认")).to_be_visible()
    await page.locator("#language").click()
    await expect(page.locator("html")).to_have_attribute("lang", "en")
    await expect(page.get_by_role("button", name="Confirm", exact=True)).to_be_visible()
    await expect(page.locator("#message")).to_have_attribute("placeholder", "Write a message")
    await page.reload()
    await expect(page.locator("html")).to_have_attribute("lang", "en")


async def test_R_UI_01_shift_enter_breaks_the_line_and_an_input_method_s_enter_sends_nothing(
    page: Page, site: Site
) -> None:
    await sign_in(page, site)
    box = page.locator("#message")
    await box.fill("第一行")
    await box.press("Shift+Enter")
    await box.press_sequentially("x")
    assert await box.input_value() == "第一行\nx"
    devtools = await devtools_of(page)
    await devtools.send("Input.imeSetComposition", {"text": "ni hao", "selectionStart": 6, "selectionEnd": 6})
    enter = "new KeyboardEvent('keydown', {key: 'Enter', isComposing: true, bubbles: true, cancelable: true})"
    await box.evaluate(f"(element) => element.dispatchEvent({enter})")
    late = "new KeyboardEvent('keydown', {key: 'Enter', keyCode: 229, bubbles: true, cancelable: true})"
    await box.evaluate(f"(element) => element.dispatchEvent({late})")
    await expect(page.locator(".turn")).to_have_count(0)
    await devtools.send("Input.insertText", {"text": "你好"})
    assert await box.input_value() == "第一行\nx你好"
    await box.fill(site.phrases.direct)
    await box.press("Enter")
    await answered(page)
    assert await box.input_value() == ""
    await expect(box).to_be_focused()


async def test_R_UI_01_a_wrong_token_is_refused_with_a_way_on(page: Page, site: Site) -> None:
    await page.goto(site.base_url)
    await page.locator("#token").fill("not-a-token")
    await page.locator("#token").press("Enter")
    await expect(page.locator("#signin-error")).to_be_visible()
    await expect(page.locator("#token")).to_be_focused()
    assert await page.evaluate("sessionStorage.getItem('yuzui.token')") is None
    await page.locator("#token").fill(site.token)
    await page.locator("#token").press("Enter")
    await expect(page.locator("#shell")).to_be_visible()
    assert await page.evaluate("Object.values(localStorage).join()") == ""


async def test_R_UI_01_controls_have_names_and_the_log_is_live(page: Page, site: Site) -> None:
    await sign_in(page, site)
    await say(page, site.phrases.confirm)
    await answered(page)
    unnamed = await page.evaluate(
        """() => [...document.querySelectorAll('button, input, select, textarea')]
          .filter((element) => element.checkVisibility())
          .filter((element) => !(element.getAttribute('aria-label') || element.labels?.length || element.textContent.trim()))
          .map((element) => element.outerHTML)"""
    )
    assert unnamed == []
    await expect(page.locator("#log")).to_have_attribute("aria-live", "polite")
    await expect(turn(page)).to_have_attribute("aria-busy", "false")


async def test_R_API_03_each_request_says_the_reader_s_language_and_time_zone(page: Page, site: Site) -> None:
    await sign_in(page, site)
    async with page.expect_request("**/runs") as sent:
        await say(page, site.phrases.direct)
    headers = await (await sent.value).all_headers()
    assert headers["x-timezone"] == "Asia/Shanghai"
    assert headers["accept-language"] == "en"
    await answered(page)


async def test_R_UI_01_a_phone_s_width_has_a_drawer_and_no_sideways_scrolling(page: Page, site: Site) -> None:
    await page.set_viewport_size({"width": 360, "height": 740})
    await sign_in(page, site)
    await say(page, site.phrases.confirm)
    await answered(page)
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await expect(page.locator("#new-session")).not_to_be_in_viewport()
    await page.locator("#nav-toggle").click()
    await expect(page.locator("#new-session")).to_be_in_viewport()
    await page.keyboard.press("Escape")
    await expect(page.locator("#nav-toggle")).to_be_focused()


async def test_R_UI_01_earlier_sessions_are_listed_and_open_with_their_answers(page: Page, site: Site) -> None:
    await sign_in(page, site)
    await say(page, site.phrases.direct)
    await answered(page)
    await page.locator("#new-session").click()
    await expect(page.locator(".turn")).to_have_count(0)
    await page.locator(".session-open", has_text=site.phrases.direct).first.click()
    await expect((await answered(page)).locator(".prose")).to_contain_text(site.phrases.shown)
