"""What the cache in Redis answers and keeps: freshness, versions, audio, and writers that come late."""

import time
from dataclasses import replace
from uuid import UUID

import pytest
from redis import Redis

from synth.cache.asking import Lookup, Status
from synth.cache.store import RenditionCache
from synth.keys import USAGE_TENANTS, Kind, redis_key
from synth.types import StoredAudio
from tenants.types import TenantRef
from tests.servers.redis import RedisServer
from tests.synth.cache import asking
from tests.synth.cache.asking import KEY, make_cache

TENANT, OTHER = TenantRef(UUID(int=1)), TenantRef(UUID(int=2))
AUDIO = bytes(range(256))
EXPIRY = 600


@pytest.fixture
def redis(redis_server: RedisServer):
    with redis_server.client() as client:
        yield client


@pytest.fixture
def cache(redis: Redis) -> RenditionCache:
    return make_cache(redis, TENANT, OTHER, expiry=EXPIRY)


def stored(digest: str = "d1", *, age: float = 10.0) -> StoredAudio:
    return StoredAudio(
        id="ent_1",
        digest=digest,
        format="mp3",
        media_type="audio/mpeg",
        size=len(AUDIO),
        duration=1.5,
        sample_rate=24_000,
        made=time.time() - age,
    )


def look(cache: RenditionCache, tenant: TenantRef = TENANT, **options) -> Lookup:
    return asking.look(cache, tenant, **options)


def test_what_was_filled_is_found_as_it_was(cache):
    sound = stored()
    cache.fill(TENANT, KEY, sound, AUDIO)
    found = look(cache)
    assert (found.status, found.stored, found.audio) == (Status.HIT, sound, None)
    assert 10 <= found.age < 60


def test_what_was_never_filled_is_a_miss(cache):
    assert look(cache).status is Status.MISS


def test_another_tenant_finds_nothing_under_the_same_key(cache):
    cache.fill(TENANT, KEY, stored(), AUDIO)
    assert look(cache, OTHER).status is Status.MISS


def test_the_caller_says_how_old_it_may_be(cache):
    cache.fill(TENANT, KEY, stored(age=10), AUDIO)
    assert look(cache, max_age=9).status is Status.EXPIRED
    assert look(cache, max_age=40).status is Status.HIT


def test_a_clock_that_is_ahead_makes_no_negative_age(cache):
    cache.fill(TENANT, KEY, stored(age=-30), AUDIO)
    assert look(cache).age == 0


@pytest.mark.parametrize(("version", "status"), [(4, Status.OUTDATED), (6, Status.RELOAD)])
def test_another_version_is_told_before_any_audio(cache, version: int, status: Status):
    cache.fill(TENANT, KEY, stored(), AUDIO)
    assert look(cache, version=version, want_audio=True) == Lookup(status)


def test_a_version_that_redis_does_not_know_is_asked_for(cache, redis):
    redis.delete(redis_key(TENANT, Kind.VERSION))
    assert look(cache).status is Status.RELOAD


def test_a_version_never_goes_back(cache):
    cache.publish_versions({TENANT.id: 7})
    cache.publish_versions({TENANT.id: 6, OTHER.id: 9})
    assert (cache.version(TENANT), cache.version(OTHER)) == (7, 9)


def test_audio_comes_only_where_it_is_wanted_and_not_held(cache):
    cache.fill(TENANT, KEY, stored("d1"), AUDIO)
    assert look(cache).audio is None
    assert look(cache, want_audio=True).audio == AUDIO
    assert look(cache, want_audio=True, held_digest="d1").audio is None
    assert look(cache, want_audio=True, held_digest="d0").audio == AUDIO


def test_audio_beyond_the_limit_stays_in_storage(cache, redis):
    cache.fill(TENANT, KEY, stored(), bytes(1001))
    found = look(cache, want_audio=True)
    assert (found.status, found.audio) == (Status.HIT, None)
    assert not redis.exists(redis_key(TENANT, Kind.AUDIO, KEY))


def test_a_late_writer_does_not_undo_a_refresh(cache):
    cache.fill(TENANT, KEY, stored("new", age=1), b"new")
    cache.fill(TENANT, KEY, stored("old", age=20), b"old")
    found = look(cache, want_audio=True)
    assert found.stored is not None
    assert (found.stored.digest, found.audio) == ("new", b"new")


def test_a_refresh_takes_the_place_of_the_sound_before(cache):
    cache.fill(TENANT, KEY, stored("old", age=20), b"old")
    cache.fill(TENANT, KEY, stored("new", age=1), b"new")
    assert look(cache, want_audio=True).audio == b"new"


def test_a_refresh_that_is_too_large_leaves_no_bytes_of_the_sound_before(cache):
    cache.fill(TENANT, KEY, stored("old", age=20), b"old")
    cache.fill(TENANT, KEY, stored("new", age=1), bytes(1001))
    found = look(cache, want_audio=True)
    assert found.stored is not None
    assert (found.stored.digest, found.audio) == ("new", None)


def test_restoring_what_is_there_keeps_its_bytes(cache):
    sound = stored()
    cache.fill(TENANT, KEY, sound, AUDIO)
    cache.fill(TENANT, KEY, replace(sound), None)
    assert look(cache, want_audio=True).audio == AUDIO


def test_what_is_forgotten_is_a_miss(cache, redis):
    cache.fill(TENANT, KEY, stored(), AUDIO)
    cache.forget(TENANT, KEY)
    assert look(cache).status is Status.MISS
    assert not redis.exists(redis_key(TENANT, Kind.AUDIO, KEY))


def test_only_versions_accounts_and_events_stay_for_ever(cache, redis):
    cache.fill(TENANT, KEY, stored(), AUDIO)
    look(cache, want_audio=True)
    lasting = {name for name in redis.scan_iter() if redis.ttl(name) == -1}
    kinds = (Kind.VERSION, Kind.ACCOUNT, Kind.USAGE)
    assert lasting == {redis_key(tenant, kind).encode() for tenant in (TENANT, OTHER) for kind in kinds} | {
        USAGE_TENANTS.encode()
    }
    for kind in (Kind.ENTRY, Kind.AUDIO):
        assert 0 < redis.ttl(redis_key(TENANT, kind, KEY)) <= EXPIRY


def test_it_goes_on_when_redis_has_forgotten_its_scripts(cache, redis_server):
    cache.fill(TENANT, KEY, stored(), AUDIO)
    assert look(cache).status is Status.HIT
    with redis_server.client() as client:
        client.script_flush()
    assert look(cache, want_audio=True).audio == AUDIO
    with redis_server.client() as client:
        client.script_flush()
    assert cache.publish_versions({TENANT.id: 8, OTHER.id: 8})
    assert cache.version(OTHER) == 8
