"""Makes anew, behind the answer, what a TTL rule allows to be served old. speaking.py tells it of every such answer."""

import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from cachetools import LRUCache
from django.db import connection

from synth.cache.policy import Retention
from synth.errors import SpeechFailed
from synth.keys import Kind, redis_key
from synth.models import Rendering
from synth.models.states import OPEN, Priority
from synth.service.submission import MadeMeanwhile, submit
from synth.spec import SpeechRequest
from synth.types import Delivery
from tenants.encryption import is_own
from tenants.quotas import NO_QUOTAS, QuotaExceeded, Quotas
from tenants.types import Caller

logger = logging.getLogger(__name__)

# How long one rendition is left alone after it was seen to: a hit must not ask the database each time.
PAUSE = 30.0
MAX_REMEMBERED = 20_000
MAX_WAITING = 100


class Renewals:
    """Those of one process. Rows see to it that several processes' are done once.

    A thread of its own writes the rows: neither a busy database nor a long text holds up the answer.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: LRUCache[str, float] = LRUCache(MAX_REMEMBERED)
        self._waiting = threading.BoundedSemaphore(MAX_WAITING)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="renewals")

    def ask(
        self,
        caller: Caller,
        request: SpeechRequest,
        *,
        key: str,
        max_units: int,
        retention: Retention,
        quotas: Quotas = NO_QUOTAS,
    ) -> None:
        """Have it made anew at the lowest priority, unless that was seen to just now. Never raises, never waits.

        Where engines may speak no more for its tenant, whose `quotas` these are, the old is served until it is too old.
        """
        if is_own(request.spec.manner.encryption_key_id or ""):  # no key is at hand behind the answer
            return
        if not self._is_due(redis_key(caller.tenant, Kind.ENTRY, key), min(PAUSE, retention.max_age)):
            return
        if not self._waiting.acquire(blocking=False):  # the next answer asks again
            return
        quiet = replace(request, wait=0, delivery=Delivery.URL, metadata={})
        ordered: dict[str, Any] = {"key": key, "max_units": max_units, "retention": retention, "quotas": quotas}
        self._thread.submit(self._renew, caller, quiet, **ordered)

    def _is_due(self, name: str, pause: float) -> bool:
        now = time.monotonic()
        with self._lock:
            if now - self._seen.get(name, -pause) < pause:
                return False
            self._seen[name] = now
            return True

    def _renew(self, caller: Caller, request: SpeechRequest, *, key: str, **ordered: Any) -> None:
        try:
            if not Rendering.objects.filter(tenant_id=caller.tenant.id, flight=key, state__in=OPEN).exists():
                submit(
                    caller,
                    request,
                    key=key,
                    request_id="",
                    priority=Priority.REWARM,
                    accounted=True,  # as the request that was answered
                    **ordered,
                )
        except (MadeMeanwhile, SpeechFailed, QuotaExceeded):
            pass
        except Exception:  # the answer has been given: nobody but the log can hear of it
            logger.exception("what is served old could not be queued to be made anew")
        finally:
            connection.close_if_unusable_or_obsolete()
            self._waiting.release()
