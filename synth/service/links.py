"""Temporary addresses of stored audio, for answers, pages and events: they are signed when they are told."""

import time
from datetime import UTC, datetime
from typing import Any

from synth import wiring
from synth.cache.local import SignedUrl
from synth.codec import utc
from synth.conf import conf
from synth.sealing.format import Label
from synth.sealing.tickets import Ticket
from synth.service.sealing import is_at_hand, opening
from synth.stored import audio_object
from synth.types import StoredAudio
from tenants.encryption import is_own
from tenants.types import TenantRef

# No longer than a worker may have a tenant's own key.
MOST_SECONDS_OF_OWN_KEY = 900


def signed_url(tenant: TenantRef, stored: StoredAudio) -> SignedUrl:
    """A temporary URL of the audio; one is shared by all answers until half of its time is over.

    Of a sealed sound it is one of ours, which opens it while it is played. Raises EncryptionKeyRequired and
    EncryptionKeyRefused where that takes the tenant's own key.
    """
    name = audio_object(tenant, stored.digest, stored.format)
    if is_own(stored.sealed_by):  # never out of the memory, for somebody who has not sent the key
        return sealed_url(tenant, name, stored.media_type, key_id=stored.sealed_by, seconds=conf().url_ttl)
    ttl = conf().url_ttl
    held = wiring.local_cache().url(name, ttl=ttl)
    if held is None:
        expires_at = time.time() + ttl  # before signing: never told later than it is
        if stored.sealed_by:
            held = sealed_url(tenant, name, stored.media_type, key_id=stored.sealed_by, seconds=ttl)
        else:
            held = SignedUrl(wiring.object_store().url(name, expires_in=ttl), expires_at)
        wiring.local_cache().keep_url(name, held)
    return held


def sealed_url(tenant: TenantRef, name: str, media_type: str, *, key_id: str, seconds: int) -> SignedUrl:
    """The address of a sealed object, with a ticket in it. Raises as `signed_url` does."""
    secret = b""
    if is_own(key_id):
        seconds = min(seconds, MOST_SECONDS_OF_OWN_KEY)
        secret = opening(tenant, name, media_type, key_id=key_id).secret
    expires = int(time.time()) + seconds
    ticket = Ticket(Label(tenant.id, name, media_type), key_id, expires, secret)
    return SignedUrl(f"{conf().public_url}/sealed/{wiring.ticket_office().issue(ticket)}", expires)


def url_members(tenant: TenantRef, stored: StoredAudio) -> dict[str, Any]:
    """The URL as answers and events have it; none where it takes a key of the tenant's that is not at hand."""
    if not is_at_hand(stored.sealed_by):
        return {"url": None, "url_expires_at": None}
    signed = signed_url(tenant, stored)
    return {"url": signed.url, "url_expires_at": utc(datetime.fromtimestamp(signed.expires_at, UTC))}
