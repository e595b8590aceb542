"""The first page and the entries in a real browser: they fit a desk and a telephone in both languages and schemes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Browser

from synth import wiring
from synth.models import Entry, FailureDay, LatencyDay, MissDay, PhraseDay, Policy, Sample, WebhookEndpoint
from tenants.models import UsageDay
from tests.browser.desk import OVERFLOW, PASSWORD, PICTURES, in_both_schemes, log_in, signed_in
from tests.synth.admin.pages import list_of, page_of
from tests.synth.admin.rows import CHINESE, ENGLISH, make_entry, publish_card, stored, tone
from tests.synth.savings.world import measured
from tests.world import make_world

pytestmark = pytest.mark.browser
DRAWN = """() => [...document.querySelectorAll("canvas.chart")].every((canvas) => {
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  return pixels.some((value) => value > 0);
})"""
# The lists behind the charts, too.
ROLLUPS = ("latencyday", "failureday", "phraseday", "sample")


@pytest.fixture
def addresses(live_server, settings, tmp_path):
    options = {**settings.REFRAIN["STORAGE_OPTIONS"]}
    options["files"] = {**options["files"], "root": str(tmp_path / "audio"), "base_url": live_server.url}
    money = {"GPU_PRICE_PER_HOUR": {"": 1.8}, "CURRENCY": "EUR", "ENGINE_WATTS": {"": 400.0}}
    settings.REFRAIN = {**settings.REFRAIN, "STORAGE_OPTIONS": options, **money}
    wiring.forget_parts()
    User.objects.create_superuser("root", password=PASSWORD)
    entry = fill()
    paths = [reverse("admin:index"), list_of("entry"), page_of(entry), *map(list_of, ROLLUPS)]
    yield [live_server.url, *paths, reverse("admin:tenants_usageday_changelist")]
    wiring.forget_parts()


def fill() -> Entry:
    """Thirty days of everything that the page shows, and something to warn of."""
    world = make_world()
    publish_card()
    owner, today = world.owner.tenant, datetime.now(UTC).date()
    Policy.objects.create(tenant=owner, note="Greetings stay for a week, whatever the voice", max_age=7 * 86_400)
    made_at = timezone.now() - timedelta(hours=30)
    entries = [
        make_entry(owner, f"{text} {number}", made_at=made_at) for number in range(3) for text in (CHINESE, "w" * 90)
    ]
    make_entry(world.stranger.tenant, ENGLISH, made_at=made_at, category="menus")
    before = stored(owner.ref, tone(hertz=880))
    until = timezone.now() + timedelta(days=7)
    Entry.objects.filter(id=entries[0].id).update(
        previous_digest=before["digest"], previous_duration=1.0, previous_made_at=made_at, previous_until=until
    )
    for number in range(30):
        day = today - timedelta(days=number)
        for outcome, requests in (("hit", 4200 - 90 * number), ("miss", 3900 + 40 * number)):
            UsageDay.objects.create(
                tenant=owner, day=day, engine="kokoro", voice="zf_one", outcome=outcome, requests=requests,
                characters=20 * requests,
            )  # fmt: skip
        measured(owner, day, runs=90, characters=9000, engine_seconds=900.0 + number, audio_seconds=2e3)
        MissDay.objects.create(
            tenant=owner, day=day, first_seen=700, near_miss=350 + number, expired=180, evicted=70, purged=9,
            refreshed=20, bypassed=4, model_changed=30,
        )  # fmt: skip
        for code, failures in (("engine_error", number), ("engine_timeout", 30 - number)):
            FailureDay.objects.create(tenant=owner, day=day, engine="kokoro", code=code, failures=failures)
        for what, bound in (("hit", 0.002), ("hit", 0.02), ("miss", 0.5), ("miss", 2.5), ("redis", 0.001)):
            LatencyDay.objects.create(day=day, what=what, bound=bound, answers=40 + number)
    for number, entry in enumerate(entries):
        PhraseDay.objects.create(tenant=owner, day=today, key=entry.key, answers=500 - 40 * number)
    for minutes in range(1, 600, 5):
        values = {
            "queues": {"kokoro": {"waiting": minutes % 40}, "hibari": {"waiting": minutes % 11}},
            "redis": {"used": 60_000_000 + 10_000 * (600 - minutes), "round_trip": 0.0007},
            "storage": {"bytes": 5_123_456_789, "entries": 210_345, "discarded": 12},
        }
        Sample.objects.create(at=timezone.now() - timedelta(minutes=minutes), values=values)
    WebhookEndpoint.objects.create(
        tenant=owner, url="https://example.com/", status="disabled", disabled_reason="gone", secrets=[]
    )
    return entries[0]


@pytest.mark.parametrize(("width", "language"), [(1440, "en"), (390, "en"), (1440, "zh-CN"), (390, "zh-CN")])
def test_every_page_fits_and_draws(addresses: list[str], chromium: Browser, width: int, language: str) -> None:
    url, *paths = addresses
    page, complaints = signed_in(chromium, url, width=width, locale=language)
    for number, path in enumerate(paths):
        page.goto(url + path)
        page.wait_for_load_state("networkidle")
        for scheme in in_both_schemes(page):
            page.wait_for_function(DRAWN)
            if PICTURES:
                page.screenshot(
                    path=Path(PICTURES) / f"dashboard-{number}-{width}-{language}-{scheme}.png", full_page=True
                )
            assert page.evaluate(OVERFLOW) <= 0, (path, scheme)
            assert not complaints, (path, scheme, complaints)


def test_a_chart_leads_to_its_rows(addresses: list[str], chromium: Browser) -> None:
    page = chromium.new_page(viewport={"width": 1440, "height": 900})
    log_in(page, addresses[0])
    assert page.locator("canvas.chart").count() == 8
    page.get_by_role("link", name="Misses, by reason").click()
    page.wait_for_url(addresses[0] + list_of("missday"))
    assert page.locator("#result_list tbody tr").count() == 30
