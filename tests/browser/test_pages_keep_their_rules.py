"""Pages beside the lists of the admin in a real browser, which enforces their Content-Security-Policy."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django_otp.oath import TOTP
from playwright.sync_api import Browser, Page

from tests.browser.desk import OVERFLOW, PASSWORD, PICTURES, log_in, signed_in
from tests.world import make_world

pytestmark = pytest.mark.browser
INLINE = """() => { const item = document.createElement('script'); item.textContent = 'window.ran = true';
  document.body.append(item); return window.ran === true; }"""


@pytest.fixture
def url(live_server, settings) -> str:
    settings.REFRAIN_ADMIN_TWO_FACTOR = "optional"
    User.objects.create_superuser("root", password=PASSWORD)
    make_world()
    address: str = live_server.url
    return address


def picture(page: Page, name: str) -> None:
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{name}.png", full_page=True)


@pytest.mark.parametrize("width", [1440, 390])
def test_a_second_factor_is_set_up_and_asked_for(url: str, chromium: Browser, width: int) -> None:
    page, complaints = signed_in(chromium, url, width=width)
    page.goto(url + reverse("second-factor"))
    assert page.locator("img[alt='QR code']").evaluate("image => image.naturalWidth") > 0
    secret = page.locator("#secret")
    picture(page, f"second-factor-{width}")
    assert page.evaluate(OVERFLOW) <= 0
    page.fill("input[name=code]", _code(secret.input_value()))
    page.get_by_role("button", name="Use it from now on").click()
    codes = page.locator("#recovery-codes li").all_inner_texts()
    assert len(codes) == 10
    picture(page, f"recovery-codes-{width}")
    assert not page.evaluate(INLINE)
    assert any("Content Security Policy" in said for said in complaints)
    assert not [said for said in complaints if "inline script" not in said]
    other = chromium.new_page(viewport={"width": width, "height": 900})
    other.goto(url + reverse("admin:login"))
    other.fill("input[name=username]", "root")
    other.fill("input[name=password]", PASSWORD)
    other.fill("input[name=otp_token]", codes[0])
    picture(other, f"login-{width}")
    other.click("button[type=submit]")
    other.wait_for_url(url + reverse("admin:index"))


def test_the_page_of_the_api_shows_its_operations(url: str, chromium: Browser) -> None:
    page = chromium.new_page(viewport={"width": 1440, "height": 900})
    complaints: list[str] = []
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    page.goto(url + reverse("docs"))
    page.get_by_text("/v1/speech", exact=True).first.wait_for()
    picture(page, "docs")
    assert not complaints


def test_rows_that_are_chosen_bring_the_bar_of_actions(url: str, chromium: Browser) -> None:
    page, complaints = signed_in(chromium, url, width=1440)
    page.goto(url + reverse("admin:tenants_tenant_changelist"))
    page.locator("input.action-select").first.check()
    bar = page.locator("#changelist-actions")
    bar.wait_for()
    assert bar.evaluate("bar => bar.getBoundingClientRect().width") > 300
    picture(page, "actions")
    assert not complaints


def test_a_key_is_selected_when_it_is_clicked(url: str, chromium: Browser) -> None:
    page = chromium.new_page(viewport={"width": 1440, "height": 900})
    log_in(page, url)
    page.goto(url + reverse("second-factor"))
    page.locator("#secret").click()
    chosen = page.evaluate("() => { const at = document.activeElement; return at.selectionEnd - at.selectionStart; }")
    assert chosen == len(page.locator("#secret").input_value())


def _code(secret: str) -> str:
    return f"{TOTP(base64.b32decode(secret)).token():06}"
