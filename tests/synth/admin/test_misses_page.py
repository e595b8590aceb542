"""Operators look at misses: by tenant and day, with what near misses differed in, and the last examples."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from synth import service
from synth.models import MissDay, MissExample
from tests.cards import publish
from tests.finished import queue
from tests.synth.admin.pages import list_of, page_of, rows_of, words
from tests.synth.admin.test_queries_are_bounded import MOST, queries
from tests.world import World

pytestmark = pytest.mark.django_db
TEXT = "Your appointment is at 9:05, please be there."


@pytest.fixture
def judged(world: World) -> None:
    publish()
    queue(world.owner, {"text": TEXT})
    queue(world.owner, {"text": TEXT, "seed": 7})
    queue(world.owner, {"text": TEXT.replace("9:05", "10:17")})
    queue(world.stranger, {"text": TEXT})
    service.judge_misses()


def test_a_day_tells_each_reason_and_what_differed(admin_client, world: World, judged: None):
    listed = words(admin_client.get(list_of("missday")).content.decode())
    for name in ("owner", "stranger", "first seen", "near miss"):
        assert name in listed.lower()
    day = MissDay.objects.get(tenant=world.owner.tenant)
    page = admin_client.get(page_of(day)).content.decode()
    assert "seed: 1" in words(page)
    assert "numbers in the text: 1" in words(page)
    assert f"{list_of('missexample')}?tenant__id__exact={world.owner.tenant.id}" in page


def test_examples_show_both_texts_and_the_difference(admin_client, world: World, judged: None):
    page = words(admin_client.get(list_of("missexample")).content.decode())
    assert "seed: 7 / -" in page
    assert "first seen" in page
    assert TEXT.replace("9:05", "10:17") in page
    assert "req_of_a_test" in page
    example = MissExample.objects.get(reason="near_miss", differences__0__parameter="seed")
    assert "seed: 7 / -" in words(admin_client.get(page_of(example)).content.decode())


def test_examples_are_filtered_by_tenant_and_reason(admin_client, world: World, judged: None):
    (strangers,) = rows_of(admin_client, "missexample", tenant__id__exact=str(world.stranger.tenant.id))
    assert strangers.reason == "first_seen"
    assert len(rows_of(admin_client, "missexample", reason="near_miss")) == 2


@pytest.mark.parametrize("model", ["missday", "missexample"])
def test_lists_are_bounded(admin_client, world: World, judged: None, model: str):
    before = queries(admin_client, list_of(model))
    for seed in range(20, 30):
        queue(world.owner, {"text": TEXT, "seed": seed})
    service.judge_misses()
    after = queries(admin_client, list_of(model))
    assert len(before) == len(after) <= MOST
    assert not [sql for sql in after if "COUNT(" in sql]


def test_nobody_without_permission_looks_and_nobody_changes(client, admin_client, judged: None):
    day, example = MissDay.objects.all()[0], MissExample.objects.all()[0]
    client.force_login(User.objects.create_user("staff", password="staff-password", is_staff=True))
    for address in (list_of("missday"), list_of("missexample"), page_of(day), page_of(example)):
        assert client.get(address).status_code == 403
        assert admin_client.get(address).status_code == 200
    for row in (day, example):
        name = f"admin:synth_{row._meta.model_name}"
        assert admin_client.get(reverse(f"{name}_add")).status_code == 403
        assert admin_client.post(page_of(row), {"first_seen": 0}).status_code == 403
        assert admin_client.post(reverse(f"{name}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403


def test_a_job_tells_why_it_was_no_hit(admin_client, judged: None):
    job = MissExample.objects.filter(reason="near_miss")[0].job
    assert "near miss" in words(admin_client.get(page_of(job)).content.decode())
