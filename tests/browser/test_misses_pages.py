"""The pages of misses in a real browser: each fits a desk and a telephone, and has no script errors."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser

from synth import service
from synth.models import MissDay, MissExample
from tests.browser.desk import OVERFLOW, PASSWORD, PICTURES, in_both_schemes, signed_in
from tests.cards import publish
from tests.finished import queue
from tests.synth.admin.pages import list_of, page_of
from tests.world import make_world

pytestmark = pytest.mark.browser
TEXT = "Your appointment is at 9:05, please be there in time and bring your papers along with you."
CHINESE = "会议将于9:05开始，请各位准时参加，谢谢。"


@pytest.fixture
def addresses(live_server) -> list[str]:
    User.objects.create_superuser("root", password=PASSWORD)
    world = make_world()
    publish()
    for text in (TEXT, CHINESE, "w" * 200):
        for body in ({}, {"seed": 7}, {"voice": "counting_b", "speed": 1.25}, {"format": "wav"}):
            queue(world.owner, {"text": text, **body})
    queue(world.owner, {"text": TEXT.replace("9:05", "10:17")})
    queue(world.stranger, {"text": TEXT, "cache": "bypass"})
    service.judge_misses()
    example = MissExample.objects.filter(reason="near_miss").latest("created_at")
    rows = [MissDay.objects.get(tenant=world.owner.tenant), example]
    paths = [list_of("missday"), list_of("missexample"), *map(page_of, rows)]
    return [live_server.url, *paths]


@pytest.mark.parametrize("width", [1280, 390])
def test_every_page_fits(addresses: list[str], chromium: Browser, width: int) -> None:
    url, *paths = addresses
    page, complaints = signed_in(chromium, url, width=width)
    for number, path in enumerate(paths):
        page.goto(url + path)
        page.wait_for_load_state("networkidle")
        for scheme in in_both_schemes(page):
            if PICTURES:
                page.screenshot(path=Path(PICTURES) / f"misses-{number}-{width}-{scheme}.png", full_page=True)
            assert page.evaluate(OVERFLOW) <= 0, (path, scheme)
            assert not complaints, (path, scheme, complaints)
