"""Speech kept under a key of the platform: nothing of it is kept in clear, and it is heard as ever, by ranges too."""

from __future__ import annotations

from io import StringIO
from urllib.parse import urlsplit

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from synth import wiring
from synth.keys import Kind, redis_key
from synth.models import ClonedVoice, Entry
from synth.models.states import State
from synth.service.object_audit import all_differences
from synth.stored import audio_object
from tenants import sealing
from tenants.errors import InvalidRequest
from tenants.models import DataKey
from tests.api.caller import content, problem
from tests.engines.counting import runs
from tests.recordings import recording
from tests.synth.sealing.conftest import FIRST, SECOND, kept, redis_values
from tests.synth.voices.conftest import Cloner

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]

TEXT = "Keep this to yourself. Nobody else may hear it."
# Of a RIFF file, of FLAC, and of what both hold here: nothing of the kind may be found.
MARKS = (b"RIFF", b"fLaC", b"WAVEfmt")


def sound(speaker: Cloner, text: str = TEXT, **body: object) -> bytes:
    answer = speaker.ask(text, delivery="binary", **body)
    assert answer.status_code == 200, answer.content
    return answer.content


def path_of(url: str) -> str:
    return urlsplit(url).path


def test_it_is_heard_as_ever_whatever_the_delivery(owner, stranger, audio):
    told, plain = owner.speak(TEXT), stranger.speak(TEXT)
    assert sound(owner) == sound(stranger)
    assert told["size"] == plain["size"] == len(sound(owner))
    assert (told["sha256"], plain["sha256"] is None) == (None, False)
    heard = Client().get(path_of(told["url"]))
    assert (heard.status_code, content(heard)) == (200, sound(owner))
    assert heard["Content-Type"] == "audio/wav"
    assert heard["Cache-Control"] == "private, no-store"
    assert content(owner.client.get(f"/v1/speech/{told['id']}/audio")) == sound(owner)
    assert owner.how(TEXT) == "hit"


def test_a_range_is_opened_alone(owner, audio):
    told = owner.speak("It is a long text, for there are to be segments. " * 8)
    whole = content(owner.client.get(path_of(told["url"])))
    assert len(whole) > 3 * 65536
    for first, last in ((0, 0), (10, 19), (65_530, 65_545), (70_000, 150_000), (len(whole) - 5, len(whole) - 1)):
        for address in (path_of(told["url"]), f"/v1/speech/{told['id']}/audio"):
            part = owner.client.get(address, headers={"Range": f"bytes={first}-{last}"})
            assert part.status_code == 206
            assert part["Content-Range"] == f"bytes {first}-{last}/{len(whole)}"
            assert content(part) == whole[first : last + 1]


def test_nothing_of_it_is_kept_in_clear(owner, audio):
    owner.speak(TEXT)
    assert sound(owner)[:4] == b"RIFF"
    objects = kept(audio)
    assert len(objects) == 3  # two sentences and the rendition
    (rendition,) = Entry.objects.filter(kind="rendition")
    assert wiring.redis().exists(redis_key(owner.member.ref, Kind.AUDIO, rendition.key))
    for held in (*objects.values(), *redis_values()):
        assert not [mark for mark in MARKS if mark in held]
        assert sound(owner)[44:108] not in held
    for entry in Entry.objects.all():
        assert entry.sealed_by == DataKey.objects.get().key_id
        assert audio_object(owner.member.ref, entry.digest, entry.format) in objects


def test_rows_and_storage_still_agree(owner, audio):
    owner.speak(TEXT)
    for found in all_differences():
        assert (found.unnamed, found.lost, found.strays) == ([], [], [])


def test_altered_bytes_are_lost_bytes_and_are_made_anew(owner, audio, log):
    told = owner.speak(TEXT)
    before, ran = sound(owner), len(runs(log))
    for path in (path for path in audio.rglob("*.*") if path.is_file()):
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(bytes(data))
    wiring.redis().flushall()
    wiring.local_cache()._audio.clear()
    answer = owner.ask(TEXT, delivery="binary")
    assert answer.status_code == 202, answer.content
    owner.work()
    assert sound(owner) == before
    assert len(runs(log)) > ran
    assert owner.client.get(f"/v1/speech/{told['id']}/audio").status_code == 200


