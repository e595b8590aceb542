"""Sends webhooks: what an io worker does when their bell rings. Many are under way at once, few to each endpoint.

Endpoints that fail or are slow get one request at a time and at most half of the places, so that they delay no others.
"""

import logging
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from cachetools import TTLCache
from django.db import DatabaseError, InterfaceError
from django.utils import timezone

from synth import wiring
from synth.conf import conf
from synth.models import WebhookDelivery
from synth.queue.claim import Worker
from synth.queue.deliveries import Room, claim_deliveries, deliveries_due, fenced_delivery
from synth.queue.doorbell import WEBHOOKS
from synth.queue.shutdown import stopping
from synth.service.webhooks.outcomes import INTERNAL_ERROR, Try, give_back, record, record_lost
from synth.service.webhooks.payloads import message_of
from synth.service.webhooks.routing import route_events
from synth.webhooks.http import Answer, NotSent, Sender

logger = logging.getLogger(__name__)

DRAIN_SECONDS = 10.0
LOOK_EVERY = 0.2
# Places for requests to endpoints that answer, within this many seconds, and for those to all others.
SOUND, DOUBTFUL = 32, 32
PROMPT_SECONDS = 2.0
# Beyond the time-out of a request, until it may be sent again.
LEASE_MARGIN = 10.0
# For what is under way when the worker is told to stop.
GRACE = 5.0
KNOWN = 2000

_sending = threading.Lock()
_rung = threading.Event()


class _Manners:
    """Which endpoints this process knows to answer promptly, and which as slow."""

    def __init__(self) -> None:
        self._prompt: TTLCache[UUID, bool] = TTLCache(KNOWN, ttl=600)

    def answered(self, endpoint_id: UUID, *, promptly: bool) -> None:
        self._prompt[endpoint_id] = promptly

    def are_slow(self, endpoint_id: UUID) -> bool:
        return self._prompt.get(endpoint_id) is False

    def those(self, *, prompt: bool) -> frozenset[UUID]:
        return frozenset(endpoint_id for endpoint_id, promptly in self._prompt.items() if promptly is prompt)


_manners = _Manners()


def drain_deliveries(worker: Worker) -> None:
    """Route events and send deliveries for about 10 s, then ring again.

    One round at a time in a process; who is rung meanwhile leaves word that there is more.
    """
    _rung.set()
    while _rung.is_set() and not stopping.is_set() and _sending.acquire(blocking=False):
        try:
            _rung.clear()
            with wiring.webhook_sender() as sender:
                _Round(worker, sender).run()
        finally:
            _sending.release()


@dataclass(frozen=True, slots=True)
class _Flight:
    """A request that is under way, or a failure before it was."""

    claim: WebhookDelivery
    sent_at: datetime
    started: float

    @property
    def lingers(self) -> bool:
        return time.monotonic() - self.started > PROMPT_SECONDS


