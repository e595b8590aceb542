"""Turns a miss into rows: a job on a rendering on its syntheses, each open at most once. Then rings the doorbell."""

from collections.abc import Collection, Iterable, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from synth import engine_time, metrics, wiring
from synth.cache.misses import likeness
from synth.cache.policy import Retention
from synth.errors import SpeechFailed, TooManyJobs
from synth.keys import references_of
from synth.models import ClonedVoice, Entry, Job, Rendering, RenderingPart, Synthesis
from synth.models.chunks import chunks
from synth.models.prepared import insert, insert_all, prepared_rows
from synth.models.states import OPEN, Priority, State
from synth.service.catalogue import fresh_rendition, fresh_segments
from synth.service.orders import Order
from synth.service.sealed_specs import to_row
from synth.service.synthesis_quota import Charge, require_room
from synth.service.webhooks.callbacks import Callback, callback_columns
from synth.service.work_keys import lend
from synth.service.work_limits import RETRY_AFTER, limit_reached
from synth.snapshot import load
from synth.spec import MAX_WAITING_CHARACTERS, SpeechRequest
from synth.types import Segment
from tenants.errors import NotFound
from tenants.ids import new_id
from tenants.quotas import NO_QUOTAS, Quotas
from tenants.types import Caller, TenantRef

# How long a failure that would repeat is answered from memory.
NEGATIVE_TTL = timedelta(seconds=5)


class MadeMeanwhile(Exception):  # noqa: N818
    """The rendition was finished after the caller had looked for it: look again."""

    def __init__(self, entry: Entry) -> None:
        super().__init__(entry.key)
        self.entry = entry


def submit(
    caller: Caller,
    request: SpeechRequest,
    *,
    key: str,
    max_units: int,
    request_id: str,
    priority: int = Priority.INTERACTIVE,
    retention: Retention | None = None,
    job_id: UUID | None = None,
    accounted: bool = False,
    degraded: bool = False,
    callback: Callback | None = None,
    limited: bool = True,
    quotas: Quotas | None = NO_QUOTAS,
) -> Job:
    """Queue what is missing and note who asked. Without a `retention` the rules are read from the database;
    `accounted` says that the request's usage is written already, `degraded` that Redis was away. `callback` is told of
    the end. What is not `limited` is queued even where no more may wait. `quotas` are the tenant's; with None nothing
    is charged.

    Raises TooManyJobs for one more than may wait, QuotaExceeded where engines may speak no more, SpeechFailed for work
    that failed just now and would again, MadeMeanwhile when there is none left to do.
    """
    order = Order(
        tenant=caller.tenant,
        request=request,
        key=key,
        job_id=job_id or new_id(),
        max_units=max_units,
        retention=retention or _retention_now(caller.tenant, request),
        priority=priority,
        charge=None if quotas is None else Charge(caller.key_id),
    )
    if request.characters > MAX_WAITING_CHARACTERS:
        # Takes seconds, in which a transaction would hold up every other writer of SQLite.
        _ = order.sentences
    with transaction.atomic():
        if limited:
            _refuse_if_too_many_wait(order, caller)
        _refuse_if_voice_is_gone(order)
        rendering = _open_rendering(order)
        characters = sum(order.charge.opened.values()) if order.charge else 0
        if characters and quotas is not None:
            require_room(caller, quotas, characters=characters)
        lend(order.tenant, rendering.id, request.spec.manner.encryption_key_id)
        job = create_job(
            caller,
            request,
            rendering,
            job_id=order.job_id,
            priority=order.priority,
            callback=callback,
            request_id=request_id,
            accounted=accounted,
            degraded=degraded,
        )
    _ring(order, rendering)
    return job


def _retention_now(tenant: TenantRef, request: SpeechRequest) -> Retention:
    snapshot = load(tenant.id)
    if snapshot is None:
        raise NotFound
    return snapshot.retention_of(request.spec, request.category)


