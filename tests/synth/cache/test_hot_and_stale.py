"""What is asked for often lives longer, and no longer once it is not; what is old may be served while it is renewed."""

import time
from uuid import UUID

import pytest
from redis import Redis

from synth.cache.asking import Lookup, Status
from synth.cache.store import RenditionCache
from synth.cache.usage_stream import UsageStreams
from synth.keys import Kind, redis_key
from synth.types import StoredAudio
from tenants.types import TenantRef
from tests.servers.redis import RedisServer
from tests.synth.cache import asking
from tests.synth.cache.asking import KEY, make_cache

TENANT = TenantRef(UUID(int=1))
WINDOW = 10**7  # seconds: a test does not outlast it
RULE = {"max_age": 60.0, "hot_hits": 3, "hot_window": float(WINDOW), "hot_factor": 10.0, "hot_ceiling": 300.0}


@pytest.fixture
def redis(redis_server: RedisServer):
    with redis_server.client() as client:
        yield client


@pytest.fixture
def cache(redis: Redis) -> RenditionCache:
    made = make_cache(redis, TENANT)
    made.fill(TENANT, KEY, asking.sound(), b"mp3")
    return made


def look(cache: RenditionCache, **options) -> Lookup:
    return asking.look(cache, TENANT, **{**RULE, **options})


def age(redis: Redis, seconds: float) -> None:
    redis.hset(redis_key(TENANT, Kind.ENTRY, KEY), "made", time.time() - seconds)


def heard(redis: Redis, *, spans_ago: int, now: int, before: int = 0) -> None:
    """As if the hits that are counted had been that many windows ago."""
    span = int(time.time() // WINDOW) - spans_ago
    redis.hset(redis_key(TENANT, Kind.ENTRY, KEY), mapping={"window": span, "now": now, "before": before})


def test_enough_hits_in_the_window_make_it_live_longer(cache, redis):
    assert [look(cache).status for _ in range(2)] == [Status.HIT] * 2
    age(redis, 200)
    assert look(cache).status is Status.EXPIRED
    age(redis, 20)
    assert look(cache).status is Status.HIT  # the third
    age(redis, 200)
    assert look(cache).status is Status.HIT


def test_no_longer_than_the_ceiling(cache, redis):
    heard(redis, spans_ago=0, now=1000)
    age(redis, 301)
    assert look(cache).status is Status.EXPIRED


def test_hits_of_the_last_window_count_as_far_as_they_reach_in(cache, redis):
    age(redis, 200)
    heard(redis, spans_ago=1, now=10**9)
    assert look(cache).status is Status.HIT
    heard(redis, spans_ago=1, now=2)
    assert look(cache).status is Status.EXPIRED


def test_when_it_is_asked_for_no_more_it_lives_no_longer(cache, redis):
    age(redis, 200)
    heard(redis, spans_ago=2, now=10**9, before=10**9)
    assert look(cache).status is Status.EXPIRED


def test_without_a_hot_rule_hits_change_nothing(cache, redis):
    heard(redis, spans_ago=0, now=10**9)
    age(redis, 200)
    assert look(cache, hot_hits=0).status is Status.EXPIRED


def test_hits_are_counted_through_a_refresh(cache, redis):
    for _ in range(3):
        look(cache)
    stored = look(cache).stored
    cache.fill(TENANT, KEY, stored, b"mp3")
    assert int(redis.hget(redis_key(TENANT, Kind.ENTRY, KEY), "hits")) == 4


@pytest.mark.parametrize(
    ("old", "status"), [(59, Status.HIT), (61, Status.STALE_HIT), (89, Status.STALE_HIT), (91, Status.EXPIRED)]
)
def test_beyond_its_time_the_old_sound_is_served_for_a_while(cache, redis, old: float, status: Status):
    age(redis, old)
    found = look(cache, hot_hits=0, stale=30.0, want_audio=True)
    assert found.status is status
    assert (found.audio == b"mp3") is (status is not Status.EXPIRED)


def test_while_it_is_hot_the_further_time_begins_after_the_longer_one(cache, redis):
    heard(redis, spans_ago=0, now=5)
    age(redis, 310)
    assert look(cache, stale=30.0).status is Status.STALE_HIT
    age(redis, 331)
    assert look(cache, stale=30.0).status is Status.EXPIRED


OLDER, OLDEST = "o" * 64, "p" * 64


def kept(cache: RenditionCache, key: str, *, seconds_old: float = 0.0) -> None:
    made = time.time() - seconds_old
    sound = StoredAudio(
        id=f"ent_{key[0]}", digest=key, format="mp3", media_type="audio/mpeg", size=3, duration=1.5, sample_rate=24_000,
        made=made,
    )  # fmt: skip
    cache.fill(TENANT, key, sound, key[:1].encode())


def served(found: Lookup) -> tuple[str, int, bytes | None]:
    return found.status, found.place, found.audio


def test_what_an_earlier_model_spoke_is_served_as_old_where_there_is_nothing_newer(redis):
    cache = make_cache(redis, TENANT)
    keys = (KEY, OLDER, OLDEST)
    assert look(cache, keys=keys).status is Status.MISS
    kept(cache, OLDEST)
    assert served(look(cache, keys=keys, want_audio=True)) == (Status.STALE_HIT, 2, b"p")
    kept(cache, OLDER)
    assert served(look(cache, keys=keys, want_audio=True)) == (Status.STALE_HIT, 1, b"o")
    assert served(look(cache, keys=keys, want_audio=True, held_digest=OLDER)) == (Status.STALE_HIT, 1, None)
    kept(cache, KEY)
    assert served(look(cache, keys=keys, want_audio=True)) == (Status.HIT, 0, b"k")
    assert cache.hits(TENANT, keys) == [1, 2, 1]
    assert look(cache).status is Status.HIT


def test_an_earlier_models_sound_lives_no_longer_than_any(redis):
    cache = make_cache(redis, TENANT)
    kept(cache, OLDER, seconds_old=61)
    assert look(cache, keys=(KEY, OLDER), hot_hits=0).status is Status.MISS
    assert look(cache, keys=(KEY, OLDER), hot_hits=0, stale=30.0).status is Status.STALE_HIT
    kept(cache, KEY, seconds_old=70)
    assert look(cache, keys=(KEY, OLDER), hot_hits=0).status is Status.EXPIRED


def test_each_hit_leaves_an_event_and_nothing_else_does(cache, redis):
    look(cache, request_id="req_a")
    age(redis, 70)
    look(cache, request_id="req_b", stale=30.0)
    look(cache, request_id="req_c")
    redis.delete(redis_key(TENANT, Kind.ENTRY, KEY))
    look(cache, request_id="req_d")
    streams = UsageStreams(lambda: redis)
    assert streams.waiting() == [TENANT]
    events = streams.read(TENANT)
    assert [(event.request.request_id, event.outcome) for event in events] == [
        ("req_a", "hit"),
        ("req_b", "stale_hit"),
    ]
    assert {event.duration for event in events} == {1.5}
    assert {(event.request.engine, event.request.characters) for event in events} == {("counting", 12)}
    assert abs(events[0].at - time.time()) < 60
