"""Jobs, renderings, syntheses and engine cards, as an operator looks at them."""

import html
from datetime import timedelta

import pytest
from django.utils import timezone

from synth import cards
from synth.models import EngineCardRow, EngineWorker
from synth.models.states import State
from tests.synth.admin.pages import LISTS, list_of, page_of, players, rows_of, words
from tests.synth.admin.rows import CHINESE, ENGLISH, make_work, publish_card
from tests.world import World

pytestmark = pytest.mark.django_db


def test_a_finished_job_can_be_read_heard_and_followed(admin_client, client, world: World):
    work = make_work(world.owner.tenant, CHINESE)
    page = admin_client.get(page_of(work.job)).content.decode()
    assert CHINESE in words(page)
    [url] = players(page)
    assert client.get(url)["Content-Type"] == "audio/mpeg"
    assert page_of(work.rendering) in page
    assert page_of(work.syntheses[0]) in page
    assert "was stored already" in page


def test_what_a_tenant_attached_can_be_read(admin_client, world: World):
    job = make_work(world.owner.tenant, CHINESE, metadata={"标题": "<b>第一章</b>"}).job
    page = admin_client.get(page_of(job)).content.decode()
    assert '"标题": "<b>第一章</b>"' in html.unescape(page)
    assert "<b>第一章" not in page


def test_a_job_that_is_not_done_has_no_player(admin_client, world: World):
    page = admin_client.get(page_of(make_work(world.owner.tenant, CHINESE, state=State.QUEUED).job)).content.decode()
    assert not players(page)


def test_a_job_is_found_by_its_id_and_by_the_request_id(admin_client, world: World):
    one = make_work(world.owner.tenant, CHINESE, request_id="req-one").job
    other = make_work(world.stranger.tenant, ENGLISH, request_id="req-two").job
    assert rows_of(admin_client, "job", q=one.public_id) == [one]
    assert rows_of(admin_client, "job", q=f" {other.public_id} ") == [other]
    assert rows_of(admin_client, "job", q="req-two") == [other]
    assert rows_of(admin_client, "job", q="req") == []


def test_jobs_are_filtered_and_the_newest_comes_first(admin_client, world: World):
    publish_card()
    done = make_work(world.owner.tenant, CHINESE).job
    failed = make_work(world.stranger.tenant, ENGLISH, state=State.FAILED).job
    assert rows_of(admin_client, "job") == [failed, done]
    assert rows_of(admin_client, "job", state__exact="failed") == [failed]
    assert rows_of(admin_client, "job", tenant__id__exact=str(world.owner.tenant.id)) == [done]
    assert rows_of(admin_client, "job", engine="kokoro", voice="zf_one") == [failed, done]
    assert rows_of(admin_client, "job", voice="zf_two") == []
    listed = words(admin_client.get(list_of("job")).content.decode())
    assert "engine_error" in listed
    assert "5.00 s" in listed


def test_a_rendering_shows_its_sentences_jobs_and_sound(admin_client, world: World):
    work = make_work(world.owner.tenant, CHINESE)
    page = admin_client.get(page_of(work.rendering)).content.decode()
    assert work.job.public_id in page
    assert page_of(work.syntheses[0]) in page
    assert len(players(page)) == 1


def test_a_synthesis_shows_its_run(admin_client, world: World):
    work = make_work(world.owner.tenant, CHINESE)
    for address in (list_of("synthesis"), page_of(work.syntheses[0])):
        page = words(admin_client.get(address).content.decode())
        assert "engine-1@host" in page
        assert "0.42 s" in page


def test_engines_show_whether_they_are_there(admin_client, world: World):
    publish_card("kokoro")
    publish_card("sleeper")
    long_ago = timezone.now() - timedelta(hours=1)
    EngineCardRow.objects.filter(name="sleeper").update(seen_at=long_ago)
    cards.publish_problem("gpt", "the weights are missing")
    listed = {row.name: words(admin_client.get(page_of(row)).content.decode()) for row in EngineCardRow.objects.all()}
    assert "available" in listed["kokoro"]
    assert "zf_two" in listed["kokoro"]
    assert "Hani, Latn" in listed["kokoro"]
    assert "away" in listed["sleeper"]
    assert "the weights are missing" in listed["gpt"]
    page = words(admin_client.get(list_of("enginecardrow")).content.decode())
    assert all(word in page for word in ("available", "away", "broken", "the weights are missing", "zh, en, ja"))


@pytest.mark.parametrize("model", LISTS)
def test_an_empty_list_is_a_page(admin_client, model):
    assert rows_of(admin_client, model) == []


def test_an_old_link_to_a_page_beyond_the_last_is_a_page(admin_client, world: World):
    make_work(world.owner.tenant, CHINESE)
    assert rows_of(admin_client, "job", p="7") == []


def test_the_page_of_an_engine_tells_how_its_workers_are(admin_client):
    publish_card()
    row = EngineCardRow.objects.get()
    told = {"engine": row.name, "model_version": row.model_version, "seen_at": timezone.now()}
    EngineWorker.objects.create(
        name="gpu-host:17", device="cuda:0", memory=3 * 2**30, device_memory=5 * 2**30, real_time_factor=0.3333, **told
    )
    EngineWorker.objects.create(name="idle-host:4", loaded=False, **told)
    page = words(admin_client.get(page_of(row)).content.decode())
    for part in ("gpu-host:17", "cuda:0", "3.0 GB", "5.0 GB", "0.333", "idle-host:4", "dropped, had no work"):
        assert part in page