def test_what_another_tenant_or_place_was_given_does_not_open(owner, world, engine, audio):
    sealing.set_encryption(world.stranger.tenant, "platform")
    other = Cloner(world.stranger, engine)
    mine, theirs = owner.speak(TEXT), other.speak("Something else.")
    entries = {entry.tenant_id: entry for entry in Entry.objects.filter(kind="rendition")}
    paths = [
        audio / audio_object(member.ref, entries[member.tenant.id].digest, "wav")
        for member in (owner.member, other.member)
    ]
    paths[0].write_bytes(paths[1].read_bytes())
    answer = Client().get(path_of(mine["url"]))
    assert (answer.status_code, problem(answer)["code"]) == (404, "not_found")
    assert Client().get(path_of(theirs["url"])).status_code == 200


def test_an_altered_or_old_ticket_opens_nothing(owner, audio, monkeypatch):
    path = path_of(owner.speak(TEXT)["url"])
    for place in range(len("/sealed/"), len(path), 7):
        altered = path[:place] + ("A" if path[place] != "A" else "B") + path[place + 1 :]
        answer = Client().get(altered)
        assert (answer.status_code, problem(answer)["code"]) == (403, "url_invalid"), place
    monkeypatch.setattr("synth.sealing.tickets.time.time", lambda: 4e9)
    answer = Client().get(path)
    assert (answer.status_code, problem(answer)["code"]) == (403, "url_expired")


def test_what_was_kept_in_clear_is_not_taken_for_sealed_and_the_other_way(stranger, audio, log):
    stranger.speak(TEXT)
    ran = len(runs(log))
    sealing.set_encryption(stranger.member.tenant, "platform")
    assert stranger.how(TEXT) == "miss"
    stranger.work()
    assert len(runs(log)) > ran
    sealing.set_encryption(stranger.member.tenant, "none")
    told = stranger.speak(TEXT)
    assert "/files/" in told["url"]
    assert content(Client().get(told["url"].removeprefix("http://testserver")))[:4] == b"RIFF"


def test_to_rotate_wraps_keys_anew_and_touches_no_object(owner, audio, settings):
    owner.speak(TEXT)
    before, objects = sound(owner), kept(audio)
    settings.REFRAIN_ENCRYPTION_KEYS = {"second": SECOND, "first": FIRST}
    call_command("rotate_encryption", stderr=StringIO())
    assert DataKey.objects.get().wrapped.startswith("second:")
    settings.REFRAIN_ENCRYPTION_KEYS = {"second": SECOND}
    sealing.forget_keys()
    wiring.local_cache()._audio.clear()
    assert sound(owner) == before
    assert kept(audio) == objects
    assert sealing.rotate() == sealing.Rotated(current=1)


def test_without_its_key_it_is_unavailable_and_the_command_says_so(owner, audio, settings):
    told = owner.speak(TEXT)
    settings.REFRAIN_ENCRYPTION_KEYS = {"second": SECOND}
    sealing.forget_keys()
    answer = owner.client.get(f"/v1/speech/{told['id']}/audio")
    assert (answer.status_code, problem(answer)["code"]) == (503, "encryption_unavailable")
    with pytest.raises(CommandError, match="1 keys"):
        call_command("rotate_encryption", stderr=StringIO())


def test_without_platform_keys_nothing_can_be_encrypted(stranger, settings):
    settings.REFRAIN_ENCRYPTION_KEYS = {}
    for mode in ("platform", "own"):
        with pytest.raises(InvalidRequest, match="REFRAIN_ENCRYPTION_KEYS"):
            sealing.set_encryption(stranger.member.tenant, mode)


def test_voices_and_their_uploads_are_sealed(owner, audio):
    voice = owner.clone()
    assert voice["state"] == "ready", voice
    row = ClonedVoice.objects.get(state=State.SUCCEEDED)
    assert row.sealed_by == DataKey.objects.get().key_id
    assert owner.speak(TEXT, voice=voice["id"])["voice"] == "anna"
    for held in kept(audio).values():
        assert not [mark for mark in MARKS if mark in held]


def test_an_upload_is_sealed_before_it_is_decoded(owner, audio):
    assert owner.upload().status_code == 202
    (held,) = kept(audio).values()
    assert recording()[44:108] not in held
    assert b"RIFF" not in held
