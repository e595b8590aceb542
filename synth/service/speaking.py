"""Answers one speech request: from the cache, from the catalogue, or by work that it may wait for."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connection

from synth import metrics, wiring
from synth.cache.asking import HITS, Lookup, Status
from synth.cache.policy import Retention
from synth.conf import conf
from synth.errors import ObjectMissing, ServiceUnavailable, SpeechCanceled, SpeechFailed, StorageUnavailable
from synth.keys import Kind, redis_key
from synth.models import Entry, Job
from synth.models.states import State
from synth.service.accounting import record_restored, take_back_usage
from synth.service.admission import Inquiry, StaleSnapshot, Visit, admit, glance, look_up
from synth.service.catalogue import fresh_rendition
from synth.service.endings import cancel_job, expire_entry
from synth.service.flights import Flight, Flights
from synth.service.made_already import note_made
from synth.service.objects import read_intact
from synth.service.purging import known_number
from synth.service.quota_warnings import warn_refused
from synth.service.renewing import Renewals
from synth.service.sealing import Altered, opened_sound
from synth.service.submission import MadeMeanwhile, submit
from synth.service.waiting import job_of, wait_for
from synth.service.webhooks.callbacks import Callback, callback_of
from synth.spec import SpeechRequest
from synth.stored import of_entry, of_job
from synth.types import CacheMode, Delivery, StoredAudio
from tenants.encryption import EncryptionKeyRefused, is_own
from tenants.errors import NotFound
from tenants.ids import parse_id
from tenants.quotas import QuotaExceeded
from tenants.types import TenantRef

MAX_LOOKS = 3
_flights = Flights()
_renewals = Renewals()


@dataclass(frozen=True, slots=True, kw_only=True)
class Speech:
    """The answer to a speech request.

    `stored` is None while the work is not done; `age` is seconds; `cache_status` is hit, restored, stale,
    miss, refresh or bypass. `audio` holds the bytes where the delivery asked for them. `tier` is where a hit's sound
    came from.
    """

    id: str
    cache_status: str
    stored: StoredAudio | None = None
    age: float = 0.0
    audio: bytes | None = None
    job: Job | None = None
    tier: metrics.Tier = metrics.Tier.NONE

    @property
    def from_cache(self) -> bool:
        return self.cache_status in {"hit", "restored", "stale"}


def speak(visit: Visit, inquiry: Inquiry) -> Speech:
    """Answer a request; wait for its work as long as it says. The turn of the caller, if it has one, is given up then.

    Raises RateLimited, QuotaExceeded, StaleSnapshot, SpeechFailed when the awaited work failed, ServiceUnavailable when
    audio cannot be read.
    """
    with _charged(visit, inquiry):
        return _speak(visit, inquiry)


@contextmanager
def _charged(visit: Visit, inquiry: Inquiry) -> Iterator[None]:
    """What was counted of a request that comes to nothing is given back. Of a job it is once that has ended."""
    try:
        yield
    except StaleSnapshot:
        raise
    except Exception as error:
        if isinstance(error, QuotaExceeded):
            warn_refused(visit.snapshot.tenant, visit.caller.key_id, error.exceeded)
        if "job_id" not in getattr(error, "members", {}):
            visit.give_back(inquiry.request.characters)
        raise


def _speak(visit: Visit, inquiry: Inquiry) -> Speech:
    if inquiry.request.callback:
        return _send_off(visit, inquiry)
    ends_at = time.monotonic() + inquiry.request.wait
    left = _left_behind(visit)
    if left is not None:
        return deliver_job(wait_for(left, ends_at - time.monotonic()), inquiry.request)
    if not inquiry.uses_cache:
        admit(visit, inquiry.request.characters)
        return _make(visit, inquiry, ends_at=ends_at)
    for look in range(MAX_LOOKS):
        speech = _from_cache(visit, inquiry)
        if speech is not None:
            return speech
        with _boarded(visit, inquiry) as ahead:
            if ahead is not None and look < MAX_LOOKS - 1 and _landed(ahead, ends_at):
                continue
            speech = _from_catalogue(visit, inquiry)
            if speech is None:
                with suppress(MadeMeanwhile):
                    speech = _make(visit, inquiry, ends_at=ends_at)
            if speech is not None:
                return speech
    raise ServiceUnavailable(retry_after=1)


def recall(visit: Visit, inquiry: Inquiry) -> Speech | None:
    """A hit, if it is one at the first glance: one round trip and no SQL. None is for `speak` to look into.

    Raises RateLimited, and ServiceUnavailable when its audio cannot be read.
    """
    with _charged(visit, inquiry):
        return _heard(visit, inquiry, glance(visit, inquiry))


def _send_off(visit: Visit, inquiry: Inquiry) -> Speech:
    """A job whose end the callback is told of. What is there already ends it at once."""
    request = replace(inquiry.request, wait=0, delivery=Delivery.URL)
    inquiry = replace(inquiry, request=request)
    left = _left_behind(visit)
    if left is not None:
        return Speech(id=left.public_id, cache_status="miss", job=left)
    callback = callback_of(visit.snapshot.tenant, request.callback)
    entry = _entry_in_cache(visit, inquiry)
    if entry is None:
        try:
            return deliver_job(_submit(visit, inquiry, callback=callback), request)
        except MadeMeanwhile as made:
            entry = made.entry
    if not visit.admission.recorded:
        record_restored(visit.caller, request, of_entry(entry), outcome="restored", request_id=visit.request_id)
    named: dict[str, Any] = {"request_id": visit.request_id, "job_id": visit.job_id, "callback": callback}
    job = _once(visit, lambda: note_made(visit.caller, request, entry, **named))
    return Speech(id=job.public_id, cache_status="hit", job=job)


def _entry_in_cache(visit: Visit, inquiry: Inquiry) -> Entry | None:
    """The row behind a hit; None for a miss, and where it is purged at this moment."""
    if not inquiry.uses_cache:
        admit(visit, inquiry.request.characters)
        return None
    heard = _from_cache(visit, inquiry)
    if heard is None:
        return None
    entry_id = parse_id("ent", heard.id)
    return Entry.objects.filter(tenant_id=visit.snapshot.tenant.id, id__in=[entry_id]).first()


def _left_behind(visit: Visit) -> Job | None:
    """The job of an earlier try of this very request, whose process did not live to answer."""
    return next(iter(job_of(job_id=visit.job_id)), None) if visit.job_id else None


def _once(visit: Visit, make: Callable[[], Job]) -> Job:
    """Of two tries of one request the slower one takes the other's job."""
    try:
        return make()
    except IntegrityError:
        left = _left_behind(visit)
        if left is None:
            raise
        return left