def open_syntheses(
    tenant: TenantRef,
    segments: Iterable[tuple[str, str, Segment]],
    *,
    stored: bool,
    category: str,
    priority: int,
    charge: Charge | None = None,
) -> dict[str, Synthesis]:
    """The open synthesis of each (flight, key, segment), made where there is none. Keyed by flight.

    Those that are made are noted on the `charge`, and charged; without one nobody pays.

    The rows are locked, so that none can end before the caller has linked its parts to them. All submitters insert
    and lock in the order of the flights: those that share sentences wait for each other, never in a circle.
    """
    wanted = {
        flight: Synthesis(
            tenant_id=tenant.id,
            engine=segment.manner.engine,
            model_version=segment.manner.model_version,
            key=key,
            flight=flight,
            segment=to_row(tenant, segment, key=key),
            category=category,
            stored=stored,
            priority=priority,
            api_key_id=charge.api_key_id if charge else None,
            characters=len(segment.text) if charge else 0,
        )
        for flight, key, segment in segments
    }
    rows = [wanted[flight] for flight in sorted(wanted)]
    try:
        with transaction.atomic():  # nearly always all are new
            insert_all(rows)
        found = wanted
    except IntegrityError:
        found = _join_syntheses(tenant, rows)
    if charge is not None:
        ours = {row.id for row in rows}
        charge.opened.update({row.id: row.characters for row in found.values() if row.id in ours})
    return found


def _join_syntheses(tenant: TenantRef, rows: Sequence[Synthesis]) -> dict[str, Synthesis]:
    """The open synthesis of each of these rows' flights, where some are open already."""
    flights = [row.flight for row in rows]
    while True:
        with transaction.atomic():  # a savepoint: its end lets go of the locks
            Synthesis.objects.bulk_create(rows, ignore_conflicts=True, batch_size=200)
            found: dict[str, Synthesis] = {}
            for chunk in chunks(flights):
                open_now = Synthesis.objects.filter(tenant_id=tenant.id, flight__in=chunk, state__in=OPEN)
                found |= {row.flight: row for row in open_now.order_by("flight").select_for_update()}
            if len(found) == len(flights):
                return found
            transaction.set_rollback(True)  # one ended between the two: locks taken so far are out of order now


def _open_rendering(order: Order) -> Rendering:
    """Join the rendering that is open for this rendition, or open one."""
    flight = order.flight(order.key, refreshes=True)
    joined = _join(order, flight)
    if joined is not None:
        metrics.joined(metrics.Join.RENDERING)
        engine_time.note_reuse(order.tenant, order.request.spec.manner.engine, characters=order.request.characters)
        return joined
    rendering = Rendering(
        tenant_id=order.tenant.id,
        key=order.key,
        api_key_id=order.charge.api_key_id if order.charge else None,
        flight=flight,
        spec=to_row(order.tenant, order.request.spec, key=order.key),
        category=order.request.category,
        stored=order.stored,
        priority=order.priority,
        likeness=likeness(order.request.spec) if order.stored else "",
    )
    try:
        with transaction.atomic():
            insert(rendering)
    except IntegrityError:  # another request was faster, and may have ended since
        return _open_rendering(order)
    # Only now is nobody else at it: what was at work when the caller looked has left its result or its failure.
    _refuse_if_failed_just_now(order, flight)
    _refuse_if_made(order)
    _plan(order, rendering)
    return rendering


def _join(order: Order, flight: str) -> Rendering | None:
    found = _lock_open(tenant_id=order.tenant.id, flight=flight)
    if not found:
        return None
    (rendering,) = found
    if order.priority < rendering.priority:
        Rendering.objects.filter(id=rendering.id).update(priority=order.priority)
        _raise_priority(Synthesis.objects.filter(parts__rendering=rendering).values_list("id", flat=True), order)
    return rendering


def _raise_priority(ids: Iterable[UUID], order: Order) -> None:
    ids = list(ids)
    if not ids:
        return
    # Skipping locked rows: one that is being claimed or finished needs no higher priority any more.
    rows = Synthesis.objects.select_for_update(skip_locked=True).filter(id__in=ids, priority__gt=order.priority)
    Synthesis.objects.filter(id__in=[row.id for row in rows]).update(priority=order.priority)


def _refuse_if_failed_just_now(order: Order, flight: str) -> None:
    failures = _failed_since(tenant_id=order.tenant.id, flight=flight, moment=timezone.now() - NEGATIVE_TTL)
    for error_code in failures:
        raise SpeechFailed.of(error_code, repeats=True)


def _refuse_if_too_many_wait(order: Order, caller: Caller) -> None:
    """Before anything is written, and never what is made already. One that would join others' work is one more, too."""
    most = limit_reached(caller) if order.priority == Priority.INTERACTIVE else None
    if most is not None:
        _refuse_if_made(order)
        raise TooManyJobs(params={"most": most}, retry_after=RETRY_AFTER, members={"max_open_jobs": most})


