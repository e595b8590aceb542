"""Writes down what each request used, once: hits from their events in Redis, all others from rows. An io worker drains.

A usage row's id is known beforehand, from the request or the job: to write one again changes nothing. So events leave
Redis only once their rows are committed, and whoever dies in between does no harm.
"""

import logging
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID, uuid5

from django.db import transaction
from django.db.models import Q, Sum
from django.utils import timezone
from redis import RedisError

from synth import wiring
from synth.cache.usage_stream import BATCH, Event, Losses, Today, UsageStreams
from synth.models import Job
from synth.service.audit_proof import anchor_heads
from synth.service.auditing import append_gap, append_hits, drain_audit
from synth.service.failures import count_failures
from synth.service.quotas import give_back_failed
from synth.spec import SpeechRequest
from synth.types import CacheMode, StoredAudio
from tenants.ids import parse_id
from tenants.models import Usage
from tenants.models.usage import GAP
from tenants.types import Caller, TenantRef
from tenants.usage import correct_gap, write_usage

logger = logging.getLogger(__name__)

DRAIN_SECONDS = 5.0  # of one tenant at a time
OUTCOMES = {"hit": "hit", "stale_hit": "stale"}
OUTCOMES_OF_JOBS = {CacheMode.USE: "miss", CacheMode.REFRESH: "refresh", CacheMode.BYPASS: "bypass"}
REFUSED = "refused"
_draining = threading.Lock()


def drain_usage() -> None:
    """One round, at most one at a time in a process; two of different processes do no harm."""
    if not _draining.acquire(blocking=False):
        return
    try:
        account_jobs()
        _drain_streams()
        drain_audit()
        anchor_heads()
    finally:
        _draining.release()


def account_jobs() -> None:
    """Usage of the jobs that have ended."""
    ended = Job.objects.filter(accounted=False, ended_at__isnull=False).select_related("rendering")
    while jobs := list(ended.order_by("ended_at")[:BATCH]):
        give_back_failed(jobs)
        with transaction.atomic():
            mine = _taken(jobs)
            write_usage([_of_job(job) for job in mine])
            count_failures(mine)
        if len(jobs) < BATCH:
            return


def _taken(jobs: Sequence[Job]) -> list[Job]:
    """Those that no other process accounts for: they are marked, in the transaction that writes their usage."""
    free = Job.objects.select_for_update(skip_locked=True, no_key=True).filter(
        id__in=[job.id for job in jobs], accounted=False
    )
    mine = set(free.order_by().values_list("id", flat=True))
    Job.objects.filter(id__in=mine).update(accounted=True)
    return [job for job in jobs if job.id in mine]


def record_restored(
    caller: Caller, request: SpeechRequest, stored: StoredAudio, *, outcome: str, request_id: str
) -> None:
    """Usage of a request that the catalogue answered: there is no event, and no job."""
    manner = request.spec.manner
    row = Usage(
        id=parse_id("req", request_id) or uuid5(caller.tenant.id, f"{stored.id} {time.time_ns()}"),
        tenant_id=caller.tenant.id,
        api_key_id=caller.key_id,
        at=timezone.now(),
        outcome=outcome,
        engine=manner.engine,
        voice=manner.voice,
        language=manner.language,
        category=request.category,
        delivery=request.delivery,
        characters=request.characters,
        duration=stored.duration,
        request_id=request_id,
    )
    write_usage([row])


def take_back_usage(caller: Caller, request_id: str) -> None:
    """Charge nothing for a hit that could not be opened: its event, whenever it is written down, finds this row."""
    row_id = parse_id("req", request_id)
    if row_id is not None:
        told = {"outcome": REFUSED, "count": 0, "characters": 0, "duration": None}
        named = {"tenant_id": caller.tenant.id, "api_key_id": caller.key_id, "at": timezone.now()}
        Usage.objects.update_or_create(
            id=row_id, defaults=told, create_defaults={**told, **named, "request_id": request_id}
        )


def today(tenant: TenantRef) -> Today:
    """What the tenant has asked since midnight (UTC)."""
    now = timezone.now().astimezone(UTC)
    rows = Usage.objects.filter(tenant_id=tenant.id, at__gte=now.replace(hour=0, minute=0, second=0, microsecond=0))
    found = rows.aggregate(requests=Sum("count"), hits=Sum("count", filter=Q(outcome__in=[*OUTCOMES.values(), GAP])))
    return Today(int(now.timestamp()) // 86_400, found["requests"] or 0, found["hits"] or 0)


def _drain_streams() -> None:
    streams = wiring.usage_streams()
    if not streams.breaker.allows():
        return
    try:
        for tenant in streams.waiting():
            _drain(streams, tenant)
    except (RedisError, OSError) as error:
        streams.breaker.failed(error)
    else:
        streams.breaker.succeeded()


def _drain(streams: UsageStreams, tenant: TenantRef) -> None:
    ends_at = time.monotonic() + DRAIN_SECONDS
    while (events := streams.read(tenant)) and time.monotonic() < ends_at:
        with transaction.atomic():
            write_usage([_of_event(tenant, event) for event in events])
            append_hits(tenant, events)
        losses = streams.taken(tenant, events)
        if losses.count:
            _note_losses(streams, tenant, losses)


def _note_losses(streams: UsageStreams, tenant: TenantRef, losses: Losses) -> None:
    """One row for what was lost since the last time. When it is found again, perhaps grown, it is the same row."""
    logger.error("usage of %d hits of tenant %s was cut before it was written down", losses.count, tenant.id)
    row = Usage(
        id=uuid5(tenant.id, f"{losses.account} {losses.told}"),
        tenant_id=tenant.id,
        at=timezone.now(),
        outcome=GAP,
        count=losses.count,
    )
    correct_gap(row)
    append_gap(tenant, losses, what="hits")
    streams.losses_told(tenant, losses)


def _of_event(tenant: TenantRef, event: Event) -> Usage:
    request = event.request
    return Usage(
        id=parse_id("req", request.request_id) or uuid5(tenant.id, event.stream_id),
        tenant_id=tenant.id,
        api_key_id=UUID(hex=request.key_id),
        at=datetime.fromtimestamp(event.at, UTC),
        outcome=OUTCOMES.get(event.outcome, event.outcome),
        engine=request.engine,
        voice=request.voice,
        language=request.language,
        category=request.category,
        delivery=request.delivery,
        characters=request.characters,
        duration=event.duration,
        request_id=request.request_id,
    )


def _of_job(job: Job) -> Usage:
    return Usage(
        id=job.id,
        tenant_id=job.tenant_id,
        api_key_id=job.api_key_id,
        at=job.ended_at or job.created_at,
        outcome=OUTCOMES_OF_JOBS[CacheMode(job.cache)] if job.rendering.stored else "bypass",
        state=job.state,
        engine=job.engine,
        voice=job.voice,
        language=job.language,
        category=job.category,
        characters=job.characters,
        duration=job.rendering.duration,
        request_id=job.request_id,
    )
