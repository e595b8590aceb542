"""What an API process saw of its answers: their times and what was asked for most, added to rows of days.

`note` is on the way of a hit: one dictionary entry. A thread writes, so that no answer waits; a process that is killed
loses what it saw since the last time.
"""

import logging
import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any
from uuid import UUID

from django.db import DatabaseError, InterfaceError, transaction
from django.db.models import Count, Sum
from django.utils import timezone

from synth import metrics
from synth.models import FailureDay, LatencyDay, PhraseDay, Sample
from synth.models.counting import add_to
from tenants.models import Tenant
from tenants.recorder import Recorder
from tenants.types import TenantRef

logger = logging.getLogger(__name__)

WRITE_EVERY = 20.0
# Of one process: phrases remembered, and written each time, the most frequent.
MOST_REMEMBERED = 5_000
MOST_WRITTEN = 200
# Of each tenant and day, once the day is over.
MOST_KEPT = 20
DAYS_KEPT = timedelta(days=400)
SAMPLES_KEPT = timedelta(days=7)
What = LatencyDay.What
Phrase = tuple[UUID, str]


class Observations(Recorder[Phrase, int]):
    """Phrases by tenant and key; with them goes what the process's histograms counted since the last time."""

    what = "observations"

    def reset(self) -> None:
        super().reset()
        self._seen: dict[tuple[str, float], float] = {}

    def add(self, key: Phrase, value: int) -> None:
        """Without a lock: a count that is lost between two threads does no harm here."""
        notes = self._notes
        if key in notes or len(notes) < MOST_REMEMBERED:
            notes[key] = notes.get(key, 0) + value
        if self._thread is None:
            with self._lock:
                if self._thread is None:
                    self._start()

    def merge(self, older: int, newer: int) -> int:
        return older + newer

    def flush(self) -> None:
        super().flush()
        try:
            self._write_times()
        except (DatabaseError, InterfaceError) as error:
            logger.warning("the times of answers are not written yet: %s", error)

    def write(self, notes: dict[Phrase, int]) -> None:
        """In one order whoever writes; what is noted of a deleted tenant is dropped."""
        most = Counter(dict(list(notes.items()))).most_common(MOST_WRITTEN)
        known = set(Tenant.objects.filter(id__in={key[0] for key, _ in most}).values_list("id", flat=True))
        today = timezone.now().date()
        with transaction.atomic():
            for (tenant_id, name), answers in sorted(most):
                if tenant_id in known:
                    add_to(PhraseDay, {"answers": answers}, tenant_id=tenant_id, day=today, key=name)

    def _write_times(self) -> None:
        counted = _counted()
        more = {key: int(count - self._seen.get(key, 0)) for key, count in counted.items()}
        today = timezone.now().date()
        with transaction.atomic():
            for (what, bound), answers in sorted(more.items()):
                if answers > 0:
                    add_to(LatencyDay, {"answers": answers}, day=today, what=what, bound=bound)
        self._seen = counted


_recorder = Observations(interval=WRITE_EVERY)
os.register_at_fork(after_in_child=_recorder.reset)
flush = _recorder.flush


def note(tenant: TenantRef, key: str) -> None:
    """A request for this rendition was answered with its sound."""
    _recorder.add((tenant.id, key), 1)


def _counted() -> dict[tuple[str, float], float]:
    """What the histograms hold so far, each bucket without the smaller ones."""
    found: dict[tuple[str, float], float] = {}
    for what, histogram in (
        (What.HIT, metrics.HIT_SECONDS),
        (What.MISS, metrics.MISS_SECONDS),
        (What.REDIS, metrics.REDIS_SECONDS),
    ):
        below = 0.0
        for bound, upto in _buckets(histogram):
            found[what.value, LatencyDay.SLOWEST if math.isinf(bound) else bound] = upto - below
            below = upto
    return found


def _buckets(histogram: Any) -> Iterable[tuple[float, float]]:
    samples = (sample for metric in histogram.collect() for sample in metric.samples)
    return [(float(sample.labels["le"]), sample.value) for sample in samples if sample.name.endswith("_bucket")]


@dataclass(frozen=True, slots=True)
class Latency:
    """Answers by the bound that their seconds do not exceed."""

    answers: Mapping[float, int] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return sum(self.answers.values())

    def quantile(self, share: float) -> float | None:
        """Seconds, as far as the bounds tell: between two of them answers count as spread evenly."""
        wanted, below, lower = share * self.count, 0, 0.0
        for bound in sorted(self.answers):
            here = self.answers[bound]
            if here and below + here >= wanted:
                upper = lower if bound == LatencyDay.SLOWEST else bound
                return lower + (upper - lower) * (wanted - below) / here
            below, lower = below + here, bound
        return None

    def __add__(self, other: "Latency") -> "Latency":
        bounds = self.answers.keys() | other.answers.keys()
        return Latency({bound: self.answers.get(bound, 0) + other.answers.get(bound, 0) for bound in bounds})


def latency_by_day(first: date, last: date) -> dict[tuple[date, str], Latency]:
    """Of all tenants together, both days included."""
    found: dict[tuple[date, str], dict[float, int]] = {}
    rows = LatencyDay.objects.filter(day__range=(first, last)).order_by()
    for day, what, bound, answers in rows.values_list("day", "what", "bound", "answers"):
        found.setdefault((day, what), {})[bound] = answers
    return {key: Latency(_whole(key[1], answers)) for key, answers in found.items()}


def _whole(what: str, answers: Mapping[float, int]) -> dict[float, int]:
    """With the bounds that nothing fell under: between which two an answer lies is then known."""
    bounds = {What.HIT: metrics.HIT_BUCKETS, What.MISS: metrics.MISS_BUCKETS}.get(What(what), metrics.REDIS_BUCKETS)
    return {**dict.fromkeys(bounds, 0), **answers}


def top_phrases(first: date, last: date, *, limit: int, tenant: TenantRef | None = None) -> list[tuple[Phrase, int]]:
    """What was answered most: (tenant's id, rendition key) and how often, both days included."""
    rows = PhraseDay.objects.filter(day__range=(first, last)).order_by()
    rows = rows if tenant is None else rows.filter(tenant_id=tenant.id)
    sums = rows.values_list("tenant_id", "key").annotate(sum=Sum("answers")).order_by("-sum", "key")[:limit]
    return [((tenant_id, key), answers) for tenant_id, key, answers in sums]


def forget_old() -> None:
    """Of days that are over the most frequent phrases stay; what is older than anybody looks at goes."""
    today = timezone.now().date()
    for kind in (LatencyDay, FailureDay, PhraseDay):
        kind._default_manager.filter(day__lt=today - DAYS_KEPT).delete()  # noqa: SLF001 - Django's name for it
    Sample.objects.filter(at__lt=timezone.now() - SAMPLES_KEPT).delete()
    for day in (today - timedelta(days=1), today - timedelta(days=2)):
        rows = PhraseDay.objects.filter(day=day).order_by()
        many = rows.values_list("tenant_id").annotate(rows=Count("id")).filter(rows__gt=MOST_KEPT)
        for tenant_id, _rows in list(many):
            mine = rows.filter(tenant_id=tenant_id)
            kept = list(mine.order_by("-answers", "-id").values_list("id", flat=True)[:MOST_KEPT])
            mine.exclude(id__in=kept).delete()
