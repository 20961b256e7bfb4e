"""The page when the network, the server or the content misbehaves (R-UI-01, R-EVT-01); needs the fake server."""

from datetime import timedelta

from playwright.async_api import Page, expect
from tests.browser.conftest import Watch
from tests.browser.driver import answered, say, sign_in, timeline, turn
from tests.browser.fake_scripts import PARAGRAPHS
from tests.browser.fake_server import Fake
from tests.browser.site import Site

# What a whole knowledge run leaves in the timeline, each event once and in order.
WHOLE_RUN = [
    "run.created", "run.started", "route.decided", "policy.compiled", "tool.started", "tool.finished", "tool.started", "tool.finished",
    "content.delta", "content.reset", "content.delta × 4", "citation.added", "message.completed", "run.completed",
]  # fmt: skip


def stream_cursors(fake: Fake) -> list[int]:
    """Behind which event each request asked to go on; a browser may drop what came just before a cut."""
    asked = [(path, last) for _, path, last in fake.requests if "/events?" in path]
    assert all(path.endswith(f"after={last or 0}") for path, last in asked if last)
    return [int(path.rpartition("after=")[2]) for path, _ in asked]


async def test_R_EVT_01_a_connection_cut_mid_stream_resumes_behind_the_last_event_shown(
    page: Page, site: Site, fake: Fake
) -> None:
    fake.hold_at = "citation.added"
    await sign_in(page, site)
    await say(page, "protein, please")
    await expect(turn(page).locator(".streaming")).to_contain_text("成年人")
    fake.cut()
    await expect(page.locator("#network")).to_have_text("Connected again.")
    await expect(turn(page).locator(".streaming")).to_have_text("".join(PARAGRAPHS))
    fake.release()
    assert await timeline(await answered(page)) == WHOLE_RUN
    assert stream_cursors(fake) == [0, 14]


async def test_R_EVT_01_cuts_in_the_middle_of_a_burst_leave_no_gap_and_no_duplicate(
    page: Page, site: Site, fake: Fake
) -> None:
    fake.cut_after = [3, 6]
    await sign_in(page, site)
    await say(page, "protein, please")
    found = await answered(page)
    assert await timeline(found) == WHOLE_RUN
    assert fake.cut_after == []
    assert stream_cursors(fake) == sorted(stream_cursors(fake))


async def test_R_EVT_01_while_the_network_is_away_the_page_says_so_and_catches_up(
    page: Page, site: Site, fake: Fake
) -> None:
    fake.hold_at = "content.delta"
    fake.cut_after = [8]
    await sign_in(page, site)
    await say(page, "protein, please")
    await expect(page.locator(".step")).to_have_count(2)
    await page.context.set_offline(True)
    fake.release()
    await expect(page.locator("#network")).to_contain_text("You are offline")
    await page.context.set_offline(False)
    assert await timeline(await answered(page)) == WHOLE_RUN


async def test_R_EVT_02_where_streams_are_blocked_the_page_polls_the_same_events(
    page: Page, site: Site, fake: Fake
) -> None:
    fake.refuse_streams = True
    fake.hold_at = "message.completed"
    await sign_in(page, site)
    await say(page, "protein, please")
    await expect(page.locator("#network")).to_have_attribute("data-state", "polling")
    await expect(turn(page).locator(".streaming")).to_contain_text("1.2–1.6")
    fake.release()
    assert await timeline(await answered(page)) == WHOLE_RUN


async def test_R_UI_01_a_reload_in_the_middle_of_a_run_goes_on_with_it(
    page: Page, site: Site, fake: Fake, watch: Watch
) -> None:
    fake.hold_at = "citation.added"
    await sign_in(page, site)
    await say(page, "protein, please")
    await expect(turn(page).locator(".streaming")).to_contain_text("1.2–1.6")
    await page.reload()
    await expect(turn(page).locator(".streaming")).to_contain_text("1.2–1.6")
    await expect(page.locator("#stop")).to_be_visible()
    fake.release()
    assert await timeline(await answered(page)) == WHOLE_RUN
    await expect(page.locator(".turn")).to_have_count(1)
    assert watch.errors == []