class _Round:
    """Claims, sends, waits for the first answer, records, and so on."""

    def __init__(self, worker: Worker, sender: Sender) -> None:
        self._worker = replace(worker, lease=conf().webhook_timeout + LEASE_MARGIN)
        self._sender = sender
        self._flights: dict[Future[Answer], _Flight] = {}
        self._begun = time.monotonic()

    def run(self) -> None:
        try:
            while self._goes_on():
                if not self._is_over or any(map(_is_slow, self._flights.values())):
                    route_events()
                    self._take_up()
                self._land(LOOK_EVERY)
        finally:
            self._bring_home()
        if deliveries_due():
            wiring.doorbell().ring_webhooks()

    def _goes_on(self) -> bool:
        """For its time, as long as something is under way or due soon; then until what is under way has landed.

        While some of that lingers, others are sent, to endpoints that are known to be prompt.
        """
        if stopping.is_set():
            return False
        if self._is_over:
            return bool(self._flights) and self._age < DRAIN_SECONDS + 2 * conf().webhook_timeout
        return bool(self._flights) or self._is_more_due()

    @property
    def _age(self) -> float:
        return time.monotonic() - self._begun

    @property
    def _is_over(self) -> bool:
        return self._age > DRAIN_SECONDS

    def _is_more_due(self) -> bool:
        """Looked for after the bell was taken down: what comes later rings again."""
        wiring.doorbell().answered(WEBHOOKS)
        return deliveries_due()

    def _room(self) -> Room:
        doubtful = sum(
            _is_slow(flight) or flight.claim.endpoint.failing_since is not None for flight in self._flights.values()
        )
        return Room(
            sound=max(0, SOUND - (len(self._flights) - doubtful)),
            doubtful=max(0, DOUBTFUL - doubtful),
            prompt=_manners.those(prompt=True),
            slow=_manners.those(prompt=False),
            prompt_only=self._is_over,
        )

    def _take_up(self) -> None:
        claims = claim_deliveries(self._worker, self._room())
        for claim in claims.lost:
            record_lost(claim, lease=self._worker.lease)
        for claim in claims.to_send:
            self._send(claim)

    def _send(self, claim: WebhookDelivery) -> None:
        sent_at = timezone.now()
        flight = _Flight(claim, sent_at, time.monotonic())
        try:
            message = message_of(claim, sent_at)
            if message.url != claim.url:
                claim.url = message.url
                fenced_delivery(claim).update(url=message.url)
            future = self._sender.start(message.url, message.headers, message.body)
        except (DatabaseError, InterfaceError):
            raise
        except Exception:  # whatever it is: this delivery must not hold up the others
            logger.exception("delivery %s could not be made ready", claim.id)
            self._record(flight, Try(sent_at=sent_at, seconds=0.0, error=INTERNAL_ERROR))
        else:
            self._flights[future] = flight

    def _land(self, seconds: float) -> None:
        """Record what has been answered, waiting for the first one for so long."""
        if not self._flights:
            time.sleep(seconds)
        done, _ = wait(self._flights, timeout=seconds, return_when=FIRST_COMPLETED)
        for future in done:
            flight = self._flights.pop(future)
            self._record(flight, _try_of(future, flight))

    def _record(self, flight: _Flight, sent: Try) -> None:
        if not sent.is_our_fault:
            _manners.answered(flight.claim.endpoint_id, promptly=sent.seconds < PROMPT_SECONDS)
        if not record(flight.claim, sent):
            logger.warning("delivery %s: attempt %d ended too late", flight.claim.id, flight.claim.attempt)

    def _bring_home(self) -> None:
        """Record what is still under way; at a shutdown what takes long is given back."""
        since = time.monotonic()
        while self._flights and time.monotonic() - since < (GRACE if stopping.is_set() else self._worker.lease):
            self._land(LOOK_EVERY)
        for future, flight in self._flights.items():
            future.cancel()
            give_back(flight.claim)


def _is_slow(flight: _Flight) -> bool:
    """Also one that has been left unanswered for long: it takes up the place of no other any more."""
    if flight.lingers:
        _manners.answered(flight.claim.endpoint_id, promptly=False)
    return _manners.are_slow(flight.claim.endpoint_id)


def _try_of(future: Future[Answer], flight: _Flight) -> Try:
    try:
        answer = future.result()
    except NotSent as error:
        return Try(sent_at=flight.sent_at, seconds=error.seconds, error=error.code, answer=error.detail)
    except Exception:  # whatever it is: it is one of the failures of this delivery
        logger.exception("delivery %s broke", flight.claim.id)
        return Try(sent_at=flight.sent_at, seconds=time.monotonic() - flight.started, error=INTERNAL_ERROR)
    return Try(
        sent_at=flight.sent_at,
        seconds=answer.seconds,
        status=answer.status,
        answer=answer.body,
        retry_after=answer.retry_after,
    )