def _boarded(visit: Visit, inquiry: Inquiry) -> AbstractContextManager[Flight | None]:
    """Equal requests of this process that wait follow the first one; all else is asked for by itself."""
    if inquiry.request.wait <= 0:
        return nullcontext()
    return _flights.boarded(redis_key(visit.snapshot.tenant, Kind.ENTRY, inquiry.key))


def _landed(flight: Flight, ends_at: float) -> bool:
    """Wait for an equal request of this process; whether it is worth looking again.

    Raises SpeechFailed when its work failed.
    """
    if ends_at <= time.monotonic():
        return False
    with wiring.listener().any_seat() as seated, wiring.turns().given_up():
        connection.close_if_unusable_or_obsolete()  # back to the pool, where there is one
        landed = seated and flight.landed.wait(ends_at - time.monotonic())
    if landed:
        metrics.joined(metrics.Join.PROCESS)
    if landed and flight.failure is not None:
        raise flight.failure
    return landed


def _make(visit: Visit, inquiry: Inquiry, *, ends_at: float) -> Speech:
    """Have it made, and wait for it until then."""
    request = replace(inquiry.request, wait=max(0.0, ends_at - time.monotonic()))
    job = _submit(visit, replace(inquiry, request=request))
    return deliver_job(wait_for(job, request.wait), request)


def _submit(visit: Visit, inquiry: Inquiry, *, callback: Callback | None = None) -> Job:
    request = inquiry.request
    return _once(
        visit,
        lambda: submit(
            visit.caller,
            request,
            key=inquiry.key,
            max_units=visit.snapshot.cards[request.spec.manner.engine].max_units,
            request_id=visit.request_id,
            retention=inquiry.retention,
            job_id=visit.job_id,
            accounted=visit.admission.recorded,  # as a hit whose audio then was lost
            degraded=visit.admission.degraded,
            callback=callback,
            quotas=visit.snapshot.quotas,
        ),
    )


def cancel(tenant: TenantRef, job_id: UUID) -> Job:
    """Detach one job from its work. Raises NotFound; cancelling what has ended changes nothing."""
    job = cancel_job(tenant, job_id)
    if job is None:
        raise NotFound
    return job


def _from_cache(visit: Visit, inquiry: Inquiry) -> Speech | None:
    """A hit: one round trip, no SQL."""
    return _heard(visit, inquiry, look_up(visit, inquiry))


def _heard(visit: Visit, inquiry: Inquiry, found: Lookup) -> Speech | None:
    if found.status not in HITS or found.stored is None:
        return None
    status = "hit" if found.status is Status.HIT else "stale"
    speech = Speech(id=found.stored.id, cache_status=status, stored=found.stored, age=found.age, tier=metrics.Tier.L2)
    key = inquiry.keys[found.place]
    try:
        answer = _with_audio(visit.snapshot.tenant, key, speech, inquiry.request, found.audio)
    except EncryptionKeyRefused:  # Redis has counted a hit by now
        take_back_usage(visit.caller, visit.request_id)
        raise
    if answer is not None and status == "stale":
        _renew(visit, inquiry)
    return answer


