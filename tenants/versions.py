"""Snapshot versions: every change to what a tenant's snapshot holds calls `raise_versions` in its transaction.

After the commit the new versions go to the publisher that synth registers; the sweeper repairs what it misses.
"""

from collections.abc import Callable, Iterable, Mapping
from uuid import UUID

from django.db import transaction
from django.db.models import F

from tenants.models import Tenant

Publisher = Callable[[Mapping[UUID, int]], object]


def nowhere(versions: Mapping[UUID, int]) -> None:
    """The publisher until another one is set."""


class _Outlet:
    publisher: Publisher = staticmethod(nowhere)


def set_publisher(publisher: Publisher) -> Publisher:
    """Send new versions to `publisher` from now on; the one before it is returned."""
    before = _Outlet.publisher
    _Outlet.publisher = staticmethod(publisher)
    return before


@transaction.atomic
def raise_versions(tenant_ids: Iterable[UUID] | None = None) -> None:
    """Raise the version of these tenants (None: of all), and publish the new ones once this is committed."""
    rows = Tenant.objects.order_by()
    if tenant_ids is not None:
        rows = rows.filter(id__in=list(tenant_ids))
    rows.update(snapshot_version=F("snapshot_version") + 1)
    versions = dict(rows.values_list("id", "snapshot_version"))

    def publish() -> None:
        _Outlet.publisher(versions)

    # Robust: Django logs what the publisher raises; the change itself is committed and the request goes on.
    transaction.on_commit(publish, robust=True)
