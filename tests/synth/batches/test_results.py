"""What came of a batch: a manifest that tells where each sentence is, and all sounds in one archive that opens."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
import zipfile
from typing import Any

import pytest
import soundfile

from synth import service, wiring
from synth.api.batch_archive import name_of
from synth.models import Entry, Policy, Rendering, RenderingPart
from synth.service import ItemResult
from synth.types import StoredAudio
from tests.synth.batches.conftest import Sender, item

LONG = "One sentence. Then a second, somewhat longer one! And the third?"
SENTENCES = ["One sentence.", "Then a second, somewhat longer one!", "And the third?"]


@pytest.fixture
def batch(owner: Sender) -> dict[str, Any]:
    owner.speak("Known.")
    return owner.finish(
        owner.send(
            item("Known.", custom_id="known"),
            item(LONG, custom_id="长/../x"),
            item("", custom_id="wrong"),
            item("Mp3 then.", format="mp3"),
        )
    )


def archive_of(sender: Sender, batch: dict[str, Any]) -> zipfile.ZipFile:
    archive = zipfile.ZipFile(io.BytesIO(sender.read(batch["results"]["audio"])))
    assert archive.testzip() is None
    return archive


def test_the_manifest_tells_of_every_item_in_order(owner: Sender, batch):
    told = owner.manifest(batch)
    assert [(row["line"], row["custom_id"], row["status"]) for row in told] == [
        (1, "known", "cached"),
        (2, "长/../x", "succeeded"),
        (3, "wrong", "refused"),
        (4, None, "succeeded"),
    ]
    assert told[2]["error"]["code"] == "nothing_to_say"
    assert (told[2]["audio"], told[2]["sentences"]) == (None, None)
    for row in (told[0], told[1], told[3]):
        heard = owner.client.get(row["audio"]["url"])
        data = b"".join(heard.streaming_content)
        assert (heard.status_code, len(data)) == (200, row["audio"]["size"])
        assert row["audio"]["url_expires_at"].endswith("Z")
        info = soundfile.info(io.BytesIO(data))
        assert info.duration == pytest.approx(row["audio"]["duration"], abs=0.002)
        assert row["sentences"][0]["start"] == 0
        assert row["sentences"][-1]["end"] == pytest.approx(info.duration, abs=0.002)


def test_sentences_stand_where_they_are_heard(owner: Sender, batch):
    row = owner.manifest(batch)[1]
    assert [said["text"] for said in row["sentences"]] == SENTENCES
    samples, rate = soundfile.read(io.BytesIO(b"".join(owner.client.get(row["audio"]["url"]).streaming_content)))
    for said in row["sentences"]:
        inside = abs(samples[int((said["start"] + 0.03) * rate) : int((said["end"] - 0.03) * rate)])
        assert inside.max() > 0.01
    for before, after in zip(row["sentences"], row["sentences"][1:], strict=False):
        pause = samples[int(before["end"] * rate) + 1 : int(after["start"] * rate) - 1]
        assert len(pause) > 0.15 * rate
        assert abs(pause).max() < 0.001


@pytest.mark.parametrize("how", ["noted", "measured"])
def test_times_are_told_also_where_no_entry_notes_them(owner: Sender, how: str):
    if how == "measured":
        service.save_policy(Policy(never_cache=True))
    ended = owner.finish(owner.send(item(LONG)))
    (row,) = owner.manifest(ended)
    assert (Entry.objects.filter(kind="rendition").count() == 0) == (how == "measured")
    assert [said["text"] for said in row["sentences"]] == SENTENCES
    assert row["sentences"][-1]["end"] == pytest.approx(row["audio"]["duration"], abs=0.002)


def test_times_that_nobody_can_tell_are_null(owner: Sender, batch):
    Entry.objects.filter(kind="rendition").update(provenance={})
    RenderingPart.objects.all().delete()
    told = owner.manifest(batch)
    assert [row["sentences"] for row in told] == [None] * 4
    assert [row["audio"] is None for row in told] == [False, False, True, False]


def test_as_csv(owner: Sender, batch):
    text = owner.read(batch["results"]["manifest"] + "?format=csv").decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["custom_id"] for row in rows] == ["known", "长/../x", "wrong", ""]
    assert [row["error_code"] for row in rows] == ["", "", "nothing_to_say", ""]
    assert json.loads(rows[1]["sentences"])[0]["text"] == SENTENCES[0]
    assert (float(rows[1]["duration"]) > 1, rows[1]["url"][:4], len(rows[1]["sha256"])) == (True, "http", 64)
    assert owner.client.get(batch["results"]["manifest"], {"format": "xml"}).status_code == 422


def test_while_it_runs_the_manifest_says_how_it_stands_and_the_archive_waits(owner: Sender):
    batch = owner.send(item("One."), item("Two."))
    assert [row["status"] for row in owner.manifest(batch)] == ["waiting"] * 2
    owner.begin()
    assert [row["status"] for row in owner.manifest(batch)] == ["running"] * 2
    refused = owner.client.get(batch["results"]["audio"])
    assert (refused.status_code, refused.json()["code"], refused["Retry-After"]) == (409, "not_ready", "5")


def test_the_archive_holds_every_sound_and_the_manifest(owner: Sender, batch):
    answer = owner.client.get(batch["results"]["audio"])
    assert answer["Content-Type"] == "application/zip"
    assert f'filename="{batch["id"]}.zip"' in answer["Content-Disposition"]
    archive = archive_of(owner, batch)
    told = [json.loads(line) for line in archive.read("manifest.jsonl").splitlines()]
    assert [row["file"] for row in told] == ["00001-known.wav", "00002-长_.._x.wav", None, told[3]["file"]]
    assert told[3]["file"] == f"00004-{told[3]['speech_id']}.mp3"
    assert archive.namelist() == [*[row["file"] for row in told if row["file"]], "manifest.jsonl"]
    for row in told:
        if row["file"]:
            assert len(archive.read(row["file"])) == row["audio"]["size"]
            assert "url" not in row["audio"]


@pytest.mark.skipif(not shutil.which("unzip"), reason="there is no unzip here")
def test_the_archive_opens_elsewhere(owner: Sender, batch, tmp_path):
    path = tmp_path / "batch.zip"
    path.write_bytes(owner.read(batch["results"]["audio"]))
    done = subprocess.run(["unzip", "-t", str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, "No errors detected" in done.stdout) == (0, True), done.stdout


def test_what_storage_has_lost_is_told_of_and_left_out(owner: Sender, batch, monkeypatch):
    lost, changed = owner.manifest(batch)[0]["audio"]["sha256"], owner.manifest(batch)[1]["audio"]["sha256"]
    store = wiring.object_store()
    stream = type(store).stream

    def faulty(self: Any, name: str, start: int, end: int) -> Any:
        if lost in name:
            store.delete(name)
        for chunk in stream(self, name, start, end):
            yield chunk[:-1] + b"x" if changed in name else chunk

    monkeypatch.setattr(type(store), "stream", faulty)
    archive = archive_of(owner, batch)
    told = [json.loads(line) for line in archive.read("manifest.jsonl").splitlines()]
    assert [(row["file"] is None, row["error"] and row["error"]["code"]) for row in told] == [
        (True, "audio_missing"),
        (True, "audio_missing"),
        (True, "nothing_to_say"),
        (False, None),
    ]
    assert len(archive.namelist()) == 2


def test_audio_that_is_kept_no_longer_is_not_promised(owner: Sender, batch):
    from datetime import timedelta

    from synth.models.clock import database_now

    Entry.objects.all().delete()
    Rendering.objects.update(ended_at=database_now() - timedelta(days=30))
    assert [row["audio"] for row in owner.manifest(batch)] == [None] * 4
    assert archive_of(owner, batch).namelist() == ["manifest.jsonl"]


@pytest.mark.any_database
@pytest.mark.parametrize(
    ("custom_id", "name"),
    [
        ("../../etc/passwd", "00007-etc_passwd.wav"),
        ("a b\\c:d*e", "00007-a_b_c_d_e.wav"),
        ("...", "00007-item.wav"),
        ("第一章", "00007-第一章.wav"),
        ("\r\n\0", "00007-item.wav"),
        ("x" * 128, f"00007-{'x' * 48}.wav"),
    ],
)
def test_names_in_the_archive_are_safe(custom_id: str, name: str):
    sound = StoredAudio(
        id="x", digest="d", format="wav", media_type="audio/wav", size=1, duration=1, sample_rate=1, made=0
    )
    assert name_of(ItemResult(line=7, custom_id=custom_id, status="succeeded", stored=sound)) == name


def test_another_tenant_sees_none_of_it(owner: Sender, stranger: Sender, batch):
    assert stranger.get("/v1/batches")["results"] == []
    for address in (batch["href"], *batch["results"].values()):
        assert stranger.client.get(address).status_code == 404
    assert stranger.client.post(f"{batch['href']}/cancel").status_code == 404