async def test_R_UI_01_streamed_text_is_reset_and_then_replaced_by_the_answer(
    page: Page, site: Site, fake: Fake
) -> None:
    fake.hold_at = "citation.added"
    await sign_in(page, site)
    await say(page, "protein, please")
    streaming = turn(page).locator(".streaming")
    await expect(streaming).to_contain_text("成年人")
    await expect(streaming).not_to_contain_text("fish")
    await expect(turn(page)).to_have_attribute("aria-busy", "true")
    fake.release()
    found = await answered(page)
    await expect(found.locator(".prose strong")).to_have_text("1.2–1.6 g")
    await expect(found.locator(".citations li")).to_have_count(1)
    for kind in ("mcp_exact", "mcp_derived", "llm_estimate"):
        await expect(found.locator(f".provenance .badge-{kind}")).to_be_visible()
    await expect(found.locator(".step[data-outcome=timeout]")).to_have_count(1)


async def test_R_RUN_06_stop_cancels_the_run_at_the_server(page: Page, site: Site, fake: Fake, watch: Watch) -> None:
    fake.hold_at = "tool.finished"
    await sign_in(page, site)
    await say(page, "protein, please")
    await expect(page.locator(".step-running")).to_be_visible()
    await page.locator("#stop").click()
    await expect(turn(page)).to_have_attribute("data-status", "cancelled")
    await expect(turn(page)).to_contain_text("Stopped")
    await expect(page.locator("#send")).to_be_visible()
    await expect(page.locator(".step-running")).to_have_count(0)
    assert watch.sent("POST", "/cancel") == 1


async def test_R_ROUTE_06_a_clarification_s_choice_is_sent_as_a_message(page: Page, site: Site, fake: Fake) -> None:
    await sign_in(page, site)
    await say(page, "which one")
    first = await answered(page)
    await expect(first).to_contain_text("Which meal do you mean?")
    await first.get_by_role("button", name="BMI").click()
    await expect((await answered(page, 1)).locator(".asked")).to_contain_text("bmi please")
    assert [run.text for run in fake.runs.values()] == ["which one", "bmi please"]


async def test_R_UI_01_hostile_html_that_got_through_the_server_does_nothing(
    page: Page, site: Site, fake: Fake, watch: Watch
) -> None:
    await sign_in(page, site)
    await say(page, "hostile")
    found = await answered(page)
    prose = found.locator(".prose")
    await expect(prose.locator("b")).to_have_text("bold")
    html = await prose.inner_html()
    for word in (
        "script",
        "onclick",
        "onerror",
        "onload",
        "javascript:",
        "tracker",
        "style=",
        "<svg",
        "<iframe",
        "<form",
        "<math",
    ):
        assert word not in html
    assert "a picture" in html
    assert await page.evaluate("window.hit") is None
    assert all(url.startswith(site.base_url) for _, url in watch.requests)
    for badge in ("fallback", "ungrounded", "truncated"):
        await expect(found.locator(f".badge-{badge}")).to_be_visible()


async def test_R_CONF_02_a_409_shows_what_became_of_the_action(page: Page, site: Site, fake: Fake) -> None:
    fake.confirm_problem = (409, "action_expired")
    await sign_in(page, site)
    await say(page, "log a meal")
    card = (await answered(page)).locator(".confirmation")
    await card.get_by_role("button", name="Confirm").click()
    await expect(card).to_have_attribute("data-status", "expired")
    await expect(card).to_contain_text("nothing was executed")
    await expect(card.get_by_role("button")).to_have_count(0)


