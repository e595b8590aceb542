"""A hit costs exactly one round trip to Redis and no SQL, whatever the delivery, in a process that is warm."""

from base64 import b64decode

import pytest

from synth import wiring
from synth.keys import object_name
from synth.stored import of_entry
from tests.finished import Finished
from tests.synth.cache.counting import RoundTrips, round_trips


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


def test_a_restart_of_scripts_costs_round_trips_and_no_error(ask, warm, sent, redis_server, django_assert_num_queries):
    with redis_server.client() as client:
        client.script_flush()
    with django_assert_num_queries(0):
        assert ask().json()["cache"] == "hit"
    with round_trips(sent, 1):
        assert ask().json()["cache"] == "hit"


def test_a_miss_is_no_hit(ask, warm):
    assert ask(text="Something else.").status_code == 202
