"""What became of the items of a batch: for its pages, its manifest and its archive. Reads some lines at a time."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet

from synth import codec
from synth.models import CurationAction, CurationLine, Entry, Job, Rendering
from synth.models.clock import database_now
from synth.models.states import State
from synth.service.batches.items import CUSTOM_ID
from synth.service.sentence_times import SentenceTimes, TimedSentence
from synth.stored import audio_is_kept, of_entry, of_job, spec_of
from synth.types import Spec, StoredAudio
from tenants.ids import public_id
from tenants.types import TenantRef

AT_ONCE = 100
Outcome = CurationLine.Outcome
# Outcome -> what callers are told.
STATUSES = {
    Outcome.WAITING.value: "waiting",
    Outcome.OPEN.value: "running",
    Outcome.DONE.value: "succeeded",
    Outcome.CACHED.value: "cached",
    Outcome.FAILED.value: "failed",
    Outcome.REFUSED.value: "refused",
    Outcome.CANCELED.value: "canceled",
}
OUTCOMES = {status: outcome for outcome, status in STATUSES.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemResult:
    """One item. `speech_id` is its job's, or that of the entry which answered it.

    `stored` is None where there is no sound, or it is kept no longer; `problems` are the fields of a refusal.
    """

    line: int
    custom_id: str
    status: str
    speech_id: str | None = None
    error_code: str = ""
    error_detail: str = ""
    problems: Sequence[Mapping[str, Any]] = ()
    stored: StoredAudio | None = None
    sentences: Sequence[TimedSentence] | None = None


def lines_of(batch: CurationAction, *, status: str = "") -> QuerySet[CurationLine]:
    """Its items in order, or those with one status."""
    rows = CurationLine.objects.filter(action=batch).order_by("number")
    return rows.filter(outcome=OUTCOMES[status]) if status else rows


def results_of(tenant: TenantRef, lines: Sequence[CurationLine]) -> list[ItemResult]:
    """Without times of sentences."""
    sounds = _Sounds(tenant, lines)
    return [_result(line, sounds) for line in lines]


def all_results(tenant: TenantRef, batch: CurationAction) -> Iterator[ItemResult]:
    """Every item with its sentences. No database connection is held while they are handed out."""
    times = SentenceTimes()
    last = 0
    while lines := list(lines_of(batch).filter(number__gt=last)[:AT_ONCE]):
        last = lines[-1].number
        sounds = _Sounds(tenant, lines)
        found = [replace(_result(line, sounds), sentences=sounds.sentences(line, times)) for line in lines]
        connection.close_if_unusable_or_obsolete()
        yield from found


class _Sounds:
    """The jobs and entries of some lines, in two queries."""

    def __init__(self, tenant: TenantRef, lines: Sequence[CurationLine]) -> None:
        jobs = Job.objects.filter(tenant_id=tenant.id).select_related("rendering")
        self._jobs = jobs.in_bulk([line.job_id for line in lines if line.job_id])
        wanted = {line.entry_id for line in lines if line.entry_id}
        wanted |= {job.rendering.entry_id for job in self._jobs.values() if job.rendering.entry_id}
        self._entries = Entry.objects.filter(tenant_id=tenant.id).in_bulk(list(wanted))
        self._now = database_now()

    def of(self, line: CurationLine) -> StoredAudio | None:
        job, entry = self._job(line), self._entry(line.entry_id)
        if job is None:
            return of_entry(entry) if entry else None
        is_there = job.state == State.SUCCEEDED and audio_is_kept(job, now=self._now, is_named=self._is_named)
        return of_job(job) if is_there else None

    def sentences(self, line: CurationLine, times: SentenceTimes) -> list[TimedSentence] | None:
        stored, job = self.of(line), self._job(line)
        if stored is None:
            return None
        if job is not None:
            spec, entry = codec.from_json(Spec, job.rendering.spec), self._entry(job.rendering.entry_id)
            return times.of(spec, stored.digest, entry=entry, rendering=job.rendering)
        entry = self._entry(line.entry_id)
        if entry is None or entry.spec is None:
            return None
        return times.of(spec_of(entry), stored.digest, entry=entry, rendering=None)

    def speech_id(self, line: CurationLine) -> str | None:
        job = self._job(line)
        if job is not None:
            return job.public_id
        return public_id("ent", line.entry_id) if line.entry_id else None

    def _job(self, line: CurationLine) -> Job | None:
        return self._jobs.get(line.job_id) if line.job_id else None

    def _entry(self, entry_id: UUID | None) -> Entry | None:
        return self._entries.get(entry_id) if entry_id else None

    def _is_named(self, rendering: Rendering) -> bool:
        entry = self._entry(rendering.entry_id)
        return entry is not None and entry.digest == rendering.digest


def _result(line: CurationLine, sounds: _Sounds) -> ItemResult:
    stored = sounds.of(line) if line.outcome in (Outcome.DONE, Outcome.CACHED) else None
    payload = line.payload or {}
    return ItemResult(
        line=line.number,
        custom_id=payload.get(CUSTOM_ID) or "",
        status=STATUSES[line.outcome],
        speech_id=sounds.speech_id(line),
        error_code=line.error_code,
        error_detail=line.error_detail,
        problems=payload.get("fields", ()) if line.outcome == Outcome.REFUSED else (),
        stored=stored,
    )
