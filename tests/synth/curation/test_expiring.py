"""What expired long ago leaves the catalogue and storage; what is pinned, by itself or by a rule, stays."""

from __future__ import annotations

from datetime import timedelta

import pytest

from synth import service
from synth.models import CurationAction, DiscardedObject, Entry, Policy
from synth.models.clock import database_now
from synth.service import expiring
from synth.service.catalogue import LONG_AGO
from tests.synth.curation.conftest import Speaker

DAY = timedelta(days=1)
TEXT = "One sentence."


@pytest.fixture(autouse=True)
def _from_the_beginning():
    expiring._Place.looked_at = LONG_AGO


def age(by: timedelta) -> None:
    Entry.objects.update(made_at=database_now() - by)


def test_it_stays_for_its_time_and_the_grace(owner: Speaker):
    owner.speak(TEXT)
    age(30 * DAY)  # a day to live and thirty days of grace
    assert (expiring.expire_entries(), Entry.objects.count()) == (0, 2)
    age(32 * DAY)
    assert (expiring.expire_entries(), Entry.objects.count()) == (2, 0)
    assert DiscardedObject.objects.count() == 2


def test_what_is_pinned_stays(owner: Speaker):
    told = owner.speak(TEXT)
    owner.order("pins", entry_ids=[told["id"]])
    age(400 * DAY)
    assert expiring.expire_entries() == 1  # its sentence
    assert owner.how(TEXT) in {"hit", "restored"}


@pytest.mark.parametrize("rule", [{"pinned": True}, {"max_age": 500 * 86400}, {"stale": 500 * 86400}])
def test_what_a_rule_keeps_stays(owner: Speaker, rule: dict):
    owner.speak(TEXT, category="prices")
    owner.speak("Another one.")
    service.save_policy(Policy(category="prices", **rule))
    age(400 * DAY)
    assert expiring.expire_entries() == 2
    assert set(Entry.objects.values_list("text", flat=True)) == {TEXT}


def test_what_was_lost_keeps_its_id(owner: Speaker):
    owner.speak(TEXT)
    Entry.objects.update(made_at=LONG_AGO)
    assert expiring.expire_entries() == 0


def test_it_is_bounded_and_goes_on(owner: Speaker, monkeypatch):
    for number in range(3):
        owner.speak(f"Sentence {number}.")
        Entry.objects.filter(text=f"Sentence {number}.").update(made_at=database_now() - (40 - number) * DAY)
    monkeypatch.setattr(expiring, "BATCH", 2)
    assert sum(expiring.expire_entries() for _ in range(5)) == 6


def test_records_of_purges_and_of_actions_are_forgotten_in_the_end(owner: Speaker):
    told = owner.speak(TEXT)
    owner.order("purges", entry_ids=[told["id"]])
    service.sweep_storage()
    assert (Entry.with_purged.count(), CurationAction.objects.count()) == (2, 1)
    Entry.with_purged.update(purged_at=database_now() - 31 * DAY)
    CurationAction.objects.update(ended_at=database_now() - 91 * DAY)
    service.sweep_storage()
    assert (Entry.with_purged.count(), CurationAction.objects.count()) == (0, 0)
