"""Extended, a sound's time begins anew, in Redis and in the catalogue: what had expired is served again."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest
from django.utils import timezone

from synth import service, wiring
from synth.models import Entry
from synth.service import Actor, Selection
from synth.service.catalogue import LONG_AGO
from tests.synth.curation.conftest import Speaker

TEXT = "One sentence."


def extend(speaker: Speaker, *ids: UUID) -> int:
    actor = Actor(user_name="root")
    return service.curate("extend", Selection(ids=ids), tenant=speaker.member.ref, actor=actor, expected=None).done


@pytest.fixture
def old(owner: Speaker, settings) -> Entry:
    """The entry is 100 s old, in Redis too, and may be 50 s old."""
    owner.speak(TEXT)
    Entry.objects.update(made_at=timezone.now() - timedelta(seconds=100))
    found = Entry.objects.get(kind="rendition")
    wiring.rendition_cache().forget(owner.member.ref, found.key)
    assert [owner.how(TEXT), owner.how(TEXT)] == ["restored", "hit"]
    settings.REFRAIN = {**settings.REFRAIN, "CACHE_TTL": 50}
    return found


def test_what_had_expired_is_served_again(owner: Speaker, old: Entry):
    assert extend(owner, old.id) == 1
    assert [owner.how(TEXT), owner.how(TEXT)] == ["restored", "hit"]
    assert Entry.objects.get(id=old.id).digest == old.digest


def test_without_it_has_expired(owner: Speaker, old: Entry):
    assert owner.how(TEXT) == "miss"


def test_what_storage_has_lost_stays_lost(owner: Speaker, old: Entry):
    Entry.objects.update(made_at=LONG_AGO)
    assert extend(owner, old.id) == 0
    assert Entry.objects.get(id=old.id).made_at == LONG_AGO
