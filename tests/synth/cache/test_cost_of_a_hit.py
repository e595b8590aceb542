"""A hit costs exactly one round trip to Redis and no SQL, whatever the delivery, in a process that is warm."""

from base64 import b64decode
from dataclasses import replace

import pytest

from synth import service, wiring
from synth.keys import object_name
from synth.models import Policy
from synth.stored import of_entry
from tenants import service as tenant_service
from tests import cards
from tests.finished import Finished
from tests.synth.cache.counting import RoundTrips, round_trips
from tests.synth.cache.test_rules_act_at_once import renewals_done
from tests.world import World

pytestmark = pytest.mark.any_database


@pytest.fixture
def warm(ask, finished: Finished) -> Finished:
    """The first request restores it; its bytes are put beside it, as the io worker does."""
    assert ask().json()["cache"] == "restored"
    entry = finished.entry
    wiring.rendition_cache().fill(entry.tenant.ref, entry.key, of_entry(entry), finished.data)
    return finished


def test_with_a_url(ask, warm, sent: RoundTrips, django_assert_num_queries):
    with django_assert_num_queries(0), round_trips(sent, 1):
        answer = ask()
    assert (answer.status_code, answer.json()["cache"], answer.json()["from_cache"]) == (200, "hit", True)
    assert b"EVALSHA" in sent[-1]


@pytest.mark.parametrize("delivery", ["inline", "binary"])
def test_with_the_bytes_out_of_redis_and_then_out_of_memory(
    ask, warm, sent: RoundTrips, django_assert_num_queries, delivery: str
):
    wiring.object_store().delete(object_name(warm.entry.tenant.ref, warm.digest, "mp3"))  # storage is not asked
    for _ in range(2):
        with django_assert_num_queries(0), round_trips(sent, 1):
            answer = ask(delivery=delivery)
        assert answer.status_code == 200
        data = answer.content if delivery == "binary" else b64decode(answer.json()["audio"])
        assert data == warm.data
    assert (answer["X-Cache"] if delivery == "binary" else answer.json()["cache"]) == "hit"


def test_with_limits_a_hot_rule_and_old_sounds_served(
    ask, warm, world: World, sent: RoundTrips, django_assert_num_queries
):
    tenant_service.limit_tenant(world.owner.tenant, rate=100, burst=50)
    tenant_service.limit_key(world.owner.key, rate=50, burst=25)
    rule = {"max_age": 3600, "stale": 60, "hot_hits": 1, "hot_window": 60, "hot_factor": 2.0, "hot_ceiling": 7200}
    service.save_policy(Policy(tenant=world.owner.tenant, **rule))
    ask()
    with django_assert_num_queries(0), round_trips(sent, 1):
        answer = ask()
    assert answer.json()["cache"] == "hit"
    assert [name in answer for name in ("RateLimit", "RateLimit-Policy")] == [True, True]


@pytest.mark.parametrize("delivery", ["url", "inline"])
def test_with_an_earlier_models_sound(ask, warm, sent: RoundTrips, django_assert_num_queries, delivery: str):
    cards.publish([replace(cards.COUNTING, model_version="counting-2")])
    assert ask(delivery=delivery).json()["cache"] == "stale"  # its renewal is seen to now, and not again soon
    renewals_done()
    for _ in range(2):
        with django_assert_num_queries(0), round_trips(sent, 1):
            answer = ask(delivery=delivery).json()
        assert (answer["cache"], answer["sha256"]) == ("stale", warm.digest)


@pytest.mark.parametrize("mode", ["refresh", "bypass"])
def test_what_asks_no_cache_is_let_in_by_one_round_trip(ask, warm, sent: RoundTrips, mode: str):
    before = len(sent)
    assert ask(cache=mode).status_code == 202
    assert len([command for command in sent[before:] if b"EVALSHA" in command]) == 1


def test_a_refused_one_costs_one_more_for_its_audit(
    ask, warm, world: World, sent: RoundTrips, django_assert_num_queries
):
    tenant_service.limit_tenant(world.owner.tenant, rate=0.01, burst=1)
    assert ask().status_code == 200
    with django_assert_num_queries(0), round_trips(sent, 2):
        assert ask().status_code == 429
    assert b"rate_limited" in sent[-1]
    assert world.owner.tenant.id.hex.encode() in sent[-1]


def test_a_restart_of_scripts_costs_round_trips_and_no_error(ask, warm, sent, redis_server, django_assert_num_queries):
    with redis_server.client() as client:
        client.script_flush()
    with django_assert_num_queries(0):
        assert ask().json()["cache"] == "hit"
    with round_trips(sent, 1):
        assert ask().json()["cache"] == "hit"


def test_a_miss_is_no_hit(ask, warm):
    assert ask(text="Something else.").status_code == 202
