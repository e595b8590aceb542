"""Spec -> keys. Pure. A key is the digest of every input that changes the sound, and of nothing else."""

from dataclasses import fields, is_dataclass, replace
from enum import StrEnum
from functools import lru_cache
from hashlib import sha256
from typing import Any

import orjson

from synth.types import CLONED, EngineCard, Manner, Segment, Spec, Voice
from tenants.types import TenantRef

KEY_SCHEMA = 1
LANE = 0  # all of one tenant shares one slot of a Redis Cluster; the number is kept for splitting it later
REDIS_FORMAT = 1
MAX_SLOTS = 20_000
# The names without a tenant: who may have a stream of usage, who one of audit events, and when the sweeper was last
# through.
USAGE_TENANTS = f"rf{REDIS_FORMAT}:usage-tenants"
AUDIT_TENANTS = f"rf{REDIS_FORMAT}:audit-tenants"
SWEPT = f"rf{REDIS_FORMAT}:swept"


class Kind(StrEnum):
    """What a scoped name names."""

    VERSION = "version"  # the tenant's snapshot version
    PURGES = "purges"  # the number of the last of its purges that Redis has followed
    ENTRY = "entry"  # metadata of a rendition
    AUDIO = "audio"  # its bytes, where they are few enough
    ACCOUNT = "account"  # the tenant's counters and the buckets of its rate limits
    HANDOVER = "handover"  # a fresh sentence on its way to the io worker, by its digest
    CHARGE = "charge"  # that a job's characters were counted, or given back
    USAGE = "usage"  # the stream of what its hits used
    AUDIT = "audit"  # the stream of what else was asked and done
    AUDITED = "audited"  # its counters


def rendition_key(spec: Spec) -> str:
    """64 hexadecimal digits."""
    return _digest("rendition", spec)


def spoken_by(card: EngineCard, spec: Spec) -> Spec | None:
    """The same as another version of its engine speaks it; None where that has not the voice."""
    voice = voice_on(card, spec.manner)
    if voice is None:
        return None
    manner = replace(spec.manner, model_version=card.model_version, voice_fingerprint=voice.fingerprint)
    return replace(spec, manner=manner)


def voice_on(card: EngineCard, manner: Manner) -> Voice | None:
    """The voice as this version of its engine has it. A tenant's own sounds like its reference on every version."""
    if manner.voice_fingerprint.startswith(CLONED):
        spoken = card.cloning.languages if card.cloning else None
        return Voice(manner.voice, card.name, manner.voice_fingerprint, spoken) if spoken else None
    return next((voice for voice in card.voices if voice.name == manner.voice), None)


def references_of(manner: Manner) -> tuple[str, ...]:
    """The fingerprints of the tenant's own voices that this sounds like, each once."""
    named = (manner.voice_fingerprint, (manner.emotion and manner.emotion.reference) or "")
    return tuple(sorted({fingerprint for fingerprint in named if fingerprint.startswith(CLONED)}))


def segment_key(segment: Segment) -> str:
    """64 hexadecimal digits. Holds no output form: every format is made from the same segments."""
    return _digest("segment", segment)


def scoped(tenant: TenantRef, *parts: str) -> str:
    """The one place where a name is put under its tenant: `<tenant>/<part>/…`."""
    return "/".join((tenant.id.hex, *parts))


def redis_key(tenant: TenantRef, kind: Kind, name: str = "") -> str:
    """A Redis key. The braces keep everything of one tenant in one slot of a Cluster."""
    return _slot(tenant) + kind + ":" + name


@lru_cache(MAX_SLOTS)
def _slot(tenant: TenantRef) -> str:
    """Kept, since a hit names five keys, and to write this costs more than to look it up."""
    return f"rf{REDIS_FORMAT}:{{{scoped(tenant, str(LANE))}}}:"


def object_name(tenant: TenantRef, digest: str, extension: str) -> str:
    """An object's name in storage, by the digest of its bytes: a URL once given out never changes its sound."""
    return scoped(tenant, digest[:2], f"{digest}.{extension}")


def canonical(value: Any) -> Any:
    """Frozen values as plain JSON values, each dataclass field under its name.

    Numbers are floats throughout where the type says so, thus `1` and `1.0` are one key: spec.py sees to that.
    Zero has no sign here. A field marked LATER counts only where it is set: no key that was there before changes.
    """
    if is_dataclass(value) and not isinstance(value, type):
        said = ((item, getattr(value, item.name)) for item in fields(value))
        return {item.name: canonical(held) for item, held in said if held is not None or not item.metadata}
    if isinstance(value, (tuple, list)):
        return [canonical(item) for item in value]
    return value + 0.0 if isinstance(value, float) else value


def _digest(what: str, value: Spec | Segment) -> str:
    body = {"schema": KEY_SCHEMA, "what": what, "value": canonical(value)}
    return sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).hexdigest()
