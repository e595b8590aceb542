"""A player for stored audio, for lists and pages of the admin. Nothing is loaded before somebody presses play."""

from __future__ import annotations

from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from synth import service
from synth.types import StoredAudio
from tenants.encryption import EncryptionKeyRequired
from tenants.types import TenantRef

# Samples without a header: no browser plays them, so they are offered as a file.
HEADERLESS = frozenset({"pcm"})


def player(tenant: TenantRef, stored: StoredAudio) -> SafeString | str:
    try:
        signed = service.signed_url(tenant, stored)
    except EncryptionKeyRequired:
        return gettext("Only the tenant can hear this: it alone has the key.")
    except LookupError:  # a row may outlive the format that it was made with
        return gettext("This format is not installed.")
    context = {"url": signed.url, "stored": stored, "playable": stored.format not in HEADERLESS}
    return render_to_string("admin/synth/player.html", context)
