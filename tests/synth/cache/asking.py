"""Asks a RenditionCache as the service does, with one keyword for each thing that a test is about."""

import time
from collections.abc import Sequence
from typing import Any

from redis import Redis

from synth.cache.asking import Gate, Lookup, Wanted
from synth.cache.incarnation import Incarnation
from synth.cache.policy import Retention
from synth.cache.store import RenditionCache
from synth.cache.usage_stream import Request, Today
from synth.types import StoredAudio
from tenants.types import Limit, TenantRef

KEY = "k" * 64
VERSION = 5


def today(*, requests: int = 0, hits: int = 0) -> Today:
    return Today(day=int(time.time()) // 86_400, requests=requests, hits=hits)


def make_cache(redis: Redis, *tenants: TenantRef, **options: Any) -> RenditionCache:
    """One that knows these tenants, and believes Redis."""
    options = {"audio_limit": 1000, "expiry": 600, "incarnation": Incarnation(), **options}
    made = RenditionCache(lambda: redis, **options)
    for tenant in tenants:
        made.confirm(tenant, VERSION, incarnation=made.incarnation)
        made.seed(tenant, today())
    return made


def sound(digest: str = "d", *, age: float = 0.0) -> StoredAudio:
    """A finished rendition of three bytes."""
    return StoredAudio(
        id="ent_1",
        digest=digest,
        format="mp3",
        media_type="audio/mpeg",
        size=3,
        duration=1.5,
        sample_rate=24_000,
        made=time.time() - age,
    )


def event(request_id: str = "req_1") -> bytes:
    return Request(
        request_id=request_id,
        key_id="0" * 32,
        engine="counting",
        voice="nobody",
        language="en",
        category="",
        delivery="url",
        characters=12,
    ).packed()


def look(
    cache: RenditionCache,
    tenant: TenantRef,
    *,
    version: int = VERSION,
    max_age: float = 60,
    want_audio: bool = False,
    held_digest: str = "",
    tenant_limit: Limit | None = None,
    key_limit: Limit | None = None,
    api_key: str = "a",
    counted: bool = False,
    request_id: str = "req_1",
    keys: Sequence[str] = (KEY,),
    **rule: Any,
) -> Lookup:
    gate = Gate(version=version, key=api_key, tenant_limit=tenant_limit, key_limit=key_limit, counted=counted)
    retention = Retention(rule="", max_age=max_age, **rule)
    wanted = Wanted(retention=retention, want_audio=want_audio, held_digest=held_digest, event=event(request_id))
    return cache.look_up(tenant, keys, gate=gate, wanted=wanted)