async def test_R_CONF_02_an_action_that_expires_on_the_screen_can_no_longer_be_confirmed(
    page: Page, site: Site, fake: Fake
) -> None:
    fake.lifetime = timedelta(milliseconds=600)
    await sign_in(page, site)
    await say(page, "log a meal")
    card = (await answered(page)).locator(".confirmation")
    await expect(card).to_have_attribute("data-status", "expired")
    await expect(card).to_contain_text("Expired — nothing was changed")
    await expect(card.get_by_role("button")).to_have_count(0)


async def test_R_CONF_02_when_the_answer_to_a_confirm_is_lost_the_page_asks_what_happened(
    page: Page, site: Site, fake: Fake
) -> None:
    await sign_in(page, site)
    await say(page, "log a meal")
    card = (await answered(page, 0)).locator(".confirmation")
    await page.context.set_offline(True)
    await card.get_by_role("button", name="Confirm").click()
    await expect(card).to_contain_text("Your decision may have arrived")
    await page.context.set_offline(False)
    await card.get_by_role("button", name="Check again").click()
    await expect(card.get_by_role("button", name="Confirm")).to_be_enabled()
    await card.get_by_role("button", name="Confirm").click()
    await expect(card).to_have_attribute("data-status", "executed")
    assert len([path for method, path, _ in fake.requests if method == "POST" and path.endswith("/confirm")]) == 1


async def test_R_RUN_07_a_refused_message_says_what_to_do_and_can_be_sent_again(
    page: Page, site: Site, fake: Fake
) -> None:
    await sign_in(page, site)
    await say(page, "too many")
    alert = turn(page).get_by_role("alert")
    await expect(alert).to_contain_text("Wait until an earlier request is done")
    await expect(alert).to_contain_text("Try again in 3 seconds")
    await expect(alert).to_contain_text("too_many_runs")
    await expect(page.locator("#send")).to_be_visible()
    await alert.get_by_role("button", name="Try again").click()
    await expect(alert).to_be_visible()
    await expect(page.locator(".turn")).to_have_count(1)


async def test_R_UI_01_a_message_sent_without_network_is_sent_once_when_retried(
    page: Page, site: Site, fake: Fake
) -> None:
    await sign_in(page, site)
    await page.context.set_offline(True)
    await say(page, "bmi")
    alert = turn(page).get_by_role("alert")
    await expect(alert).to_contain_text("could not be reached")
    await page.context.set_offline(False)
    await alert.get_by_role("button", name="Try again").click()
    await answered(page)
    await expect(page.locator(".turn")).to_have_count(1)
    assert len(fake.runs) == 1


async def test_R_UI_01_a_failed_run_offers_another_try(page: Page, site: Site, fake: Fake) -> None:
    await sign_in(page, site)
    await say(page, "fail")
    await expect(turn(page)).to_have_attribute("data-status", "failed")
    await turn(page).get_by_role("button", name="Try again").click()
    await expect(page.locator(".turn")).to_have_count(2)
    await expect(page.locator(".turn[data-status=failed]")).to_have_count(2)


async def test_R_UI_01_steps_carry_the_names_the_app_gives_its_tools(page: Page, site: Site, fake: Fake) -> None:
    await sign_in(page, site)
    await say(page, "bmi")
    found = await answered(page)
    await found.locator(".steps > summary").click()
    await expect(found.locator(".step-label")).to_have_text("Compute the BMI")
    await page.locator("#language").click()
    await expect(page.locator(".step-label")).to_have_text("计算体质指数")


async def test_R_AUTH_01_the_demo_people_are_offered_only_where_the_server_has_them(
    page: Page, site: Site, fake: Fake
) -> None:
    await page.goto(site.base_url)
    await expect(page.locator("#signin-people button")).to_have_count(4)
    fake.dev_tokens = False
    async with page.expect_response("**/healthz"):
        await page.reload()
    await expect(page.locator("#token")).to_be_focused()
    await expect(page.locator("#signin-demo")).to_be_hidden()
    fake.dev_tokens = True
    await page.reload()
    await page.locator("#signin-people button", has_text="Alice").click()
    await expect(page.locator("#shell")).to_be_visible()
