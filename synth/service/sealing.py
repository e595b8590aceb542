"""Seals what is kept of tenants, and opens it: with the platform's key, or the tenant's own while that is at hand.

A tenant's own key is at hand within `presented` alone: a door holds it there for one request, a worker for one piece of
work. So it is no argument of anything, and gets into no row, message or exception.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from synth.audio.formats import get_format
from synth.errors import ObjectMissing
from synth.sealing.format import Label, LabelKey, NotOpened, label_key, name_under, open_sealed, seal
from synth.stored import STORED_FORMAT, audio_object
from synth.types import StoredAudio
from tenants.encryption import EncryptionKeyRefused, EncryptionKeyRequired, OffWithOwnKey, SealingKey, is_own
from tenants.models import Tenant
from tenants.sealing import current_key_id, data_key
from tenants.types import TenantRef

_at_hand: ContextVar[SealingKey | None] = ContextVar("own_key_at_hand", default=None)
_working: ContextVar[bool] = ContextVar("own_key_is_lent", default=False)


class Altered(ObjectMissing):
    """What is kept was altered, or another key has sealed it: as good as lost."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A sound as it is kept: the digest that names it, and its bytes, sealed or in clear."""

    digest: str
    data: bytes


@contextmanager
def presented(key: SealingKey | None, *, to_a_worker: bool = False) -> Iterator[None]:
    """Have a tenant's own key at hand."""
    tokens = _at_hand.set(key), _working.set(to_a_worker)
    try:
        yield
    finally:
        _at_hand.reset(tokens[0])
        _working.reset(tokens[1])


def own_key_at_hand() -> SealingKey | None:
    return _at_hand.get()


def key_for(tenant: TenantRef, key_id: str) -> SealingKey:
    """Raises EncryptionKeyRequired and EncryptionKeyRefused for a tenant's own one, EncryptionUnavailable."""
    if not is_own(key_id):
        return data_key(tenant, key_id)
    held = _at_hand.get()
    if held is None:
        raise EncryptionKeyRequired
    if held.id != key_id:
        raise EncryptionKeyRefused
    return held


def is_at_hand(key_id: str) -> bool:
    """Whether what this key has sealed can be opened here; "" is what is kept in clear."""
    held = _at_hand.get()
    return not is_own(key_id) or (held is not None and held.id == key_id)


def opening(tenant: TenantRef, name: str, media_type: str, *, key_id: str) -> LabelKey:
    """What opens the object of this name. Raises as `key_for` does."""
    return label_key(key_for(tenant, key_id), Label(tenant.id, name, media_type))


def sealed(tenant: TenantRef, name: str, data: bytes, *, media_type: str, key_id: str) -> bytes:
    """As it is kept under this name; in clear where there is no key."""
    return seal(data, opening(tenant, name, media_type, key_id=key_id)) if key_id else data


def opened(tenant: TenantRef, name: str, data: bytes, *, media_type: str, key_id: str) -> bytes:
    """What `sealed` was given. Raises what `refusal` says."""
    if not key_id:
        return data
    key = opening(tenant, name, media_type, key_id=key_id)
    try:
        return open_sealed(data, key)
    except NotOpened:
        raise refusal(key_id) from None


def refusal(key_id: str) -> Exception:
    """What to raise of sealed bytes that do not open: who sent the key is refused, else they are made anew."""
    if is_own(key_id) and not _working.get():
        return EncryptionKeyRefused()
    return Altered("the stored bytes are not the ones that were put there")


def name_of(tenant: TenantRef, digest: str, *, key_id: str) -> str:
    """What names bytes with this digest: where a key seals them nothing that tells them by."""
    return name_under(key_for(tenant, key_id), digest) if key_id else digest


def key_id_now(tenant: TenantRef) -> str:
    """Of the key that seals what is taken in now. Raises EncryptionKeyRequired."""
    row = Tenant.objects.get(id=tenant.id)
    if row.encryption != Tenant.Encryption.OWN:
        return current_key_id(row)
    held = own_key_at_hand()
    if held is None:
        raise EncryptionKeyRequired
    return held.id


def refuse_with_own_key(tenant: TenantRef) -> None:
    """Raises OffWithOwnKey: for what would need the key, or the texts, while the tenant is not there."""
    if Tenant.objects.filter(id=tenant.id, encryption=Tenant.Encryption.OWN).exists():
        raise OffWithOwnKey


def kept_sound(
    tenant: TenantRef, data: bytes, *, digest: str, format_name: str, media_type: str, key_id: str | None
) -> Kept:
    """A finished sound as it is kept in storage, in Redis and on its way."""
    if not key_id:
        return Kept(digest, data)
    digest = name_of(tenant, digest, key_id=key_id)
    name = audio_object(tenant, digest, format_name)
    return Kept(digest, sealed(tenant, name, data, media_type=media_type, key_id=key_id))


def opened_sound(tenant: TenantRef, data: bytes, stored: StoredAudio) -> bytes:
    """The sound in clear, from how it was kept. Raises as `opened` does."""
    name = audio_object(tenant, stored.digest, stored.format)
    return opened(tenant, name, data, media_type=stored.media_type, key_id=stored.sealed_by)


def opened_sentence(tenant: TenantRef, data: bytes, digest: str, *, key_id: str) -> bytes:
    name, media_type = audio_object(tenant, digest, STORED_FORMAT), get_format(STORED_FORMAT).media_type
    return opened(tenant, name, data, media_type=media_type, key_id=key_id)