def _from_catalogue(visit: Visit, inquiry: Inquiry) -> Speech | None:
    """What the cache has lost and storage still holds: the first of these that can be had."""
    found = (_restored(visit.snapshot.tenant, key, inquiry) for key in inquiry.keys)
    place, answer = next(((place, speech) for place, speech in enumerate(found) if speech), (0, None))
    if answer is None or answer.stored is None:
        return None
    stored = answer.stored
    if place:  # an earlier model's
        answer = replace(answer, cache_status="stale")
    if answer.cache_status == "stale":
        _renew(visit, inquiry)
    if not visit.admission.recorded:
        outcome = answer.cache_status
        record_restored(visit.caller, inquiry.request, stored, outcome=outcome, request_id=visit.request_id)
    return answer


def _restored(tenant: TenantRef, key: str, inquiry: Inquiry) -> Speech | None:
    restored = _restore(tenant, key, inquiry.retention)
    return _with_audio(tenant, key, restored, inquiry.request, None) if restored else None


def _renew(visit: Visit, inquiry: Inquiry) -> None:
    request = inquiry.request
    max_units = visit.snapshot.cards[request.spec.manner.engine].max_units
    _renewals.ask(
        visit.caller,
        request,
        key=inquiry.key,
        max_units=max_units,
        retention=inquiry.retention,
        quotas=visit.snapshot.quotas,
    )


def _restore(tenant: TenantRef, key: str, retention: Retention) -> Speech | None:
    """From the catalogue, when the cache has lost what storage still holds; the cache gets it back."""
    if fresh_rendition(tenant, key, max_age=retention.last_age) is None:
        return None
    purge_number = known_number(tenant)
    # Read once more: what is purged from here on has a later number, and Redis will not take it.
    entry = fresh_rendition(tenant, key, max_age=retention.last_age)
    if entry is None:
        return None
    stored = of_entry(entry)
    wiring.rendition_cache().fill(tenant, key, stored, None, purge_number=purge_number, pinned=entry.pinned)
    age = max(0.0, time.time() - stored.made)
    status = "restored" if entry.pinned or age <= retention.max_age else "stale"
    return Speech(id=stored.id, cache_status=status, stored=stored, age=age, tier=metrics.Tier.L3)


def _with_audio(
    tenant: TenantRef, key: str, speech: Speech, request: SpeechRequest, audio: bytes | None
) -> Speech | None:
    """The speech with its bytes where they are asked for; None when they are lost, so that it is made anew."""
    stored = speech.stored
    if stored is None or not _wants_bytes(request, stored):
        return speech
    local, local_key = wiring.local_cache(), redis_key(tenant, Kind.AUDIO, key)
    held = local.audio(local_key, stored.digest)
    tier = metrics.Tier.L1 if held else metrics.Tier.L2 if audio else metrics.Tier.L3
    try:
        data = held or _from_redis(tenant, stored, audio) or read_intact(tenant, stored)
    except ObjectMissing:
        expire_entry(tenant, Entry.Kind.RENDITION, key, digests=[stored.digest])
        wiring.rendition_cache().forget(tenant, key)
        return None
    except StorageUnavailable as error:
        raise ServiceUnavailable(code=error.code, retry_after=2) from error
    if not is_own(stored.sealed_by):
        local.keep_audio(local_key, stored.digest, data)
    return replace(speech, audio=data, tier=tier)


def _from_redis(tenant: TenantRef, stored: StoredAudio, audio: bytes | None) -> bytes | None:
    """The bytes that Redis gave, opened; None where it gave none, or others than were put there."""
    try:
        return opened_sound(tenant, audio, stored) if audio else None
    except Altered:
        return None


def _wants_bytes(request: SpeechRequest, stored: StoredAudio) -> bool:
    """Base64 of a long sound costs every memory on its way three times the sound: such an answer has a URL instead."""
    if request.delivery is Delivery.INLINE:
        return stored.size <= conf().inline_limit
    return request.delivery is Delivery.BINARY


def deliver_job(job: Job, request: SpeechRequest) -> Speech:
    status = {CacheMode.USE: "miss", CacheMode.REFRESH: "refresh", CacheMode.BYPASS: "bypass"}[request.cache]
    if not job.rendering.stored:  # asked for, or by a rule that says never cache
        status = "bypass"
    speech = Speech(id=job.public_id, cache_status=status, job=job)
    if job.state == State.CANCELED:
        raise SpeechCanceled(members={"job_id": job.public_id})
    if job.state == State.FAILED:
        raise SpeechFailed.of(job.error_code, repeats=job.rendering.error_repeats, job_id=job.public_id)
    if job.state != State.SUCCEEDED:
        return speech
    if not job.rendering.digest:  # its voice was deleted while the request waited
        raise SpeechFailed.of("voice_gone", repeats=True, job_id=job.public_id)
    stored = of_job(job)
    speech = replace(speech, stored=stored)
    if not _wants_bytes(request, stored):
        return speech
    try:
        return replace(speech, audio=read_intact(TenantRef(job.tenant_id), stored))
    except (ObjectMissing, StorageUnavailable) as error:
        raise ServiceUnavailable(code=error.code, retry_after=2) from error
