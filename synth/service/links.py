"""Temporary addresses of stored audio, for answers, pages and events: they are signed when they are told."""

import time
from datetime import UTC, datetime
from typing import Any

from synth import wiring
from synth.cache.local import SignedUrl
from synth.codec import utc
from synth.conf import conf
from synth.stored import audio_object
from synth.types import StoredAudio
from tenants.types import TenantRef


def signed_url(tenant: TenantRef, stored: StoredAudio) -> SignedUrl:
    """A temporary URL of the audio; one is shared by all answers until half of its time is over."""
    name = audio_object(tenant, stored.digest, stored.format)
    ttl = conf().url_ttl
    held = wiring.local_cache().url(name, ttl=ttl)
    if held is None:
        expires_at = time.time() + ttl  # before signing: never told later than it is
        held = SignedUrl(wiring.object_store().url(name, expires_in=ttl), expires_at)
        wiring.local_cache().keep_url(name, held)
    return held


def url_members(tenant: TenantRef, stored: StoredAudio) -> dict[str, Any]:
    """The URL as answers and events have it."""
    signed = signed_url(tenant, stored)
    return {"url": signed.url, "url_expires_at": utc(datetime.fromtimestamp(signed.expires_at, UTC))}
