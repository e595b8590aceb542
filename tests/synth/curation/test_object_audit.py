"""Storage and rows are compared: what is on one side only is put right, and never what somebody is storing just now."""

from __future__ import annotations

import os
import time
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from synth import wiring
from synth.errors import ObjectMissing, StorageUnavailable
from synth.models import DiscardedObject, Entry
from synth.service import object_audit, sweep_objects
from synth.service.catalogue import LONG_AGO
from synth.service.object_audit import EVERY_SECONDS, PARTS, SAFE_AGE, all_differences, audit_objects, reconcile
from synth.storage.files import FileStore
from synth.stored import audio_object, upload_object
from tests.synth.curation.conftest import Speaker
from tests.synth.curation.test_object_sweep import exists, pass_time
from tests.synth.queue.desk import speak_all

TEXT = "One sentence."


@pytest.fixture
def root() -> Path:
    store = wiring.object_store()
    assert isinstance(store, FileStore)
    return store._root


def let_objects_age(root: Path, by: timedelta = 2 * SAFE_AGE) -> None:
    then = time.time() - by.total_seconds()
    for path in root.rglob("*"):
        if path.is_file():
            os.utime(path, (then, then))


def put_right() -> dict[str, int]:
    """How many of each kind were found in the whole store."""
    counts = {"unnamed": 0, "lost": 0, "strays": 0}
    for found in all_differences(parts_in_use()):
        reconcile(found)
        for name in counts:
            counts[name] += len(getattr(found, name))
    return counts


def parts_in_use() -> list[int]:
    """Those of all objects and all entries; the others hold nothing to compare."""
    folders = [item.name.split("/")[1] for item in wiring.object_store().walk()]
    folders += [digest[:2] for digest in Entry.objects.values_list("digest", flat=True)]
    return sorted({0, *(int(folder, 16) for folder in folders if len(folder) == 2)})


NOTHING = {"unnamed": 0, "lost": 0, "strays": 0}


@pytest.fixture
def orphan(owner: Speaker) -> str:
    """An object whose worker died before it could tell the database."""
    name = audio_object(owner.member.ref, "ab" * 32, "flac")
    wiring.object_store().put(name, b"nobody names these bytes", "audio/flac")
    return name


def test_what_rows_name_stays(owner: Speaker, root: Path):
    owner.speak(TEXT)
    owner.ask(TEXT, cache="bypass")
    owner.work()
    let_objects_age(root)
    assert put_right() == NOTHING
    owner.order("purges", filter={"text_contains": "sentence"})
    assert put_right() == NOTHING  # what is purged is noted already


def test_what_no_row_names_is_deleted_once_no_url_can_run(owner: Speaker, root: Path, orphan: str):
    let_objects_age(root)
    assert put_right() == {**NOTHING, "unnamed": 1}
    assert put_right() == NOTHING
    assert (sweep_objects(), exists(orphan)) == (0, True)
    pass_time()
    assert (sweep_objects(), exists(orphan)) == (1, False)


def test_what_is_young_may_be_about_to_be_named(owner: Speaker, root: Path, orphan: str):
    let_objects_age(root, SAFE_AGE / 2)
    assert put_right() == NOTHING


def test_what_is_about_to_be_joined_stays(owner: Speaker, root: Path, engine):
    owner.ask(f"{TEXT} Another one.")
    speak_all(engine)
    Entry.objects.all().delete()
    let_objects_age(root)
    assert put_right() == NOTHING


def test_a_worker_that_stores_the_same_bytes_wins(owner: Speaker, root: Path, engine):
    owner.ask(TEXT)
    speak_all(engine)
    (sentence,) = Entry.objects.all()
    name = audio_object(owner.member.ref, sentence.digest, "flac")
    owner.work()
    Entry.objects.all().delete()
    let_objects_age(root)
    assert put_right()["unnamed"] == 2
    owner.ask(TEXT, cache="refresh")
    owner.work()
    pass_time()
    sweep_objects()
    assert exists(name)


def test_a_sound_whose_object_is_gone_is_made_anew(owner: Speaker, root: Path):
    told = owner.speak(TEXT)
    for entry in Entry.objects.all():
        wiring.object_store().delete(audio_object(owner.member.ref, entry.digest, entry.format))
    assert owner.how(TEXT) == "hit"  # Redis knows no better
    assert put_right() == {**NOTHING, "lost": 2}
    assert put_right() == NOTHING
    assert owner.how(TEXT) == "miss"
    owner.work()
    again = owner.speak(TEXT)
    assert (again["id"], again["sha256"]) == (told["id"], told["sha256"])
    assert exists(audio_object(owner.member.ref, again["sha256"], "wav"))


@pytest.fixture
def entries_of_one_part(owner: Speaker, monkeypatch) -> None:
    """More than can have been lost by chance, in the part whose turn it is."""
    owner.speak(TEXT)
    entry = Entry.objects.filter(kind="segment").get()
    for number in range(25):
        entry.pk, entry.key, entry.digest = uuid4(), f"{number:064x}", f"00{number:062x}"
        entry.save(force_insert=True)
    monkeypatch.setattr(object_audit, "part_of_now", lambda: 0)


def test_a_store_that_lacks_most_is_taken_for_another_one(entries_of_one_part: None, caplog):
    audit_objects()
    assert "is this the right store?" in caplog.text
    assert not Entry.objects.filter(made_at=LONG_AGO).exists()
    Entry.objects.filter(digest__startswith="00", key__gt=f"{9:064x}").delete()
    audit_objects()
    assert Entry.objects.filter(made_at=LONG_AGO).count() >= 10


def test_files_of_a_voice_without_a_row_are_deleted(owner: Speaker, root: Path):
    name = upload_object(owner.member.ref, uuid4())
    wiring.object_store().put(name, b"an upload", "application/octet-stream")
    assert put_right() == NOTHING
    let_objects_age(root)
    assert put_right() == {**NOTHING, "strays": 1}
    with pytest.raises(ObjectMissing):
        wiring.object_store().head(name)


def test_other_files_and_folders_of_others_are_left_alone(owner: Speaker, root: Path):
    names = [f"{owner.member.ref.id.hex}/ab/notes.txt", f"{uuid4().hex}/ab/{'ab' * 32}.flac"]
    for name in names:
        wiring.object_store().put(name, b"whose is it?", "text/plain")
    let_objects_age(root)
    assert put_right() == NOTHING
    assert object_audit.foreign_folders() == [names[1].partition("/")[0]]


def test_every_part_has_its_turn(monkeypatch):
    turns = []
    for turn in range(PARTS):
        monkeypatch.setattr(time, "time", lambda turn=turn: 1e9 + turn * EVERY_SECONDS)
        turns.append(object_audit.part_of_now())
    assert sorted(turns) == list(range(PARTS))


def test_a_store_that_is_away_is_compared_next_time(owner: Speaker, monkeypatch, caplog):
    def away(self: FileStore, folder: str = "") -> object:
        raise StorageUnavailable("away")

    owner.speak(TEXT)
    with monkeypatch.context() as patched:
        patched.setattr(FileStore, "walk", away)
        audit_objects()
    assert "not compared" in caplog.text
    assert not Entry.objects.filter(made_at=LONG_AGO).exists()
    assert not DiscardedObject.objects.exists()
