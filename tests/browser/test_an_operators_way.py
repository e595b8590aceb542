"""An operator in a real browser before a whole Refrain: looks, finds, hears, refreshes, changes a rule, issues keys,
exports the audit."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.desk import PASSWORD, log_in
from tests.stack import Stack

pytestmark = [pytest.mark.browser, pytest.mark.any_database]
TEXT = "您好，欢迎光临，请问有什么可以帮您？"
ROOT = f"from django.contrib.auth.models import User; User.objects.create_superuser('root', password={PASSWORD!r})"
SECONDS = 60.0


@pytest.fixture(scope="module")
def stack(make_shared_stack) -> Stack:
    made: Stack = make_shared_stack(env={"COUNTING_VARIES": "1"})
    made.run("shell", "-c", ROOT)
    made.api()
    made.engine_worker()
    made.io_worker()
    made.beat()
    made.wait_for_engines()
    return made


@pytest.fixture
def page(stack: Stack, chromium: Browser) -> Iterator[Page]:
    opened = chromium.new_page(viewport={"width": 1440, "height": 900}, locale="en")
    opened.set_default_timeout(1000 * SECONDS)
    log_in(opened, stack.children[0].url)
    yield opened
    opened.close()


def speak(stack: Stack, text: str = TEXT, token: str | None = None) -> dict[str, Any]:
    with stack.client(token=token) as client:
        answer = client.post("/v1/speech", json={"text": text, "wait": 60})
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def until(page: Page, holds: Callable[[], bool], what: str) -> None:
    """Opens the page anew until it says so."""
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < deadline, what
        page.wait_for_timeout(250)
        page.reload()


def open_entries(page: Page) -> None:
    """By the sidebar."""
    page.locator("a[href$='/synth/entry/']:visible").first.click()
    page.wait_for_url("**/synth/entry/")


def choose_tenant(page: Page, name: str) -> None:
    page.locator(".select2-selection").first.click()
    page.locator(".select2-search__field").fill(name)
    page.locator(".select2-results__option", has_text=name).first.click()


def seconds_of(page: Page, number: int) -> float:
    """What the player says of its sound, once it plays it."""
    player = page.locator("audio").nth(number)
    player.evaluate("player => { player.muted = true; return player.play(); }")
    return float(player.evaluate("player => player.duration"))


def test_look_find_hear_and_refresh(stack: Stack, page: Page) -> None:
    first = speak(stack)
    assert speak(stack)["cache"] == "hit"

    def counted() -> bool:
        card = page.locator(".refrain-card", has_text="Requests").first
        return card.count() > 0 and card.locator("strong").inner_text() == "2"

    until(page, counted, "the dashboard does not count the requests")
    open_entries(page)
    page.locator("#searchbar").fill("欢迎光临")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=**")
    rows = page.locator("#result_list tbody tr", has_text=TEXT)
    rendition = rows.filter(has_text="mp3")
    assert rendition.count() == 1
    assert rendition.locator("audio").count() == 1
    player = rendition.locator("audio")
    player.evaluate("player => { player.muted = true; return player.play(); }")
    assert player.evaluate("player => player.duration") == pytest.approx(first["duration"], abs=0.15)

    rendition.locator("a[href*='/change/']").first.click()
    page.wait_for_url("**/change/**")
    entry = page.url
    assert first["sha256"] in page.content()
    page.get_by_role("link", name="Refresh").first.click()
    page.get_by_role("button", name="Carry it out").click()
    page.wait_for_url("**/curationaction/**")
    page.goto(entry)
    until(page, lambda: page.locator(".refrain-compared").count() == 1, "it was not made anew")
    digests = page.locator(".refrain-compared code").all_inner_texts()
    assert digests[0] == first["sha256"]
    assert digests[1] == speak(stack)["sha256"] != digests[0]
    players = page.locator(".refrain-compared audio").count()
    assert players == 2
    assert all(seconds_of(page, number) > 1 for number in range(page.locator("audio").count()))


def test_a_changed_rule_acts(stack: Stack, page: Page) -> None:
    said = "这句话很快就会过期。"
    speak(stack, said)
    assert speak(stack, said)["cache"] == "hit"
    page.get_by_role("link", name="TTL rules").first.click()
    page.locator("a[href$='/policy/add/']").first.click()
    page.fill("input[name=note]", "Everything for a second")
    page.fill("input[name=max_age]", "1")
    page.locator("button[name=_save], input[name=_save]").first.click()
    page.wait_for_url("**/policy/")
    deadline = time.monotonic() + SECONDS
    while speak(stack, said)["cache"] == "hit":  # its second may not be over yet
        assert time.monotonic() < deadline
        time.sleep(0.3)
    open_entries(page)
    until(
        page,
        lambda: page.locator("#result_list tbody tr", has_text="Everything for a second").count() > 0,
        "no entry names the rule",
    )


def test_a_key_is_shown_once(stack: Stack, page: Page) -> None:
    page.get_by_role("link", name="API keys").first.click()
    page.locator("a[href$='/apikey/add/']").first.click()
    choose_tenant(page, "owner")
    page.fill("input[name=name]", "Of a browser")
    page.locator("button[name=_save], input[name=_save]").first.click()
    token = page.locator("#issued-token").input_value()
    assert speak(stack, "另一个密钥也能说话。", token=token)["sha256"]
    page.get_by_role("link", name="I have copied it").click()
    page.wait_for_url("**/apikey/")
    assert token not in page.content()
    page.get_by_role("link", name="Of a browser").first.click()
    page.wait_for_url("**/change/**")
    assert token not in page.content()


def test_the_audit_is_exported(stack: Stack, page: Page) -> None:
    request_id = speak(stack, "审计会记下这一句。")["request_id"]
    page.locator("a[href$='/auditevent/']:visible").first.click()
    page.wait_for_url("**/auditevent/")
    until(page, lambda: page.get_by_text(request_id).count() > 0, "the audit does not list the request")
    page.goto(f"{page.url}?actor_kind=key")
    with page.expect_download() as download:
        page.get_by_role("link", name="Export as JSON lines").click()
    rows = [json.loads(line) for line in download.value.path().read_text(encoding="utf-8").splitlines()]
    (row,) = [row for row in rows if row["request_id"] == request_id]
    assert (row["action"], row["status"], row["outcome"]) == ("POST /v1/speech", 200, "ok")
    assert {row["actor_kind"] for row in rows} == {"key"}
