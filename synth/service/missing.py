"""Finds out why requests were no hits, from their rows and off their way: io workers call `judge_misses`.

Nothing is kept but in the job's own row and the counts, in one transaction: whoever dies loses no miss, and two at once
count none twice.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date
from typing import Any
from uuid import UUID

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import BooleanField, Case, QuerySet, TextField, Value, When
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from synth import codec
from synth.cache.misses import Facts, Neighbour, Standing, Verdict, judge, needs_neighbours
from synth.keys import rendition_key, spoken_by
from synth.metrics import MissReason
from synth.models import EngineCardRow, Entry, Job, MissDay, MissExample, MissParameter, Rendering
from synth.models.counting import add_to
from synth.models.prepared import prepared_rows
from synth.models.states import Priority
from synth.queue.shutdown import stopping
from synth.service.endings import standing_of
from synth.types import CacheMode, EngineCard, Manner, Output, Spec

logger = logging.getLogger(__name__)

NO_MISS = "none"  # hits with a job, and work that nobody's request waits for: renewals, refreshes of many, warmings
BATCH = 100
DRAIN_SECONDS = 5.0
# How many texts alike are compared, and how many versions of a model are tried: the newest.
NEIGHBOURS = 20
VERSIONS = 4
# Examples kept of each tenant and reason.
EXAMPLES = 50
_judging = threading.Lock()


@dataclass(frozen=True, slots=True)
class Miss:
    """A job that has been judged. Without a verdict it was no miss of anybody."""

    job: Job
    verdict: Verdict | None

    @property
    def reason(self) -> str:
        return str(self.verdict.reason) if self.verdict else NO_MISS

    @property
    def day(self) -> tuple[UUID, date]:
        return self.job.tenant_id, self.job.created_at.date()


def judge_misses() -> None:
    """One round, at most one at a time in a process."""
    if not _judging.acquire(blocking=False):
        return
    try:
        ends_at = time.monotonic() + DRAIN_SECONDS
        while _judge_batch() and time.monotonic() < ends_at and not stopping.is_set():
            pass
    finally:
        _judging.release()


def _judge_batch() -> bool:
    """The oldest that are not judged; whether there may be more."""
    jobs = list(Job.objects.filter(miss_reason="").select_related("rendering").order_by("created_at")[:BATCH])
    court = _Court(jobs)
    judged = _keep({job.id: Miss(job, court.verdict(job)) for job in jobs})
    return len(jobs) == BATCH and bool(judged)


# --- What is known --------------------------------------------------------------------------------------------------


class _Court:
    """Judges one batch. The catalogue is read before what renderings put into it: so nothing is taken for old news."""

    def __init__(self, jobs: Iterable[Job]) -> None:
        renderings = {job.rendering_id: job.rendering for job in jobs}
        keys = {rendering.key for rendering in renderings.values()}
        tenants = {rendering.tenant_id for rendering in renderings.values()}
        rows = Entry.with_purged.filter(tenant_id__in=tenants, kind=Entry.Kind.RENDITION, key__in=keys)
        columns = ("tenant_id", "key", "created_at", "made_at", "purged_at")
        self._entries = {(row.tenant_id, row.key): row for row in rows.only(*columns).order_by()}
        published = Rendering.objects.filter(id__in=renderings, entry_id__isnull=False).order_by()
        self._replaced: dict[UUID, str] = dict(published.values_list("id", "replaced"))
        self._versions: dict[str, list[EngineCard]] = {}
        self._verdicts: dict[tuple[Any, ...], Verdict] = {}

    def verdict(self, job: Job) -> Verdict | None:
        if job.priority == Priority.REWARM:
            return None
        alike = (job.rendering_id, job.cache, job.degraded)  # the many who waited for one rendition
        if alike not in self._verdicts:
            self._verdicts[alike] = self._judge(job)
        return self._verdicts[alike]

    def _judge(self, job: Job) -> Verdict:
        try:
            facts = self._facts(job)
            if needs_neighbours(facts):
                facts = replace(facts, older_model=self._has_older_model(job.rendering, facts.spec))
            if needs_neighbours(facts):
                facts = replace(facts, neighbours=tuple(_neighbours(job.rendering, facts.spec)))
            return judge(facts)
        except (OperationalError, InterfaceError):  # the database is away: they wait for it
            raise
        except Exception:  # one row that nobody understands must not hold up all others
            logger.exception("the miss of job %s cannot be judged", job.id)
            return Verdict(MissReason.UNKNOWN)

    def _facts(self, job: Job) -> Facts:
        return Facts(
            spec=codec.from_json(Spec, job.rendering.spec),
            cache=CacheMode(job.cache),
            stored=job.rendering.stored,
            degraded=job.degraded,
            standing=self._standing(job.rendering),
        )

    def _standing(self, rendering: Rendering) -> Standing:
        if rendering.id in self._replaced:
            return Standing(self._replaced[rendering.id])
        return standing_of(self._entries.get((rendering.tenant_id, rendering.key)), rendering.created_at)

    def _has_older_model(self, rendering: Rendering, spec: Spec) -> bool:
        """Whether the catalogue has the same as another version of the engine has spoken it."""
        keys = [rendition_key(other) for other in self._as_other_versions(spec)]
        if not keys:
            return False
        rows = Entry.objects.filter(tenant_id=rendering.tenant_id, kind=Entry.Kind.RENDITION, key__in=keys)
        return rows.filter(created_at__lt=rendering.created_at).exists()

    def _as_other_versions(self, spec: Spec) -> Iterable[Spec]:
        engine = spec.manner.engine
        if engine not in self._versions:
            rows = EngineCardRow.objects.filter(name=engine).exclude(card={}).order_by("-created_at")
            self._versions[engine] = [codec.from_json(EngineCard, row.card) for row in rows[:VERSIONS]]
        others = (card for card in self._versions[engine] if card.model_version != spec.manner.model_version)
        said = (spoken_by(card, spec) for card in others)
        return (other for other in said if other is not None)


def _neighbours(rendering: Rendering, spec: Spec) -> Iterable[Neighbour]:
    """What this tenant had asked for before with a text alike; nothing where texts are not to be kept in clear."""
    if not rendering.likeness:
        return
    here = {"tenant_id": rendering.tenant_id, "likeness": rendering.likeness}
    for row_id, manner, output, same_text, was_kept in _alike(**here, before=rendering.created_at, text=spec.text):
        other = _without_text(manner, output)
        if other is not None:
            yield Neighbour(row_id, other, same_text, was_kept)


def _without_text(manner: Any, output: Any) -> Spec | None:
    """None for what this version of Refrain cannot read: a neighbour the fewer."""
    try:
        return Spec(codec.from_json(Manner, manner), "", codec.from_json(Output, output))
    except Exception:  # noqa: BLE001 - whatever it is that cannot be read
        return None


@prepared_rows
def _alike(*, tenant_id: Any, likeness: Any, before: Any, text: Any) -> QuerySet[Rendering, Any]:
    others = Rendering.objects.filter(tenant_id=tenant_id, likeness=likeness, created_at__lt=before)
    said = Cast(KeyTextTransform("text", "spec"), TextField())  # or else it would be compared as JSON
    found = others.annotate(
        said=said, same=_whether(said=text), was_kept=_whether(entry_id__isnull=False, ended_at__lt=before)
    )
    return found.order_by("-created_at").values_list("id", "spec__manner", "spec__output", "same", "was_kept")[
        :NEIGHBOURS
    ]


def _whether(**condition: Any) -> Case:
    return Case(When(**condition, then=Value(True)), default=Value(False), output_field=BooleanField())


# --- What is kept ---------------------------------------------------------------------------------------------------


@transaction.atomic
def _keep(misses: Mapping[UUID, Miss]) -> list[Miss]:
    """Write down those that nobody else has: which are these is told."""
    free = Job.objects.select_for_update(skip_locked=True, no_key=True).filter(id__in=list(misses), miss_reason="")
    mine = [misses[job_id] for job_id in free.order_by().values_list("id", flat=True)]
    for reason in {miss.reason for miss in mine}:
        Job.objects.filter(id__in=[miss.job.id for miss in mine if miss.reason == reason]).update(miss_reason=reason)
    found = [miss for miss in mine if miss.verdict is not None]
    _count(found)
    _show(found)
    return mine


def _count(misses: Iterable[Miss]) -> None:
    """Days before parameters, each in one order whoever counts: so two wait for each other, and never in a circle."""
    days: dict[tuple[UUID, date], Counter[str]] = {}
    parameters: dict[tuple[UUID, date], Counter[str]] = {}
    for miss in misses:
        days.setdefault(miss.day, Counter())[miss.reason] += 1
        differences = miss.verdict.differences if miss.verdict and miss.reason == MissReason.NEAR_MISS else ()
        for item in differences:
            parameters.setdefault(miss.day, Counter())[item.parameter] += 1
    for (tenant_id, day), reasons in sorted(days.items()):
        add_to(MissDay, reasons, tenant_id=tenant_id, day=day)
    for (tenant_id, day), counts in sorted(parameters.items()):
        for parameter in sorted(counts):
            add_to(MissParameter, {"misses": counts[parameter]}, tenant_id=tenant_id, day=day, parameter=parameter)


def _show(misses: Iterable[Miss]) -> None:
    """Keep the last of each tenant and reason as examples, and forget older ones."""
    by_reason: dict[tuple[UUID, str], list[Miss]] = {}
    for miss in misses:
        by_reason.setdefault((miss.job.tenant_id, miss.reason), []).append(miss)
    newest = [miss for found in by_reason.values() for miss in sorted(found, key=_moment)[-EXAMPLES:]]
    MissExample.objects.bulk_create(map(_example, newest))
    for tenant_id, reason in sorted(by_reason):
        rows = MissExample.objects.filter(tenant_id=tenant_id, reason=reason).order_by("-created_at", "-id")
        MissExample.objects.filter(id__in=list(rows.values_list("id", flat=True)[EXAMPLES : EXAMPLES + BATCH])).delete()


def _example(miss: Miss) -> MissExample:
    verdict = miss.verdict
    assert verdict is not None  # noqa: S101 - only those are shown
    return MissExample(
        tenant_id=miss.job.tenant_id,
        reason=miss.reason,
        job_id=miss.job.id,
        nearest_id=verdict.nearest,
        differences=[asdict(item) for item in verdict.differences],
        created_at=miss.job.created_at,
    )


def _moment(miss: Miss) -> Any:
    return miss.job.created_at
