"""The admin in a real browser: every page fits a desk and a telephone, has no script errors, and plays audio."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Browser, Page

from synth import cards, wiring
from synth.keys import rendition_key
from synth.models import EngineCardRow, Entry, Policy
from synth.models.states import State
from synth.snapshot import load
from synth.spec import read_request
from tests.browser.desk import OVERFLOW, PASSWORD, PICTURES, in_both_schemes, log_in, signed_in
from tests.synth.admin.pages import LISTS, list_of, page_of
from tests.synth.admin.rows import CHINESE, ENGLISH, make_entry, make_work, publish_card
from tests.world import make_world

pytestmark = pytest.mark.browser
WHICH = "admin:synth_policy_which_rule"
CLIPPED_PLAYERS = """() => [...document.querySelectorAll('audio')].filter((player) => {
  const box = player.getBoundingClientRect();
  return box.width < 150 || box.height < 30 || box.left < 0;
}).length"""


@dataclass(frozen=True)
class Site:
    """The admin with rows in it."""

    url: str
    addresses: list[str]
    entry: str
    waiting_job: str


@pytest.fixture
def site(live_server, settings, tmp_path) -> Iterator[Site]:
    options = {**settings.REFRAIN["STORAGE_OPTIONS"]}
    options["files"] = {**options["files"], "root": str(tmp_path / "audio"), "base_url": live_server.url}
    settings.REFRAIN = {**settings.REFRAIN, "STORAGE_OPTIONS": options}
    wiring.forget_parts()
    User.objects.create_superuser("root", password=PASSWORD)
    world = make_world()
    publish_card()
    cards.publish_problem("gpt", "the weights are missing: put them into the folder that the operators' guide names")
    done = make_work(world.owner.tenant, CHINESE)
    make_work(world.stranger.tenant, ENGLISH, state=State.FAILED)
    waiting = make_work(world.owner.tenant, ENGLISH, state=State.QUEUED)
    entries = [make_entry(world.owner.tenant, CHINESE), make_entry(world.owner.tenant, ENGLISH, format="opus")]
    make_entry(world.stranger.tenant, "w" * 200, format="wav")
    make_entry(world.stranger.tenant, "长" * 500, format="pcm")
    segment = Entry.objects.filter(kind=Entry.Kind.SEGMENT).first()
    card = EngineCardRow.objects.get(name="kokoro")
    rules = [
        Policy.objects.create(note="w" * 200, tenant=world.owner.tenant, priority=1, category="a" * 64, max_age=60),
        Policy.objects.create(
            note="Menus are asked for all day", voice="zf_one", min_characters=2, max_age=86_400, stale=3600,
            hot_hits=5, hot_window=3600, hot_factor=7.0, hot_ceiling=604_800,
        ),
        Policy.objects.create(never_cache=True, priority=200),
    ]  # fmt: skip
    asked = read_request({"text": CHINESE}, load(world.owner.tenant.id), house=wiring.house())
    Entry.objects.filter(id=entries[0].id).update(key=rendition_key(asked.spec))
    question = urlencode({"tenant": world.owner.tenant.id, "text": CHINESE})
    rows = [*entries, segment, done.job, waiting.job, done.rendering, done.syntheses[0], card]
    addresses = [reverse("admin:index"), *map(list_of, LISTS), *map(page_of, rows)]
    addresses += [list_of("policy"), reverse("admin:synth_policy_add"), page_of(rules[1])]
    addresses += [reverse(WHICH), f"{reverse(WHICH)}?{question}"]
    yield Site(live_server.url, addresses, page_of(segment), page_of(waiting.job))
    wiring.forget_parts()


def picture(page: Page, address: str, name: str) -> None:
    if PICTURES:
        path, asked, _ = address.partition("?")
        file = f"{path.strip('/').replace('/', '-')}{'-asked' if asked else ''}-{name}.png"
        page.screenshot(path=Path(PICTURES) / file, full_page=True)


@pytest.mark.parametrize("width", [1280, 390])
def test_every_page_fits_and_is_free_of_errors(site: Site, chromium: Browser, width: int) -> None:
    page, complaints = signed_in(chromium, site.url, width=width)
    for address in site.addresses:
        page.goto(site.url + address)
        page.wait_for_load_state("networkidle")
        for scheme in in_both_schemes(page):
            picture(page, address, f"{width}-{scheme}")
            assert page.evaluate(OVERFLOW) <= 0, (address, scheme)
            assert page.evaluate(CLIPPED_PLAYERS) == 0, (address, scheme)
            assert not complaints, (address, scheme, complaints)


@pytest.mark.parametrize("address", ["list", "page"])
def test_audio_loads_when_it_is_asked_for_and_plays(site: Site, chromium: Browser, address: str) -> None:
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    log_in(page, site.url)
    loaded: list[str] = []
    page.on("request", lambda request: loaded.append(request.url) if "/files/" in request.url else None)
    page.goto(site.url + (list_of("entry") if address == "list" else site.entry))
    page.wait_for_load_state("networkidle")
    assert not loaded
    players = page.locator("audio")
    assert players.count() == (6 if address == "list" else 1)
    for number in range(players.count()):
        player = players.nth(number)
        player.evaluate("player => { player.muted = true; return player.play(); }")
        assert player.evaluate("player => player.readyState") > 0
        assert player.evaluate("player => player.duration") == pytest.approx(1.0, abs=0.15)
    assert len(loaded) >= 1


def test_a_job_is_canceled_after_a_question(site: Site, chromium: Browser) -> None:
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    log_in(page, site.url)
    page.goto(site.url + site.waiting_job)
    page.locator("a[hx-get$='/cancel_this/']:visible").click()
    question = page.locator("#dialog")
    question.wait_for()
    picture(page, site.waiting_job, "question")
    question.get_by_role("button", name="Cancel the job").click()
    page.get_by_text("Canceled: 1").wait_for()
    assert page.locator("a[hx-get$='/cancel_this/']:visible").count() == 0
