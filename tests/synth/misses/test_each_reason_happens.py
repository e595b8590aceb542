"""Each reason of a miss made to happen by real requests, judged while the work is open and when it is done."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from synth import service, wiring
from synth.keys import object_name
from synth.models import Entry, Job, MissExample, MissParameter, Policy, Rendering
from synth.models.states import Priority
from synth.service import Actor, Selection, expiring, missing
from tests.cards import COUNTING, publish
from tests.synth.cache.conftest import Speaker
from tests.synth.misses.conftest import TEXT, counted, judged
from tests.synth.queue.desk import order
from tests.world import World

WHEN = pytest.mark.parametrize("when", ["open", "done"])


def missed(ask, **body) -> None:
    assert ask(text=TEXT, **body).status_code == 202


def stored(ask, done, **body) -> Entry:
    """A rendition that was asked for, made, and judged."""
    missed(ask, **body)
    done()
    service.judge_misses()
    return Entry.objects.filter(kind=Entry.Kind.RENDITION).latest("created_at")


def reasons(world: World, done, when: str) -> Counter[str]:
    if when == "done":
        done()
    return judged(world.owner)


def parameters(world: World) -> dict[str, int]:
    return dict(MissParameter.objects.filter(tenant=world.owner.tenant).values_list("parameter", "misses"))


@WHEN
def test_first_seen_and_all_who_wait_for_the_same(ask, done, world: World, when: str):
    missed(ask)
    missed(ask)
    assert reasons(world, done, when) == {"first_seen": 2}


def test_a_miss_is_counted_once_however_often_one_looks(ask, done, world: World):
    missed(ask)
    for _ in range(2):
        assert judged(world.owner) == {"first_seen": 1}
    done()
    assert judged(world.owner) == {"first_seen": 1}
    assert ask(text=TEXT).json()["cache"] == "hit"
    assert judged(world.owner) == {"first_seen": 1}


@WHEN
def test_expired(ask, done, world: World, when: str):
    entry = stored(ask, done)
    Entry.objects.filter(id=entry.id).update(made_at=timezone.now() - timedelta(days=2))
    wiring.rendition_cache().forget(world.owner.ref, entry.key)
    missed(ask)
    assert reasons(world, done, when) == {"first_seen": 1, "expired": 1}


@WHEN
def test_expired_so_long_ago_that_the_catalogue_has_forgotten_it(ask, done, world: World, when: str):
    entry = stored(ask, done)
    stored(ask, done, seed=5)
    Entry.objects.filter(id=entry.id).update(made_at=timezone.now() - timedelta(days=400))
    assert expiring.expire_entries() == 1
    wiring.rendition_cache().forget(world.owner.ref, entry.key)
    missed(ask)
    assert reasons(world, done, when) == {"first_seen": 1, "near_miss": 1, "expired": 1}


@WHEN
def test_purged(ask, done, world: World, when: str):
    entry = stored(ask, done)
    service.curate("purge", Selection(ids=(entry.id,)), tenant=world.owner.ref, actor=Actor(), expected=None)
    missed(ask)
    assert reasons(world, done, when) == {"first_seen": 1, "purged": 1}


@WHEN
def test_evicted_where_the_object_is_lost(ask, done, world: World, when: str):
    entry = stored(ask, done)
    wiring.object_store().delete(object_name(world.owner.ref, entry.digest, "mp3"))
    wiring.rendition_cache().forget(world.owner.ref, entry.key)
    missed(ask, delivery="inline")
    assert reasons(world, done, when) == {"first_seen": 1, "evicted": 1}


def test_what_redis_alone_has_lost_is_no_miss(ask, done, world: World, redis_server):
    stored(ask, done)
    redis_server.flush()
    assert ask(text=TEXT).json()["cache"] == "restored"
    assert judged(world.owner) == {"first_seen": 1}


@WHEN
def test_refreshed_and_bypassed(ask, done, world: World, when: str):
    stored(ask, done)
    missed(ask, cache="refresh")
    missed(ask, cache="bypass")
    assert reasons(world, done, when) == {"first_seen": 1, "refreshed": 1, "bypassed": 1}


def test_what_a_rule_says_is_never_cached_is_bypassed(ask, world: World):
    service.save_policy(Policy(tenant=world.owner.tenant, never_cache=True))
    missed(ask)
    assert judged(world.owner) == {"bypassed": 1}


@WHEN
def test_degraded_while_redis_is_away(ask, done, world: World, redis_server, when: str):
    stored(ask, done)
    redis_server.stop()
    missed(ask, seed=1)
    assert ask(text=TEXT).json()["cache"] == "restored"
    redis_server.start()
    assert reasons(world, done, when) == {"first_seen": 1, "degraded": 1}


# --- Near misses ------------------------------------------------------------------------------------------------------


@WHEN
def test_a_random_seed_is_found(ask, done, world: World, when: str):
    for seed in (11, 22, 33):
        missed(ask, seed=seed)
    assert reasons(world, done, when) == {"first_seen": 1, "near_miss": 2}
    assert parameters(world) == {"seed": 2}
    example = MissExample.objects.filter(reason="near_miss").latest("created_at")
    assert example.differences == [{"parameter": "seed", "value": 33, "other": 22}]
    assert Rendering.objects.get(id=example.nearest_id).spec["manner"]["seed"] == 22


def test_a_time_in_the_text_is_found(ask, world: World):
    for hour in (9, 10, 11):
        assert ask(text=f"It is {hour}:0{hour % 10} now, welcome to our shop.").status_code == 202
    assert judged(world.owner) == {"first_seen": 1, "near_miss": 2}
    assert parameters(world) == {"text": 2}


def test_voice_and_format_are_named_alone(ask, world: World):
    missed(ask)
    missed(ask, voice="counting_b")
    missed(ask, format="wav")
    assert judged(world.owner) == {"first_seen": 1, "near_miss": 2}
    assert parameters(world) == {"voice": 1, "format": 1}


def test_another_tenants_requests_are_near_to_nobody(ask, world: World):
    missed(ask)
    assert Speaker(world.stranger.headers)(text=TEXT, seed=5).status_code == 202
    service.judge_misses()
    assert counted(world.owner) == counted(world.stranger) == {"first_seen": 1}


@WHEN
def test_a_new_model_is_told_from_a_near_miss(ask, done, world: World, when: str):
    stored(ask, done)
    service.save_policy(Policy(model_change="make_new"))
    publish([replace(COUNTING, model_version="counting-2")])
    missed(ask)
    missed(ask, seed=5)
    assert reasons(world, done, when) == {"first_seen": 1, "model_changed": 1, "near_miss": 1}
    assert parameters(world) == {"seed": 1}


def test_an_older_model_is_found_where_no_text_may_be_kept(ask, done, world: World):
    stored(ask, done)
    service.save_policy(Policy(model_change="make_new"))
    publish([replace(COUNTING, model_version="counting-2")])
    missed(ask)
    Rendering.objects.update(likeness="")
    assert judged(world.owner) == {"first_seen": 1, "model_changed": 1}


# --- What is no miss of anybody, and what nobody understands ----------------------------------------------------------


def test_work_in_the_background_is_nobodys_miss(world: World):
    job = order(world.owner, TEXT, priority=Priority.REWARM)
    assert judged(world.owner) == {}
    job.refresh_from_db()
    assert job.miss_reason == missing.NO_MISS


def test_a_row_that_cannot_be_read_holds_no_other_up(ask, world: World):
    missed(ask)
    missed(ask, seed=1)
    broken = Job.objects.order_by("created_at").first().rendering_id
    Rendering.objects.filter(id=broken).update(spec={"manner": "of another world"})
    assert judged(world.owner)["unknown"] == 1
    assert not Job.objects.filter(miss_reason="").exists()
