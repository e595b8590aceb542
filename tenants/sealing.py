"""Which keys a tenant's things are sealed with: changes of mode and of keys, and the platform's keys for use."""

from dataclasses import dataclass
from secrets import token_bytes
from threading import Lock
from uuid import UUID

from cachetools import LRUCache
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from tenants import encryption
from tenants.encryption import KEY_BYTES, OWN, PLATFORM, EncryptionUnavailable, PlatformKeys, SealingKey, Unwrappable
from tenants.errors import FieldProblem, InvalidRequest, NotFound
from tenants.errors import untranslated as _
from tenants.ids import parse_id, public_id
from tenants.models import DataKey, OwnKey, Tenant
from tenants.types import TenantRef
from tenants.versions import raise_versions

MOST_OWN_KEYS = 20
MAX_HELD = 5_000
_lock = Lock()
_held: LRUCache[str, SealingKey] = LRUCache(MAX_HELD)


@dataclass(frozen=True, slots=True)
class Rotated:
    """What `rotate` did: keys that were wrapped anew, that were right already, and that none of the keys opens."""

    wrapped: int = 0
    current: int = 0
    closed: int = 0


def platform_keys() -> PlatformKeys:
    return PlatformKeys(settings.REFRAIN_ENCRYPTION_KEYS)


@transaction.atomic
def set_encryption(tenant: Tenant, mode: str) -> Tenant:
    """From the next request on. What was kept before stays as it is, and is not used any more.

    Raises InvalidRequest where the platform has no key to wrap with.
    """
    if mode != Tenant.Encryption.NONE and not platform_keys().current:
        message = _("Set REFRAIN_ENCRYPTION_KEYS first: without it nothing can be encrypted.")
        raise InvalidRequest(message, fields=(FieldProblem("encryption", "no_platform_key", message),))
    if mode == Tenant.Encryption.PLATFORM and not DataKey.objects.filter(tenant=tenant).exists():
        _new_data_key(tenant.id)
    tenant.encryption = mode
    tenant.save(update_fields=["encryption"])
    raise_versions([tenant.id])
    tenant.refresh_from_db(fields=["snapshot_version"])
    return tenant


def current_key_id(tenant: Tenant) -> str:
    """Of the platform's key for what is sealed from now on; "" for a tenant whose things it does not seal."""
    if tenant.encryption != Tenant.Encryption.PLATFORM:
        return ""
    newest = DataKey.objects.filter(tenant=tenant).values_list("id", flat=True).first()
    return public_id(PLATFORM, newest) if newest else ""


def data_key(tenant: TenantRef, key_id: str) -> SealingKey:
    """A platform's key of this tenant; SQL only at its first use in a process. Raises EncryptionUnavailable."""
    name = f"{tenant.id.hex}/{key_id}"
    with _lock:
        held = _held.get(name)
    if held is None:
        held = _opened(tenant, key_id)
        with _lock:
            _held[name] = held
    return held


def forget_keys() -> None:
    """Open them anew at their next use."""
    with _lock:
        _held.clear()


@transaction.atomic
def register_own_key(tenant: TenantRef, key: SealingKey, *, name: str = "") -> tuple[OwnKey, bool]:
    """Let this key be used from the next request on; False beside one that was registered before."""
    Tenant.objects.select_for_update().get(id=tenant.id)  # of two who add the last one, one comes second
    known = OwnKey.objects.filter(tenant_id=tenant.id, key_id=key.id).first()
    if known is not None:
        return known, False
    if OwnKey.objects.filter(tenant_id=tenant.id).count() >= MOST_OWN_KEYS:
        message = _("At most %(maximum)s encryption keys can be registered. Delete one first.")
        raise InvalidRequest(message, code="too_many_encryption_keys", params={"maximum": MOST_OWN_KEYS})
    row = OwnKey.objects.create(tenant_id=tenant.id, key_id=key.id, name=name)
    raise_versions([tenant.id])
    return row, True


@transaction.atomic
def forget_own_key(tenant: TenantRef, key_id: str) -> None:
    """Refuse this key from the next request on. Raises NotFound."""
    known = parse_id(OWN, key_id) is not None  # else it may hold what no database looks up
    if not known or not OwnKey.objects.filter(tenant_id=tenant.id, key_id=key_id).delete()[0]:
        raise NotFound
    raise_versions([tenant.id])


def own_keys(tenant: TenantRef) -> QuerySet[OwnKey]:
    """Those that are registered, the newest first."""
    return OwnKey.objects.filter(tenant_id=tenant.id)


def own_key_ids(tenant: TenantRef) -> frozenset[str]:
    return frozenset(OwnKey.objects.filter(tenant_id=tenant.id).order_by().values_list("key_id", flat=True))


def rotate() -> Rotated:
    """Wrap every key by the current one of the settings. No object is changed, and reading goes on meanwhile."""
    keys, wrapped, current, closed = platform_keys(), 0, 0, 0
    for row in DataKey.objects.order_by("id").iterator():
        if encryption.wrapped_by(row.wrapped) == keys.current:
            current += 1
            continue
        purpose = _purpose(row.tenant_id, row.key_id)
        try:
            anew = keys.wrap(keys.unwrap(row.wrapped, purpose=purpose), purpose=purpose)
        except Unwrappable:
            closed += 1
            continue
        # Only over what was read: another one who rotates may have been faster.
        wrapped += DataKey.objects.filter(id=row.id, wrapped=row.wrapped).update(wrapped=anew)
    return Rotated(wrapped, current, closed)


def _new_data_key(tenant_id: UUID) -> None:
    row = DataKey(tenant_id=tenant_id)
    row.wrapped = platform_keys().wrap(token_bytes(KEY_BYTES), purpose=_purpose(tenant_id, row.key_id))
    row.save(force_insert=True)


def _opened(tenant: TenantRef, key_id: str) -> SealingKey:
    row_id = parse_id(PLATFORM, key_id)
    wrapped = DataKey.objects.filter(tenant_id=tenant.id, id__in=[row_id]).values_list("wrapped", flat=True).first()
    if wrapped is None:
        raise EncryptionUnavailable
    try:
        return SealingKey(key_id, platform_keys().unwrap(wrapped, purpose=_purpose(tenant.id, key_id)))
    except Unwrappable as error:
        raise EncryptionUnavailable from error


def _purpose(tenant_id: UUID, key_id: str) -> str:
    return f"data key {key_id} of {tenant_id.hex}"
