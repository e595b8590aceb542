"""A duration that the engine does not keep is refused, unless the tenant has speech stretched; the answer says so."""

from typing import Any

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


def test_without_the_tenants_word_it_is_refused(
    owner: Caller, stranger: Caller, django_capture_on_commit_callbacks: Any
) -> None:
    """And the tenant's word acts on the next request."""

    def refused(caller: Caller) -> bool:
        response = caller.speak(text=TEXT, duration=2)
        return response.status_code != 202 and refused_fields(response) == {"duration": "unsupported_control"}

    assert refused(owner)
    with django_capture_on_commit_callbacks(execute=True):
        save_voice_settings(VoiceSettings(tenant=owner.member.tenant, time_stretch=True))
    assert not refused(owner)
    assert refused(stranger)
    with django_capture_on_commit_callbacks(execute=True):
        delete_voice_settings(VoiceSettings.objects.all())
    assert refused(owner)


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
