"""A pinned sound never expires, in Redis and in the catalogue; unpinned, it does at the next request."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from synth import wiring
from synth.models import Entry
from tests.synth.curation.conftest import Speaker

TEXT = "One sentence."


@pytest.fixture
def old(owner: Speaker) -> str:
    """The id of an entry that is 100 s old, in Redis too."""
    told = owner.speak(TEXT)
    Entry.objects.update(made_at=timezone.now() - timedelta(seconds=100))
    wiring.rendition_cache().forget(owner.member.ref, Entry.objects.get(kind="rendition").key)
    assert [owner.how(TEXT), owner.how(TEXT)] == ["restored", "hit"]
    return str(told["id"])


@pytest.fixture
def short_ttl(settings):
    def set_it() -> None:
        settings.REFRAIN = {**settings.REFRAIN, "CACHE_TTL": 50}

    return set_it


def test_it_outlives_its_time_and_no_longer_when_unpinned(owner: Speaker, old: str, short_ttl, redis_server):
    assert owner.order("pins", entry_ids=[old])["done"] == 1
    short_ttl()
    assert [owner.how(TEXT), owner.how(TEXT)] == ["restored", "hit"]
    redis_server.flush()
    assert [owner.how(TEXT), owner.how(TEXT)] == ["restored", "hit"]
    assert owner.order("unpins", entry_ids=[old])["done"] == 1
    assert owner.how(TEXT) == "miss"


def test_what_is_not_pinned_expires(owner: Speaker, old: str, short_ttl):
    short_ttl()
    assert owner.how(TEXT) == "miss"


def test_a_refresh_keeps_the_pin_and_a_purge_takes_it(owner: Speaker, old: str):
    owner.order("pins", entry_ids=[old])
    owner.finish(owner.order("refreshes", entry_ids=[old]))
    assert owner.get("/v1/cache/entries", pinned="true")["results"][0]["id"] == old
    assert owner.order("purges", filter={"text_contains": "one", "pinned": False, "kind": "rendition"})["done"] == 0
    assert owner.order("purges", entry_ids=[old])["done"] == 1
    assert owner.how(TEXT) == "miss"
    owner.work()
    assert owner.get("/v1/cache/entries", pinned="true")["results"] == []


def test_by_filter(owner: Speaker, old: str):
    owner.speak("Another one.")
    action = owner.order("pins", filter={"older_than": 60, "kind": "rendition"})
    assert (action["matched"], action["done"]) == (1, 1)
    assert [row["id"] for row in owner.get("/v1/cache/entries", pinned="true")["results"]] == [old]
