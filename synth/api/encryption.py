"""`Refrain-Encryption-Key`: a tenant's own key, read from the header and held at hand while its request is answered."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from synth.api.express import ENCRYPTION_KEY
from synth.service import presented
from synth.snapshot import Snapshot
from tenants.authentication import caller_of
from tenants.encryption import (
    EncryptionKeyRefused,
    EncryptionKeyRequired,
    EncryptionKeyUnexpected,
    SealingKey,
    read_own_key,
)
from tenants.sealing import own_key_ids

HEADER = "Refrain-Encryption-Key"
PARAMETER = [
    OpenApiParameter(
        HEADER,
        str,
        OpenApiParameter.HEADER,
        description="The base64 of your own 256-bit key, where your speech is kept under one. It is never stored.",
    )
]


def key_of_speech(environ: Mapping[str, Any], snapshot: Snapshot) -> SealingKey | None:
    """The key that a request for speech came with, by what the snapshot knows.

    Raises EncryptionKeyRequired, EncryptionKeyRefused and EncryptionKeyUnexpected.
    """
    said = environ.get(ENCRYPTION_KEY)
    if snapshot.own_keys is None:
        if said is not None:
            raise EncryptionKeyUnexpected
        return None
    if said is None:
        raise EncryptionKeyRequired
    return _registered(read_own_key(snapshot.tenant.id, said), snapshot.own_keys)


def with_own_key(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a method of a REST framework view: the key that came, if one did, is at hand in it."""

    @wraps(method)
    def answer(view: Any, request: Request, *args: Any, **kwargs: Any) -> Any:
        said = request.META.get(ENCRYPTION_KEY)
        if said is None:
            return method(view, request, *args, **kwargs)
        tenant = caller_of(request).tenant
        key = _registered(read_own_key(tenant.id, said), own_key_ids(tenant))
        with presented(key):
            return method(view, request, *args, **kwargs)

    return answer


def _registered(key: SealingKey, known: frozenset[str]) -> SealingKey:
    if key.id not in known:
        raise EncryptionKeyRefused
    return key
