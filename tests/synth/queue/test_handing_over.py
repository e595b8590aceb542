"""A sentence goes from worker to worker through Redis beside a remote store, and storage has the last word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import override_settings

from synth import wiring
from synth.conf import conf
from synth.keys import Kind, redis_key
from synth.models import Entry, Job, Synthesis
from synth.storage._guarded import GuardedStore
from synth.storage.base import ObjectStore
from tests.engines.counting import CountingEngine
from tests.synth.queue.desk import order, render_all, said, speak_one, states, work
from tests.world import World

pytestmark = pytest.mark.django_db


class Watched(GuardedStore):
    """A store that counts as remote, and tells what was read from it."""

    def __init__(self, store: ObjectStore) -> None:
        super().__init__(store)
        self.read: list[str] = []

    def get(self, name: str) -> bytes:
        self.read.append(name)
        return super().get(name)


@pytest.fixture
def store(audio: Path, monkeypatch: pytest.MonkeyPatch) -> Watched:
    watched = Watched(wiring.object_store())
    monkeypatch.setattr(wiring, "object_store", lambda: watched)
    wiring.handover.cache_clear()
    return watched


def handed_over(world: World, spoken: Synthesis) -> str:
    return redis_key(world.owner.ref, Kind.HANDOVER, spoken.digest)


def test_a_fresh_sentence_is_not_read_from_a_remote_store(world, engine, store):
    order(world.owner, "One.")
    spoken = speak_one(engine)
    assert 0 < wiring.redis().ttl(handed_over(world, spoken)) <= 60
    render_all()
    assert states(Job) == ["succeeded"]
    assert not store.read
    assert not wiring.redis().exists(handed_over(world, spoken))


def test_the_sound_is_the_one_that_storage_gives(world, engine, store):
    order(world.owner, "One.")
    speak_one(engine)
    render_all()
    from_redis = Entry.objects.get(kind="rendition", tenant=world.owner.ref.id).digest
    order(world.stranger, "One.")
    spoken = speak_one(engine)
    wiring.redis().delete(redis_key(world.stranger.ref, Kind.HANDOVER, spoken.digest))
    render_all()
    assert Entry.objects.get(kind="rendition", tenant=world.stranger.ref.id).digest == from_redis
    assert len(store.read) == 1


def lost(key: str) -> None:
    wiring.redis().delete(key)


def altered(key: str) -> None:
    data = bytearray(wiring.redis().get(key))
    data[-1] ^= 1
    wiring.redis().set(key, bytes(data))


def another_sound(key: str) -> None:
    wiring.redis().set(key, b"fLaC")


@pytest.mark.parametrize("damage", [lost, altered, another_sound])
def test_what_redis_lost_or_spoilt_is_read_from_storage(world, engine, store, log, damage: Callable[[str], None]):
    order(world.owner, "One.")
    spoken = speak_one(engine)
    damage(handed_over(world, spoken))
    render_all()
    assert states(Job) == ["succeeded"]
    assert len(store.read) == 1
    assert said(log) == ["One."]


def test_with_redis_away_it_is_read_from_storage(world, engine: CountingEngine, store, redis_server):
    order(world.owner, "One.")
    redis_server.kill()
    speak_one(engine)
    render_all()
    assert states(Job) == ["succeeded"]
    assert len(store.read) == 1


def test_a_redis_that_goes_away_between_the_two_workers_does_no_harm(world, engine, store, redis_server):
    order(world.owner, "One.")
    speak_one(engine)
    redis_server.kill()
    render_all()
    assert states(Job) == ["succeeded"]
    assert len(store.read) == 1


def test_another_tenants_sentence_is_never_taken(world, engine, store):
    """Though its bytes, and so its digest, are the same."""
    order(world.owner, "One.")
    mine = speak_one(engine)
    order(world.stranger, "One.")
    theirs = speak_one(engine)
    assert mine.digest == theirs.digest
    wiring.redis().delete(redis_key(world.stranger.ref, Kind.HANDOVER, theirs.digest))
    assert wiring.handover().take(world.stranger.ref, theirs.digest) is None
    assert wiring.handover().take(world.owner.ref, mine.digest)


def test_nothing_is_handed_over_before_the_sentence_is_stored_and_committed(world, engine, store, monkeypatch):
    order(world.owner, "One.")
    offered = []

    def offer(*_: object) -> None:
        offered.append((Synthesis.objects.get().state, Entry.objects.filter(kind="segment").exists()))

    monkeypatch.setattr(wiring.handover(), "offer", offer)
    speak_one(engine)
    assert offered == [("succeeded", True)]


def test_a_local_store_needs_none(world, engine):
    order(world.owner, "One.")
    spoken = speak_one(engine)
    assert not wiring.redis().exists(handed_over(world, spoken))
    render_all()
    assert states(Job) == ["succeeded"]


@pytest.mark.parametrize(("limit", "handed"), [(0, False), (100, False), (2**20, True)])
def test_the_limit_is_in_bytes_and_0_switches_it_off(world, engine, store, settings, limit, handed):
    with override_settings(REFRAIN={**settings.REFRAIN, "HANDOVER_LIMIT": limit}):
        assert conf().handover_limit == limit
        order(world.owner, "One.")
        spoken = speak_one(engine)
        assert bool(wiring.redis().exists(handed_over(world, spoken))) is handed
        work(engine)
    assert states(Job) == ["succeeded"]
    assert len(store.read) == (not handed)
