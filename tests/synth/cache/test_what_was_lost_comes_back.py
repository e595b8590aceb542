"""Redis emptied: restored from the catalogue. An object lost or altered: made again, never served. TTLs act at once."""

from base64 import b64decode
from datetime import timedelta

import pytest
from django.utils import timezone

from synth import wiring
from synth.keys import object_name
from synth.models import Entry, Rendering
from synth.models.states import OPEN
from tests.finished import Finished


@pytest.fixture
def name(finished: Finished) -> str:
    return object_name(finished.entry.tenant.ref, finished.digest, "mp3")


@pytest.mark.parametrize("delivery", ["url", "inline", "binary"])
def test_an_emptied_redis_is_filled_from_the_catalogue(ask, finished: Finished, redis_server, delivery: str):
    ask(delivery=delivery)
    redis_server.flush()
    told = [ask(delivery=delivery) for _ in range(2)]
    assert [_status(answer) for answer in told] == ["restored", "hit"]
    assert not Rendering.objects.filter(state__in=OPEN).exists()


def test_a_lost_object_is_made_again(ask, finished: Finished, name: str):
    assert ask().json()["cache"] == "restored"
    wiring.object_store().delete(name)
    assert ask(delivery="inline").status_code == 202
    assert Rendering.objects.filter(state__in=OPEN).count() == 1
    assert ask().status_code == 202  # what is lost is not promised either


@pytest.mark.parametrize("delivery", ["inline", "binary"])
def test_altered_bytes_are_not_served(ask, finished: Finished, name: str, delivery: str):
    wiring.object_store().put(name, finished.data[:-1] + b"?", "audio/mpeg")
    assert ask(delivery=delivery).status_code == 202
    wiring.object_store().put(name, finished.data, "audio/mpeg")


def test_bytes_come_from_storage_when_redis_kept_none(ask, finished: Finished):
    ask()
    answer = ask(delivery="inline")
    assert answer.json()["cache"] == "hit"
    assert b64decode(answer.json()["audio"]) == finished.data


def test_a_process_with_a_shorter_ttl_goes_by_it_with_what_is_stored(ask, finished: Finished, settings):
    Entry.objects.filter(id=finished.entry.id).update(made_at=timezone.now() - timedelta(seconds=100))
    assert [ask().json()["cache"] for _ in range(2)] == ["restored", "hit"]
    settings.REFRAIN = {**settings.REFRAIN, "CACHE_TTL": 99}
    wiring.forget_parts()
    assert ask().status_code == 202
    settings.REFRAIN = {**settings.REFRAIN, "CACHE_TTL": 500}
    wiring.forget_parts()
    assert ask().json()["cache"] == "hit"


def test_what_is_too_old_is_not_restored(ask, finished: Finished, settings):
    Entry.objects.filter(id=finished.entry.id).update(made_at=timezone.now() - timedelta(seconds=100))
    settings.REFRAIN = {**settings.REFRAIN, "CACHE_TTL": 99}
    assert ask().status_code == 202


def test_another_tenant_gets_nothing_of_it(ask, finished: Finished, world):
    from tests.synth.cache.conftest import Speaker

    ask()
    assert Speaker(world.stranger.headers)().status_code == 202


def _status(answer) -> str:
    return answer["X-Cache"] if "X-Cache" in answer else answer.json()["cache"]
