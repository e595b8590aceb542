"""Engine time as it was measured: noted by workers and by the miss path, read by savings and metrics.

Both note without SQL; a thread adds the notes to a row for each tenant, engine and day every few seconds.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from datetime import date, timedelta
from operator import itemgetter
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet, Sum
from django.utils import timezone

from synth.models import EngineDay
from synth.models.counting import add_to
from tenants.models import Tenant
from tenants.recorder import Recorder
from tenants.types import TenantRef

WRITE_EVERY = 5.0
# The rate of a day is what was measured over so many days up to it: one quiet day must not make it jump.
WINDOW = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """Amounts that add up; the fields are those of EngineDay."""

    runs: int = 0
    characters: int = 0
    engine_seconds: float = 0.0
    audio_seconds: float = 0.0
    reused_characters: int = 0

    def __add__(self, other: "Use") -> "Use":
        sums = zip(self.__slots__, astuple(self), astuple(other), strict=True)
        return Use(**{name: mine + others for name, mine, others in sums})


AMOUNTS = tuple(Use.__slots__)
Day = tuple[UUID, str, date]


class EngineTime(Recorder[Day, Use]):
    what = "engine-time"

    def merge(self, older: Use, newer: Use) -> Use:
        return older + newer

    def write(self, notes: dict[Day, Use]) -> None:
        """Add to the rows, in one order whoever writes; what is noted of a deleted tenant is dropped."""
        known = set(Tenant.objects.filter(id__in={key[0] for key in notes}).values_list("id", flat=True))
        with transaction.atomic():
            for key in sorted(key for key in notes if key[0] in known):
                tenant_id, engine, day = key
                amounts = {name: getattr(notes[key], name) for name in AMOUNTS}
                add_to(EngineDay, amounts, tenant_id=tenant_id, engine=engine, day=day)


_recorder = EngineTime(interval=WRITE_EVERY)
os.register_at_fork(after_in_child=_recorder.reset)
flush = _recorder.flush


def note_run(tenant: TenantRef, engine: str, *, characters: int, seconds: float, audio: float) -> None:
    """A sentence was spoken, and its sound kept. `audio` is seconds of sound."""
    use = Use(runs=1, characters=characters, engine_seconds=seconds, audio_seconds=audio)
    _recorder.add((tenant.id, engine, timezone.now().date()), use)


def note_reuse(tenant: TenantRef, engine: str, *, characters: int) -> None:
    """A miss needed these characters, and no run was made for them."""
    if characters:
        _recorder.add((tenant.id, engine, timezone.now().date()), Use(reused_characters=characters))


def by_day(first: date, last: date, *, tenant: TenantRef | None = None) -> dict[tuple[date, str], Use]:
    """What engines did on each of these days, for one tenant or for all, by day and engine."""
    rows = EngineDay.objects.filter(day__range=(first, last))
    sums = _sums(rows if tenant is None else rows.filter(tenant_id=tenant.id), "day", "engine")
    return {(day, engine): _use(amounts) for day, engine, *amounts in sums}


def totals(since: date) -> dict[str, Use]:
    """By engine, for all tenants together."""
    sums = _sums(EngineDay.objects.filter(day__gte=since), "engine")
    return {engine: _use(amounts) for engine, *amounts in sums}


def _sums(rows: QuerySet[EngineDay], *names: str) -> Iterable[Any]:
    return rows.order_by().values_list(*names).annotate(*(Sum(name) for name in AMOUNTS))


def _use(amounts: Iterable[Any]) -> Use:
    return Use(**dict(zip(AMOUNTS, amounts, strict=True)))


class Rates:
    """Engine seconds per character, by engine and day: over the week up to the day.

    A day whose week saw no run takes the latest earlier day that has one, or else the earliest later one. Thus what
    is told of a day that is over does not change.
    """

    def __init__(self, uses: Mapping[tuple[date, str], Use]) -> None:
        self._by_engine: dict[str, list[tuple[date, Use]]] = {}
        for (day, engine), use in sorted(uses.items(), key=itemgetter(0)):
            if use.characters:
                self._by_engine.setdefault(engine, []).append((day, use))

    def of(self, engine: str, day: date) -> float | None:
        """None for an engine that was never measured."""
        days = self._by_engine.get(engine, [])
        earlier = [(at, use) for at, use in days if at <= day]
        week = [use for at, use in earlier if at > day - WINDOW]
        if week:
            return _rate(week)
        nearest = earlier[-1:] or days[:1]
        return _rate([use for _, use in nearest]) if nearest else None


def _rate(uses: Iterable[Use]) -> float:
    total = sum(uses, Use())
    return total.engine_seconds / total.characters


def rates(engines: Iterable[str], *, first: date, last: date) -> Rates:
    """What these engines take on these days, measured with all tenants: it does not depend on who asks."""
    uses = by_day(first - WINDOW + timedelta(days=1), last)
    for engine in set(engines):
        runs = EngineDay.objects.filter(engine=engine, characters__gt=0)
        near = runs.filter(day__lte=first - WINDOW).order_by("-day").first()
        near = near or runs.filter(day__gt=first - WINDOW).order_by("day").first()
        if near is not None and (near.day, engine) not in uses:
            uses[near.day, engine] = by_day(near.day, near.day)[near.day, engine]
    return Rates(uses)
