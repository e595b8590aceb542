"""A duration that the engine does not keep is refused, unless the tenant has speech stretched; the answer says so."""

import pytest

from synth.models import Rendering, VoiceSettings
from synth.service import delete_voice_settings, save_voice_settings
from tests.api.caller import Caller, refused_fields
from tests.finished import finish

pytestmark = pytest.mark.django_db

TEXT = "Hello there."


@pytest.fixture
def stretched(owner: Caller) -> Caller:
    save_voice_settings(VoiceSettings(tenant=owner.member.tenant, time_stretch=True))
    return owner


def test_without_the_tenants_word_it_is_refused(owner: Caller, stranger: Caller) -> None:
    assert refused_fields(owner.speak(text=TEXT, duration=2)) == {"duration": "unsupported_control"}
    save_voice_settings(VoiceSettings(tenant=owner.member.tenant, time_stretch=True))
    assert owner.speak(text=TEXT, duration=2).status_code == 202
    assert refused_fields(stranger.speak(text=TEXT, duration=2)) == {"duration": "unsupported_control"}
    delete_voice_settings(VoiceSettings.objects.all())
    assert refused_fields(owner.speak(text=TEXT, duration=2)) == {"duration": "unsupported_control"}


def test_the_engine_speaks_at_its_own_pace_and_the_whole_is_stretched(stretched: Caller) -> None:
    stretched.speak(text=TEXT, duration=2)
    spec = Rendering.objects.get().spec
    assert (spec["manner"]["duration"], spec["output"]["duration"]) == (None, 2.0)


def test_an_engine_that_keeps_time_is_asked_itself(stretched: Caller) -> None:
    stretched.speak(text=TEXT, duration=2, voice="actor_a")
    spec = Rendering.objects.get().spec
    assert (spec["manner"]["duration"], spec["output"]["duration"]) == (2.0, None)


def test_every_form_of_the_answer_says_so(stretched: Caller) -> None:
    body = {"text": TEXT, "duration": 2}
    done = finish(stretched.member, body)
    assert stretched.speak(body).json()["time_stretched"] is True
    assert stretched.speak(body, delivery="binary")["X-Time-Stretched"] == "true"
    assert stretched.get(f"/v1/speech/{done.job.public_id}").json()["audio"]["time_stretched"] is True
    plain = finish(stretched.member, {"text": TEXT})
    assert stretched.speak(text=TEXT).json()["time_stretched"] is False
    assert "X-Time-Stretched" not in stretched.speak(text=TEXT, delivery="binary")
    assert stretched.get(f"/v1/speech/{plain.job.public_id}").json()["audio"]["time_stretched"] is False


def test_another_duration_is_another_sound(stretched: Caller) -> None:
    finish(stretched.member, {"text": TEXT, "duration": 2})
    assert [stretched.speak(text=TEXT, duration=seconds).status_code for seconds in (2, 2.0, 2.1)] == [200, 200, 202]
    assert stretched.speak(text=TEXT).status_code == 202
