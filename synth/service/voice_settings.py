"""Every change of what a tenant wants of its voices. The admin calls these; they act on the next request everywhere."""

from collections.abc import Iterable

from django.db import transaction

from synth.models import VoiceSettings
from tenants.versions import raise_versions


@transaction.atomic
def save_voice_settings(settings: VoiceSettings) -> None:
    settings.save()
    raise_versions([settings.tenant_id])


@transaction.atomic
def delete_voice_settings(rows: Iterable[VoiceSettings]) -> None:
    """The defaults count from then on."""
    tenant_ids = [row.tenant_id for row in rows]
    VoiceSettings.objects.filter(tenant_id__in=tenant_ids).delete()
    raise_versions(tenant_ids)
