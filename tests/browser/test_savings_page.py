"""The savings' page in a real browser: it fits a desk and a telephone, draws its chart, and asks for days by a form."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser

from tests.browser.desk import OVERFLOW, PASSWORD, PICTURES, in_both_schemes, signed_in
from tests.synth.admin.pages import list_of
from tests.synth.savings.world import measured, moment, request
from tests.world import make_world

pytestmark = pytest.mark.browser
DRAWN = """() => {
  const canvas = document.querySelector("canvas.chart");
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  return pixels.some((value) => value > 0);
}"""


@pytest.fixture
def address(live_server, settings) -> str:
    settings.REFRAIN = {
        **settings.REFRAIN,
        "GPU_PRICE_PER_HOUR": {"": 1.8},
        "CURRENCY": "EUR",
        "ENGINE_WATTS": {"": 400.0},
    }
    User.objects.create_superuser("root", password=PASSWORD)
    world = make_world()
    today = datetime.now(UTC).date()
    for number in range(0, 30, 2):
        day = today - timedelta(days=number)
        for engine in ("kokoro", "hibari"):
            spent = 900.0 + 100 * number
            measured(world.owner.tenant, day, engine, runs=90, characters=9000, engine_seconds=spent, audio_seconds=2e3)
            request(world.owner.tenant, moment(day), 70_000 - 2000 * number, engine=engine)
            request(world.stranger.tenant, moment(day), 15_000, engine=engine)
    url: str = live_server.url
    return url


@pytest.mark.parametrize("width", [1280, 390])
def test_it_fits_and_draws(address: str, chromium: Browser, width: int) -> None:
    page, complaints = signed_in(chromium, address, width=width)
    page.goto(address + list_of("engineday"))
    page.wait_for_load_state("networkidle")
    for scheme in in_both_schemes(page):
        page.wait_for_function(DRAWN)
        page.wait_for_timeout(0 if not PICTURES else 1200)  # the bars grow
        if PICTURES:
            page.screenshot(path=Path(PICTURES) / f"savings-{width}-{scheme}.png", full_page=True)
        assert page.evaluate(OVERFLOW) <= 0, scheme
        assert not complaints, scheme
    page.select_option("select[name=tenant]", label="Stranger")
    page.get_by_role("button", name="Show").click()
    page.wait_for_load_state("networkidle")
    assert page.locator("select[name=tenant] option:checked").inner_text() == "Stranger"
    assert not complaints
