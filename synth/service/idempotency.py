"""Requests with an `Idempotency-Key`: the first one is carried out, equal ones get its answer. The doors call these.

Who carries a request out holds a lease on its row, fenced by an attempt number. Where its process dies, the next equal
request goes on with the same row, and so with the same id for what is made of it.
"""

import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypeVar
from uuid import UUID

from django.db import DatabaseError, IntegrityError, InterfaceError, transaction
from django.db.models import QuerySet

from synth import metrics
from synth.errors import IdempotencyInProgress, IdempotencyKeyReused
from synth.metrics import Repetition
from synth.models import IdempotentRequest
from synth.models.clock import database_now
from tenants.errors import Problem
from tenants.types import TenantRef

logger = logging.getLogger(__name__)

KEPT = timedelta(hours=24)
# What carrying a request out may take, beside the time that it waits for its work.
GRACE = timedelta(seconds=30)
# How often `holding` lengthens that.
HOLD_EVERY = 5.0
RETRY_AFTER = 1
MAX_LOOKS = 4
BATCH = 500
BATCHES = 40

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeatable:
    """A request that may be sent again: its tenant's key for it, and a digest of all that it says."""

    tenant: TenantRef
    key: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Undertaking:
    """The right to carry a request out. `id` is the same in every attempt: what is made of it may bear it."""

    id: UUID
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnswer:
    """An answer as it is kept: `body` is plain JSON values, of which the door alone knows the form."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None


def undertake(request: Repeatable, *, lease: timedelta = GRACE) -> Undertaking | KeptAnswer:
    """The right to carry this request out, or the answer that it had before.

    Raises IdempotencyKeyReused where the key stands for another request, IdempotencyInProgress while this one runs.
    """
    for _look in range(MAX_LOOKS):
        row = _rows(request).first()
        begun = _first(request, lease) if row is None else _again(row, request, lease)
        if begun is not None:
            return begun
    raise _in_progress()


def holding(items: Iterable[Item], undertaking_id: UUID | None) -> Iterator[Item]:
    """These, one by one; while they are taken, for however long, nobody else may carry the request out."""
    held_at = time.monotonic()
    for item in items:
        if undertaking_id is not None and time.monotonic() - held_at >= HOLD_EVERY:
            held_at = time.monotonic()
            open_row = IdempotentRequest.objects.filter(id=undertaking_id, status=None)
            open_row.update(lease_until=database_now() + GRACE)
        yield item


def keep(undertaking: Undertaking, answer: KeptAnswer) -> None:
    """Keep the answer for equal requests; nothing happens when another attempt has taken over meanwhile."""
    try:
        _held(undertaking).update(status=answer.status, headers=dict(answer.headers), body=answer.body)
    except (DatabaseError, InterfaceError):  # what was done was done, and its answer is the caller's
        logger.exception("the answer to an idempotent request is not kept")


def let_go(undertaking: Undertaking, error: Exception) -> None:
    """Give the right back as the request has failed.

    A refusal frees the key for whatever comes. After a fault of ours work may be under way: an equal request goes on
    with it at once.
    """
    try:
        if isinstance(error, Problem) and error.status < 500:
            _held(undertaking).delete()
        else:
            _held(undertaking).update(lease_until=database_now())
    except (DatabaseError, InterfaceError):  # then the lease runs out
        logger.exception("an idempotent request is not let go")


def forget_requests() -> int:
    """Delete what was kept long enough, up to a bound; how many. The storage sweep calls it."""
    forgotten = 0
    for _batch in range(BATCHES):
        old = IdempotentRequest.objects.filter(created_at__lt=database_now() - KEPT)
        ids = list(old.order_by("created_at").values_list("id", flat=True)[:BATCH])
        forgotten += IdempotentRequest.objects.filter(id__in=ids).delete()[0]
        if len(ids) < BATCH:
            break
    return forgotten


def _first(request: Repeatable, lease: timedelta) -> Undertaking | None:
    """None where an equal one was faster."""
    now = database_now()
    row = IdempotentRequest(
        tenant_id=request.tenant.id,
        key=request.key,
        fingerprint=request.fingerprint,
        lease_until=now + lease,
        created_at=now,
    )
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError:
        return None
    metrics.repetition(Repetition.FIRST)
    return Undertaking(row.id, row.attempt)


def _again(row: IdempotentRequest, request: Repeatable, lease: timedelta) -> Undertaking | KeptAnswer | None:
    """What a row that stands there means for a request; None where it is gone by now."""
    now = database_now()
    if row.created_at < now - KEPT:  # the sweep has not been here yet
        IdempotentRequest.objects.filter(id=row.id).delete()
        return None
    if row.fingerprint != request.fingerprint:
        metrics.repetition(Repetition.REUSED)
        raise IdempotencyKeyReused
    if row.status is not None:
        metrics.repetition(Repetition.REPLAYED)
        return KeptAnswer(status=row.status, headers=row.headers, body=row.body)
    if row.lease_until > now:
        raise _in_progress()
    mine = IdempotentRequest.objects.filter(id=row.id, attempt=row.attempt, status=None, lease_until__lte=now)
    if not mine.update(attempt=row.attempt + 1, lease_until=now + lease):
        return None
    metrics.repetition(Repetition.RESUMED)
    return Undertaking(row.id, row.attempt + 1)


def _in_progress() -> IdempotencyInProgress:
    metrics.repetition(Repetition.IN_PROGRESS)
    return IdempotencyInProgress(retry_after=RETRY_AFTER)


def _rows(request: Repeatable) -> QuerySet[IdempotentRequest]:
    return IdempotentRequest.objects.filter(tenant_id=request.tenant.id, key=request.key).order_by()


def _held(undertaking: Undertaking) -> QuerySet[IdempotentRequest]:
    return IdempotentRequest.objects.filter(id=undertaking.id, attempt=undertaking.attempt, status=None)
