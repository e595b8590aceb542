"""After a refresh the sound before can be heard beside the new one, for as long as storage has it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from synth import service
from synth.models import DiscardedObject, Entry
from tests.synth.admin.pages import list_of, players
from tests.synth.curation.conftest import Speaker

TEXT = "One sentence."


@pytest.fixture
def refreshed(owner: Speaker, monkeypatch) -> tuple[Entry, Entry]:
    """The entry before and after."""
    monkeypatch.setenv("COUNTING_VARIES", "1")
    told = owner.speak(TEXT)
    before = Entry.objects.get(kind="rendition")
    owner.finish(owner.order("refreshes", entry_ids=[told["id"]]))
    after = Entry.objects.get(kind="rendition")
    assert after.digest != before.digest
    return before, after


@pytest.fixture
def operator(db) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    return client


def page(operator: Client, entry: Entry) -> str:
    return operator.get(reverse("admin:synth_entry_change", args=[entry.id])).content.decode()


def heard(url: str) -> bytes:
    answer = Client().get(url)
    assert answer.status_code == 200
    return b"".join(answer)


def test_both_are_on_the_page_and_play(refreshed: tuple[Entry, Entry], operator: Client):
    before, after = refreshed
    shown = page(operator, after)
    assert before.digest in shown
    assert after.digest in shown
    urls = {url.partition("?")[0]: url for url in players(shown)}
    assert len(urls) == 2
    first, second = (
        heard(next(url for path, url in urls.items() if digest in path)) for digest in (before.digest, after.digest)
    )
    assert first != second


def test_the_list_finds_what_was_made_anew(refreshed: tuple[Entry, Entry], operator: Client, owner: Speaker):
    owner.speak("Another one.")
    found = operator.get(list_of("entry"), {"standing": "made_anew"}).context["cl"].result_list
    assert [entry.id for entry in found if entry.kind == "rendition"] == [refreshed[1].id]


def test_the_address_works_although_the_sound_was_to_go_soon(refreshed: tuple[Entry, Entry], operator: Client):
    """Whoever is shown the page hears it for the time of its address."""
    before, after = refreshed
    soon = timezone.now() + timedelta(seconds=5)
    DiscardedObject.objects.filter(digest=before.digest).update(not_before=soon)
    page(operator, after)
    assert DiscardedObject.objects.get(digest=before.digest).not_before > soon + timedelta(minutes=30)


def test_once_storage_may_have_it_no_more_it_is_not_offered(refreshed: tuple[Entry, Entry], operator: Client):
    before, after = refreshed
    Entry.objects.filter(id=after.id).update(previous_until=timezone.now() - timedelta(seconds=1))
    shown = page(operator, after)
    assert before.digest not in shown
    assert len(players(shown)) == 1


def test_a_purge_forgets_it(refreshed: tuple[Entry, Entry], owner: Speaker):
    _before, after = refreshed
    owner.order("purges", entry_ids=[f"ent_{after.id.hex}"])
    assert Entry.with_purged.get(id=after.id).previous_digest == ""
    owner.speak(TEXT)
    assert service.sound_before(Entry.objects.get(id=after.id)) is None
