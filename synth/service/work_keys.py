"""Lends a tenant's own key to the workers that need it: wrapped by the platform's, for one piece of work, some minutes.

A door lends it with the rows of the work, in their transaction; a worker has it at hand while it does that work.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from uuid import UUID

from synth.errors import WorkError
from synth.models import WorkKey
from synth.models.clock import database_now
from synth.service.sealing import key_for, presented
from tenants.encryption import EncryptionUnavailable, SealingKey, Unwrappable, is_own
from tenants.sealing import platform_keys
from tenants.types import TenantRef

# With the minute in which the sweeper deletes it, 15 at most.
LENT_FOR = timedelta(minutes=14)


class KeyGone(WorkError):  # noqa: N818
    """The tenant's own key is needed, and the time for which it was lent is over."""

    code = "encryption_key_expired"


def lend(tenant: TenantRef, work: UUID, key_id: str | None) -> None:
    """Let workers use the tenant's own key, which is at hand, for this piece of work; nothing for any other key."""
    if not is_own(key_id or ""):
        return
    key = key_for(tenant, key_id or "")
    try:
        wrapped = platform_keys().wrap(key.secret, purpose=_purpose(tenant, work))
    except Unwrappable as error:
        raise EncryptionUnavailable from error
    told = {"tenant_id": tenant.id, "key_id": key.id, "wrapped": wrapped, "expires_at": database_now() + LENT_FOR}
    WorkKey.objects.update_or_create(work=work, defaults=told)


def take_back(works: Iterable[UUID]) -> None:
    """Called when these pieces of work end."""
    WorkKey.objects.filter(work__in=list(works)).delete()


def forget_lent() -> None:
    """Delete those whose time is over."""
    WorkKey.objects.filter(expires_at__lte=database_now()).delete()


@contextmanager
def at_work(tenant: TenantRef, key_id: str | None) -> Iterator[None]:
    """Have at hand what this work needs. Raises KeyGone."""
    if not is_own(key_id or ""):
        yield
        return
    with presented(_lent(tenant, key_id or ""), to_a_worker=True):
        yield


def _lent(tenant: TenantRef, key_id: str) -> SealingKey:
    """Whichever piece of work it was lent for: sentences are spoken for several."""
    rows = WorkKey.objects.filter(tenant_id=tenant.id, key_id=key_id, expires_at__gt=database_now())
    row = rows.order_by("-expires_at").first()
    if row is None:
        raise KeyGone
    try:
        return SealingKey(key_id, platform_keys().unwrap(row.wrapped, purpose=_purpose(tenant, row.work)))
    except Unwrappable as error:
        raise KeyGone from error


def _purpose(tenant: TenantRef, work: UUID) -> str:
    return f"own key of {tenant.id.hex} for {work.hex}"
