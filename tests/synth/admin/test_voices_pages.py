"""The screens of voices: what they show, whom they let delete, and that nobody changes events."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse

from synth.models import ClonedVoice, VoiceEvent, VoiceSettings
from tests.recordings import CONSENT
from tests.synth.admin.pages import list_of, page_of, players, words
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def voice(world: World) -> ClonedVoice:
    row = ClonedVoice.objects.create(
        tenant=world.owner.tenant,
        name="anna",
        engine="counting",
        language="en",
        fingerprint="ref:" + "0" * 32,
        digest="d" * 64,
        seconds=7.25,
        sample_rate=48_000,
        upload="gone",
        upload_size=1,
        consent_who=CONSENT["who"],
        consent_when=CONSENT["when"],
        consent_wording=CONSENT["wording"],
        state="succeeded",
    )
    VoiceEvent.objects.create(
        tenant=world.owner.tenant, voice_id=row.id, kind="created", name="anna", engine="counting"
    )
    return row


def test_a_voice_shows_its_consent_and_can_be_heard(admin_client, voice):
    assert "Anna Li" in words(admin_client.get(list_of("clonedvoice")).content.decode())
    page = admin_client.get(page_of(voice)).content.decode()
    assert all(text in words(page) for text in (*CONSENT.values(), voice.public_id, "7.25 s", "created"))
    assert len(players(page)) == 1


def test_a_refused_one_says_why(admin_client, voice):
    ClonedVoice.objects.update(
        state="failed", error_code="too_short", error_detail="It lasts %(seconds)s s.", error_params={"seconds": 1.5}
    )
    page = admin_client.get(page_of(voice)).content.decode()
    assert "too_short: It lasts 1.5 s." in words(page)
    assert players(page) == []


def test_deleting_one_needs_the_permission_and_is_noted_with_the_user(client, admin_client, voice):
    address = reverse("admin:synth_clonedvoice_delete_this", args=[voice.id])
    staff = User.objects.create_user("staff", password="staff-password", is_staff=True)
    staff.user_permissions.add(Permission.objects.get(codename="view_clonedvoice"))
    client.force_login(staff)
    assert client.post(address, {"_form_submitted": "on"}).status_code == 403
    assert "Delete this voice?" in admin_client.get(address).content.decode()
    assert ClonedVoice.objects.exists()
    answer = admin_client.post(address, {"_form_submitted": "on"})
    assert answer["HX-Redirect"] == list_of("clonedvoice")
    assert not ClonedVoice.objects.exists()
    assert VoiceEvent.objects.get(kind="deleted").user_name == "admin"


def test_nobody_changes_an_event(admin_client, voice):
    event = VoiceEvent.objects.get()
    assert "anna" in words(admin_client.get(list_of("voiceevent")).content.decode())
    assert admin_client.get(page_of(event)).status_code == 200
    assert admin_client.post(page_of(event), {"name": "x"}).status_code == 403
    delete = reverse("admin:synth_voiceevent_delete", args=[event.id])
    assert admin_client.post(delete, {"post": "yes"}).status_code == 403
    assert VoiceEvent.objects.get().name == "anna"


def test_a_tenant_may_keep_its_uploads(admin_client, world: World):
    answer = admin_client.post(
        reverse("admin:synth_voicesettings_add"), {"tenant": str(world.owner.tenant.id), "keep_uploads": "on"}
    )
    assert answer.status_code == 302
    assert VoiceSettings.objects.get().keep_uploads
