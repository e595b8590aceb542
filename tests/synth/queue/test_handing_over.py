"""A sentence goes from worker to worker through Redis while a remote store takes it, and storage has the last word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import override_settings

from synth import cards, wiring
from synth.conf import conf
from synth.errors import ObjectMissing, StorageUnavailable
from synth.keys import Kind, redis_key
from synth.models import Entry, Job, Rendering, Synthesis
from synth.service.purging import purge_entries
from synth.service.synthesis import synthesize
from synth.storage._guarded import GuardedStore
from synth.storage.base import ObjectStore
from synth.stored import audio_object
from synth.types import CacheMode
from tests.engines.counting import CountingEngine
from tests.synth.queue.desk import OTHER, claim, order, render_all, said, speak_one, states, work
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
    assert 0 < wiring.redis().ttl(handed_over(world, spoken)) <= 30
    render_all()
    assert states(Job) == ["succeeded"]
    assert not store.read


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


class Meanwhile(Watched):
    """Does something else while it takes the first sentence."""

    def __init__(self, store: ObjectStore, act: Callable[[], object]) -> None:
        super().__init__(store)
        self._act: Callable[[], object] | None = act

    def put(self, name: str, data: bytes, media_type: str) -> None:
        act, self._act = self._act, None
        if act is not None:
            act()
        super().put(name, data, media_type)


@pytest.fixture
def meanwhile(store: Watched, monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], Meanwhile]:
    def install(act: Callable[[], object]) -> Meanwhile:
        busy = Meanwhile(store._store, act)
        monkeypatch.setattr(wiring, "object_store", lambda: busy)
        return busy

    return install


def test_the_rendition_is_made_while_the_sentence_is_being_stored(world, engine, meanwhile):
    seen = []

    def act() -> None:
        render_all()
        seen.extend((states(Job), states(Synthesis), Entry.objects.filter(kind="segment").exists()))

    store = meanwhile(act)
    order(world.owner, "One.")
    spoken = speak_one(engine)
    assert seen == [["succeeded"], ["running"], False], "the sentence itself is published only once it is stored"
    assert (spoken.state, Entry.objects.get(kind="segment").digest) == ("succeeded", spoken.digest)
    assert (render_all(), store.read) == (0, [])


def test_a_rendition_that_overtakes_its_sentence_is_kept_though_the_tenant_purges(world, engine, meanwhile):
    """What is not in the catalogue yet has not been purged from it."""
    purge_entries(world.owner.ref, [], set())
    meanwhile(render_all)
    order(world.owner, "One.")
    speak_one(engine)
    assert states(Job) == ["succeeded"]
    assert Entry.objects.filter(kind="rendition").exists()


def test_a_refreshed_rendition_that_overtakes_its_sentence_takes_the_old_ones_place(
    world, engine, meanwhile, monkeypatch
):
    order(world.owner, "One.")
    work(engine)
    before = Entry.objects.get(kind="rendition").digest
    monkeypatch.setenv("COUNTING_VARIES", "1")
    purge_entries(world.owner.ref, [], set())
    meanwhile(render_all)
    order(world.owner, "One.", cache=CacheMode.REFRESH)
    speak_one(engine)
    assert Entry.objects.get(kind="rendition").digest == Rendering.objects.latest("created_at").digest != before


def test_what_redis_loses_before_it_is_stored_is_waited_for(world, engine, log, meanwhile):
    seen = []

    def act() -> None:
        wiring.redis().flushdb()
        render_all()
        seen.extend((states(Job), states(Rendering)))

    store = meanwhile(act)
    order(world.owner, "One.")
    order(world.owner, "One. Two.")
    work(engine)
    assert seen == [["queued", "queued"], ["waiting", "waiting"]]
    assert states(Job) == ["succeeded", "succeeded"]
    assert said(log) == ["One.", "Two."]
    assert store.read


def test_one_that_is_on_its_way_and_one_that_is_lost_cost_one_run_more(world, engine, log, meanwhile, store):
    """The one that is on its way is not made again with the other."""
    cards.publish(engine.card)
    order(world.owner, "Two.")
    work(engine)
    lost = Entry.objects.get(kind="segment", text="Two.")

    def act() -> None:
        wiring.redis().flushdb()
        store._store.delete(audio_object(world.owner.ref, lost.digest, "flac"))
        render_all()

    order(world.owner, "One. Two.")
    meanwhile(act)
    work(engine)
    assert states(Job) == ["succeeded", "succeeded"]
    assert said(log) == ["Two.", "One.", "Two."]


def test_what_arrives_in_storage_at_this_moment_is_not_made_again(world, engine, log, store, monkeypatch):
    order(world.owner, "One.")
    spoken = speak_one(engine)
    wiring.redis().delete(handed_over(world, spoken))
    misses = iter([True])
    get = Watched.get

    def late(self: Watched, name: str) -> bytes:
        if next(misses, False):
            raise ObjectMissing
        return get(self, name)

    monkeypatch.setattr(Watched, "get", late)
    work(engine)
    assert (states(Job), said(log)) == (["succeeded"], ["One."])


def test_a_store_that_fails_after_the_handing_over_costs_no_answer(world, engine, log, meanwhile, lapse):
    def act() -> None:
        render_all()
        raise StorageUnavailable("cut")

    meanwhile(act)
    order(world.owner, "One.")
    spoken = speak_one(engine)
    assert (states(Job), spoken.state) == (["succeeded"], "queued")
    Synthesis.objects.update(not_before=None)
    work(engine)
    assert states(Synthesis) == ["succeeded"]
    assert Entry.objects.filter(kind="segment").exists()
    assert said(log) == ["One.", "One."], "that it is stored at last takes another run"


def test_a_worker_that_lost_its_claim_hands_nothing_over(world, engine, store, lapse):
    order(world.owner, "One.")
    claimed = claim()
    lapse(claimed)
    other = claim(OTHER)
    synthesize(claimed, engine)
    assert (states(Rendering), states(Job)) == (["waiting"], ["queued"])
    synthesize(other, engine)
    render_all()
    assert states(Job) == ["succeeded"]


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
