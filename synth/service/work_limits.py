"""How many requests of a tenant may wait at a time: counted in the transaction that adds one. submission.py asks.

What batches, warming and renewals have made does not count, and is bounded by how many of their lines are open.
"""

from typing import Any

from django.db.models import Count, QuerySet, Subquery
from django.db.models.functions import Coalesce

from synth.conf import conf
from synth.models import Job
from synth.models.locks import one_at_a_time
from synth.models.prepared import prepared_rows
from synth.models.states import OPEN, Priority
from tenants.models import Tenant
from tenants.types import Caller, TenantRef

RETRY_AFTER = 5.0
# So many transactions may add jobs to one tenant at a time and not see each other's. No more can be open: PostgreSQL
# has 100 connections unless it is told otherwise. Only where so many could reach the limit is one let in at a time.
UNSEEN = 200


def limit_reached(caller: Caller) -> int | None:
    """How many may wait, when so many do; None while there is room for one more: of the tenant, and of its key.

    To be asked before anything else in the transaction that adds it.
    """
    tenant = caller.tenant
    if caller.max_open_jobs:
        one_at_a_time(f"jobs of {tenant.id}")
        of_tenant = Job.objects.filter(tenant_id=tenant.id, priority=Priority.INTERACTIVE, state__in=OPEN)
        if of_tenant.filter(api_key_id=caller.key_id).count() >= caller.max_open_jobs:
            return caller.max_open_jobs
    most, waiting = _standing(tenant)
    if not most:
        return None
    if waiting < most <= waiting + UNSEEN:
        one_at_a_time(f"jobs of {tenant.id}")
        most, waiting = _standing(tenant)
    return most if waiting >= most else None


def _standing(tenant: TenantRef) -> tuple[int, int]:
    """The limit, 0 for none, and how many wait."""
    ((own, waiting),) = _open_jobs(tenant_id=tenant.id)
    return (conf().max_open_jobs if own is None else own), waiting


@prepared_rows
def _open_jobs(tenant_id: Any) -> QuerySet[Tenant, tuple[int | None, int]]:
    waiting = Job.objects.filter(tenant_id=tenant_id, priority=Priority.INTERACTIVE, state__in=OPEN).order_by()
    counted = waiting.values("tenant_id").annotate(number=Count("*")).values("number")
    return Tenant.objects.filter(id=tenant_id).order_by().values_list("max_open_jobs", Coalesce(Subquery(counted), 0))
