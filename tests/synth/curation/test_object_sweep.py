"""Objects that no entry names are deleted once no URL of them can run, and never while anything needs them."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest

from synth import wiring
from synth.errors import ObjectMissing, StorageUnavailable
from synth.models import DiscardedObject, Entry, Rendering
from synth.models.clock import database_now
from synth.service import sweep_objects
from synth.service.object_sweep import LEASE, discard, rescue
from synth.storage.files import FileStore
from synth.stored import audio_object
from tests.synth.curation.conftest import Speaker
from tests.synth.queue.desk import at_once, claim, speak_all

TEXT = "One sentence."


def exists(name: str) -> bool:
    try:
        wiring.object_store().head(name)
    except ObjectMissing:
        return False
    return True


def pass_time(by: timedelta = timedelta(days=30)) -> None:
    for note in DiscardedObject.objects.all():
        DiscardedObject.objects.filter(id=note.id).update(not_before=note.not_before - by)


@pytest.fixture
def names(owner: Speaker) -> list[str]:
    """Of the objects of a rendition and its sentence, which are purged."""
    told = owner.speak(TEXT)
    found = [audio_object(owner.member.ref, entry.digest, entry.format) for entry in Entry.objects.all()]
    assert len(found) == 2
    assert all(map(exists, found))
    owner.order("purges", entry_ids=[told["id"]])
    return found


def test_they_stay_as_long_as_a_url_may_run(names: list[str], settings):
    settings.REFRAIN = {**settings.REFRAIN, "JOB_AUDIO_TTL": 0}
    assert sweep_objects() == 0
    pass_time(timedelta(days=7))  # more than the jobs' own time, which was noted first
    assert (sweep_objects(), [exists(name) for name in names]) == (0, [True, True])


def test_they_are_deleted_afterwards_and_once(names: list[str]):
    pass_time()
    assert (sweep_objects(), [exists(name) for name in names]) == (2, [False, False])
    assert (sweep_objects(), DiscardedObject.objects.count()) == (0, 0)


def test_the_time_is_that_of_urls_where_jobs_need_none(owner: Speaker, settings):
    settings.REFRAIN = {**settings.REFRAIN, "JOB_AUDIO_TTL": 0, "URL_TTL": 3600}
    told = owner.speak(TEXT)
    owner.order("purges", entry_ids=[told["id"]])
    left = DiscardedObject.objects.earliest("not_before").not_before - database_now()
    assert timedelta(seconds=3600) < left < timedelta(seconds=3600) + timedelta(minutes=16)


def test_what_an_entry_names_again_stays(owner: Speaker, names: list[str]):
    owner.speak(TEXT)
    pass_time()
    assert (sweep_objects(), [exists(name) for name in names]) == (0, [True, True])


def test_what_a_rendering_is_about_to_join_stays(owner: Speaker, engine):
    owner.speak(TEXT)
    owner.ask(f"{TEXT} Another one.")
    owner.order("purges", filter={"text_contains": "one sentence"})
    pass_time()
    (segment,) = Entry.with_purged.filter(kind="segment")
    sweep_objects()
    assert exists(audio_object(owner.member.ref, segment.digest, "flac"))
    speak_all(engine)
    owner.work()
    assert not Rendering.objects.exclude(state="succeeded").exists()
    pass_time()
    sweep_objects()
    assert not exists(audio_object(owner.member.ref, segment.digest, "flac"))


def test_bypassed_sounds_are_deleted_in_the_end(owner: Speaker):
    told = owner.ask(TEXT, cache="bypass").json()
    owner.work()
    (rendering,) = Rendering.objects.all()
    name = audio_object(owner.member.ref, rendering.digest, rendering.format)
    assert sweep_objects() == 0
    assert owner.get(f"/v1/speech/{told['id']}")["audio"]["url"]
    pass_time()
    assert (sweep_objects(), exists(name)) == (2, False)


def test_an_old_job_promises_no_audio_that_is_gone(owner: Speaker, settings):
    told = owner.ask(TEXT, cache="bypass").json()
    owner.work()
    pass_time()
    sweep_objects()
    Rendering.objects.update(ended_at=database_now() - timedelta(days=30))
    assert owner.get(f"/v1/speech/{told['id']}")["audio"] is None


def test_two_sweepers_delete_each_object_once(names: list[str]):
    pass_time()
    assert sum(at_once([sweep_objects] * 4)) == 2
    assert DiscardedObject.objects.count() == 0


def test_a_worker_that_puts_the_same_bytes_withdraws_the_note(owner: Speaker, names: list[str], engine):
    pass_time()
    owner.ask(TEXT)
    speak_all(engine)  # puts the sentence, whose bytes are the same
    assert DiscardedObject.objects.filter(format="flac").count() == 0
    sweep_objects()
    owner.work()
    assert all(map(exists, names))


def test_a_worker_waits_for_a_sweeper_that_is_deleting_these_bytes(owner: Speaker, names: list[str], monkeypatch):
    """Were it to put them at once, they would be deleted behind its back."""
    pass_time()
    note = DiscardedObject.objects.get(format="flac")
    deleting, put = threading.Event(), threading.Event()
    delete = FileStore.delete

    def slow_delete(self: FileStore, name: str) -> None:
        deleting.set()
        assert not put.wait(1.0)
        delete(self, name)

    def put_again() -> None:
        assert deleting.wait(30)
        rescue(owner.member.ref, note.digest)
        put.set()
        wiring.object_store().put(names_of(note)[0], b"the same bytes", "audio/flac")

    monkeypatch.setattr(FileStore, "delete", slow_delete)
    DiscardedObject.objects.exclude(id=note.id).delete()
    assert at_once([sweep_objects, put_again]) == [1, None]
    assert exists(names_of(note)[0])


def names_of(note: DiscardedObject) -> list[str]:
    return [audio_object(note.tenant.ref, note.digest, note.format)]


def test_a_sweeper_that_died_is_followed_by_another(names: list[str]):
    pass_time()
    DiscardedObject.objects.update(deleting_until=database_now() + LEASE)
    assert sweep_objects() == 0
    DiscardedObject.objects.update(deleting_until=database_now() - timedelta(seconds=1))
    assert sweep_objects() == 2


def test_a_store_that_is_away_is_tried_again(names: list[str], monkeypatch):
    def away(self: FileStore, name: str) -> None:
        raise StorageUnavailable("away")

    pass_time()
    with monkeypatch.context() as patched:
        patched.setattr(FileStore, "delete", away)
        assert sweep_objects() == 0
    assert all(map(exists, names))
    pass_time()
    assert sweep_objects() == 2


def test_a_late_result_is_noted(owner: Speaker, engine):
    from synth.models import Synthesis
    from synth.service.synthesis import synthesize

    owner.ask(TEXT)
    late = claim()
    Synthesis.objects.update(attempt=7)
    synthesize(late, engine)
    assert DiscardedObject.objects.count() == 1


def test_noting_twice_keeps_the_later_time(owner: Speaker):
    for _ in range(2):
        discard(owner.member.ref, [("d" * 64, "flac")])
    assert DiscardedObject.objects.count() == 1
