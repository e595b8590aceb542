"""What a tenant sees as done is known to its next request, also in the moment before Redis is told."""

import pytest
from django.db.models import F

from synth.models import ClonedVoice
from tenants.models import Tenant
from tests.api.caller import Caller, refused_fields

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]


def test_a_voice_that_is_ready_can_speak(owner: Caller) -> None:
    tenant = owner.member.tenant
    assert owner.speak().status_code == 202  # the process knows its tenant from now on
    assert refused_fields(owner.speak(voice="anna")) == {"voice": "unknown_voice"}
    ClonedVoice.objects.create(
        tenant=tenant, name="anna", engine="counting", language="en", state="succeeded", upload="gone",
        upload_size=1, fingerprint="ref:anna",
    )  # fmt: skip
    Tenant.objects.filter(id=tenant.id).update(snapshot_version=F("snapshot_version") + 1)  # past what tells Redis
    answer = owner.speak(voice="anna")
    assert (answer.status_code, answer.json()["voice"]) == (202, "anna")