def _refuse_if_voice_is_gone(order: Order) -> None:
    """A voice cannot be deleted from here to the end of the transaction: what it leaves behind is then found there."""
    fingerprints = set(references_of(order.request.spec.manner))
    if fingerprints and not ClonedVoice.hold(order.tenant.id, fingerprints):
        raise SpeechFailed.of("voice_gone", repeats=True)


def _refuse_if_made(order: Order) -> None:
    if not order.reads:
        return
    entry = fresh_rendition(order.tenant, order.key, max_age=order.retention.max_age)
    if entry is not None:
        raise MadeMeanwhile(entry)


def _plan(order: Order, rendering: Rendering) -> None:
    """Link the rendering to what is stored and to the syntheses of what is not."""
    keys = [key for key, _ in order.sentences]
    stored = fresh_segments(order.tenant, keys, max_age=order.retention.max_age) if order.reads else {}
    missing = {key: segment for key, segment in order.sentences if key not in stored}
    syntheses = open_syntheses(
        order.tenant,
        [(order.flight(key, refreshes=False), key, segment) for key, segment in missing.items()],
        stored=order.stored,
        category=order.request.category,
        priority=order.priority,
        charge=order.charge,
    )
    by_key = {row.key: row for row in syntheses.values()}
    # Sentences may have ended between the look and the lock, unless the database has one writer at a time.
    if by_key and order.reads and connection.features.has_select_for_update:
        made = fresh_segments(order.tenant, by_key, max_age=order.retention.max_age)
        stored |= made
        _withdraw([by_key.pop(key) for key in made], order)
    _raise_priority([row.id for row in by_key.values() if row.priority > order.priority], order)
    insert_all(
        [
            RenderingPart(
                rendering=rendering,
                position=position,
                key=key,
                synthesis=by_key.get(key),
                digest=stored.get(key, ""),
            )
            for position, key in enumerate(keys)
        ]
    )
    if not by_key:
        rendering.state = State.QUEUED
        rendering.save(update_fields=["state"])
    _note_reuse(order, spoken=by_key)


def _note_reuse(order: Order, *, spoken: Collection[str]) -> None:
    """What of this text no engine has to speak for it: sentences that are stored, or stand in it twice."""
    metrics.planned(spoken=len(spoken), reused=len(order.sentences) - len(spoken))
    lengths = {key: len(segment.text) for key, segment in order.sentences}
    reused = sum(lengths[key] for key, _ in order.sentences) - sum(lengths[key] for key in spoken)
    engine_time.note_reuse(order.tenant, order.request.spec.manner.engine, characters=reused)


def _withdraw(rows: Iterable[Synthesis], order: Order) -> None:
    """Take back the sentences that were opened in vain. Those that others wait for are no longer ours alone."""
    ids = [row.id for row in rows]
    Synthesis.objects.filter(id__in=ids, parts=None, attempt=0, tenant_id=order.tenant.id).delete()
    if order.charge is not None:
        for row_id in ids:
            order.charge.opened.pop(row_id, None)


def create_job(
    caller: Caller,
    request: SpeechRequest,
    rendering: Rendering,
    *,
    job_id: UUID,
    priority: int,
    callback: Callback | None,
    **noted: Any,
) -> Job:
    """The row of who asked for what; called in the transaction that has or opens the rendering."""
    manner = request.spec.manner
    job = Job(
        id=job_id,
        tenant_id=caller.tenant.id,
        api_key_id=caller.key_id,
        rendering=rendering,
        priority=priority,
        cache=request.cache,
        engine=manner.engine,
        voice=manner.voice,
        language=manner.language,
        category=request.category,
        characters=request.characters,
        metadata=dict(request.metadata),
        **callback_columns(callback),
        **noted,
    )
    insert(job)
    return job


def _ring(order: Order, rendering: Rendering) -> None:
    if rendering.state == State.QUEUED:
        wiring.doorbell().ring_io()
    else:
        wiring.doorbell().ring_engine(order.request.spec.manner.engine)


# --- The queries that every miss asks -------------------------------------------------------------------------------


@prepared_rows
def _lock_open(tenant_id: Any, flight: Any) -> QuerySet[Rendering]:
    found = Rendering.objects.filter(tenant_id=tenant_id, flight=flight, state__in=OPEN)
    return found.order_by().select_for_update()


@prepared_rows
def _failed_since(tenant_id: Any, flight: Any, moment: Any) -> QuerySet[Rendering, str]:
    failed = Rendering.objects.filter(
        tenant_id=tenant_id, flight=flight, state=State.FAILED, error_repeats=True, ended_at__gte=moment
    )
    return failed.order_by().values_list("error_code", flat=True)[:1]
