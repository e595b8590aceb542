"""What becomes of deliveries: every try is noted, the next one set or given up; who stays away is told nothing more.

`sending.py` sends and calls `record`; `endpoints.py` replays and cancels. Which go next, `queue/deliveries.py` says.
"""

import logging
import random
import threading
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from http import HTTPStatus
from typing import Any

from django.core.mail import mail_admins
from django.db import transaction

from synth import metrics, wiring
from synth.conf import conf
from synth.metrics import SendingEnd
from synth.models import DeliveryAttempt, WebhookDelivery, WebhookEndpoint
from synth.models.clock import database_now
from synth.models.states import ENDED, State
from synth.queue.deliveries import cancel_open, fenced_delivery
from synth.webhooks.schedule import next_pause

logger = logging.getLogger(__name__)

_ENDS = {State.SUCCEEDED: SendingEnd.SUCCEEDED, State.FAILED: SendingEnd.GIVEN_UP}
Status, Reason = WebhookEndpoint.Status, WebhookEndpoint.Reason


# Of a try: its sender did not live to note what came of it, or broke. Neither says anything of the endpoint.
LOST, INTERNAL_ERROR = "sender_lost", "internal_error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """One sending and what came of it: a status with the first kilobyte of the answer, or an error."""

    sent_at: datetime
    seconds: float
    status: int | None = None
    error: str = ""
    answer: str = ""
    retry_after: float | None = None

    @property
    def succeeded(self) -> bool:
        return self.status is not None and HTTPStatus(200) <= self.status < HTTPStatus(300)

    @property
    def is_our_fault(self) -> bool:
        return self.error in {LOST, INTERNAL_ERROR}


def record(claim: WebhookDelivery, sent: Try) -> bool:
    """Note a try of a claimed delivery and what follows from it. False, and nothing noted, when the claim was lost."""
    with transaction.atomic():
        endpoint = WebhookEndpoint.objects.select_for_update(no_key=True).filter(id=claim.endpoint_id).first()
        if endpoint is None:
            return False
        changes = _changes(claim, endpoint, sent)
        if not fenced_delivery(claim).update(**changes):
            return False
        DeliveryAttempt.objects.create(
            delivery=claim,
            number=claim.attempt,
            sent_at=sent.sent_at,
            seconds=sent.seconds,
            status=sent.status,
            error=sent.error,
            answer=sent.answer,
        )
        if not sent.is_our_fault:
            _judge(endpoint, claim, sent)
    metrics.webhook_try(_ENDS.get(changes["state"], SendingEnd.FAILED), seconds=sent.seconds)
    return True


def record_lost(claim: WebhookDelivery, *, lease: float) -> bool:
    """Note that whoever was sending this did not live to tell: one of its tries, and the next follows as after any."""
    sent_at = claim.not_before - timedelta(seconds=lease)
    return record(claim, Try(sent_at=sent_at, seconds=0.0, error=LOST))


def give_back(claim: WebhookDelivery) -> None:
    """For another process to send at once. It may have been sent: then it is sent twice, under one id."""
    fenced_delivery(claim).update(state=State.QUEUED, lease_until=None, not_before=database_now())


def replay(delivery: WebhookDelivery) -> bool:
    """Send it (again) under its id, with all its tries. False while it is being sent, and for a disabled endpoint."""
    return _queue_again(id=delivery.id, state__in=(State.QUEUED, *ENDED)) == 1


def replay_failed(endpoint: WebhookEndpoint, since: datetime) -> int:
    """Send anew what was given up since then; how many. None for an endpoint that is disabled."""
    return _queue_again(endpoint=endpoint, state=State.FAILED, ended_at__gte=since)


def _queue_again(**which: Any) -> int:
    rows = WebhookDelivery.objects.filter(endpoint__status=Status.ENABLED, **which)
    queued = rows.update(state=State.QUEUED, tries=0, not_before=database_now(), ended_at=None, lease_until=None)
    if queued:
        transaction.on_commit(wiring.doorbell().ring_webhooks)
    return queued


# --- What follows from a try ----------------------------------------------------------------------------------------


def _changes(claim: WebhookDelivery, endpoint: WebhookEndpoint, sent: Try) -> dict[str, Any]:
    now = database_now()
    told = {"tries": claim.tries + 1, "lease_until": None, "last_status": sent.status, "last_error": sent.error}
    if sent.succeeded:
        return {**told, "state": State.SUCCEEDED, "ended_at": now}
    pause = None if _is_gone(sent) else _pause(claim, sent)
    if pause is None:
        return {**told, "state": State.FAILED, "ended_at": now}
    if endpoint.status == Status.DISABLED:
        return {**told, "state": State.CANCELED, "ended_at": now}
    return {**told, "state": State.QUEUED, "not_before": now + timedelta(seconds=pause)}


def _pause(claim: WebhookDelivery, sent: Try) -> float | None:
    return next_pause(
        claim.tries + 1, conf().webhook_pauses, retry_after=sent.retry_after, random=random.SystemRandom().random
    )


def _is_gone(sent: Try) -> bool:
    return sent.status == HTTPStatus.GONE


def _judge(endpoint: WebhookEndpoint, claim: WebhookDelivery, sent: Try) -> None:
    """Mark the endpoint as answering or as failing; disable one that is gone, or that has failed for too long.

    A callback's own address that is gone says nothing of the endpoint's others.
    """
    if sent.succeeded:
        WebhookEndpoint.objects.filter(id=endpoint.id, failing_since__isnull=False).update(failing_since=None)
        return
    failing_since = endpoint.failing_since or sent.sent_at
    if endpoint.failing_since is None:
        WebhookEndpoint.objects.filter(id=endpoint.id).update(failing_since=failing_since)
    if _is_gone(sent) and claim.url == endpoint.url:
        _disable(endpoint, Reason.GONE)
    elif database_now() - failing_since > timedelta(seconds=conf().webhook_give_up_after):
        _disable(endpoint, Reason.FAILING)


def _disable(endpoint: WebhookEndpoint, reason: str) -> None:
    enabled = WebhookEndpoint.objects.filter(id=endpoint.id, status=Status.ENABLED)
    if enabled.update(status=Status.DISABLED, disabled_reason=reason, disabled_at=database_now()):
        cancel_open([endpoint.id])
        transaction.on_commit(partial(_tell_operators, endpoint, reason))


def _tell_operators(endpoint: WebhookEndpoint, reason: str) -> None:
    """In a thread: a mail server that hangs must hold up no delivery."""
    metrics.webhook_endpoint_disabled(reason)
    text = f"Webhook endpoint {endpoint.public_id} of tenant {endpoint.tenant_id} is disabled: {reason}."
    logger.error("%s", text)
    mail = partial(mail_admins, f"A webhook endpoint is disabled: {reason}", text, fail_silently=True)
    threading.Thread(target=mail, name="mail", daemon=True).start()
