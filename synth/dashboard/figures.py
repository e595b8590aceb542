"""Sums of days, from roll-ups alone: no query here reads a table that has a row for each request or entry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import date, timedelta
from functools import cached_property
from typing import Any
from uuid import UUID

from django.db.models import Q, Sum

from synth import observed
from synth.hits import Hits
from synth.missed import REASONS
from synth.models import Entry, FailureDay, MissDay
from synth.observed import Latency
from synth.savings import Savings, savings
from synth.usage import FROM_CACHE
from tenants.models import Tenant, UsageDay
from tenants.models.usage_day import SPOKEN
from tenants.types import TenantRef

TOP = 10
MADE = "miss"


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    """`looked_up` are those that wanted the cache's answer: neither refreshes nor what went past it."""

    requests: int = 0
    hits: int = 0
    looked_up: int = 0
    characters: int = 0
    failed: int = 0

    @property
    def hit_rate(self) -> float | None:
        return self.hits / self.looked_up if self.looked_up else None

    def __add__(self, other: Requests) -> Requests:
        return Requests(
            **{item.name: getattr(self, item.name) + getattr(other, item.name) for item in fields(Requests)}
        )


@dataclass(frozen=True, slots=True)
class Phrase:
    """`entry` is None where the catalogue has it no more."""

    entry: Entry | None
    answers: int


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Of one tenant, or of all; every day from the first to the last, which is today. UTC."""

    days: tuple[date, ...]
    requests: Mapping[date, Requests]
    savings: Savings
    latency: Mapping[tuple[date, str], Latency]
    misses: Mapping[date, Counter[str]]
    failures: Mapping[date, Counter[str]]
    tenants: list[tuple[Tenant, Requests]]
    phrases: list[Phrase]

    @property
    def today(self) -> date:
        return self.days[-1]

    @cached_property
    def total(self) -> Requests:
        return sum(self.requests.values(), Requests())

    def latency_of(self, what: str, day: date | None = None) -> Latency:
        """Of one day, or of all."""
        return sum(
            (found for (at, kind), found in self.latency.items() if kind == what and day in (None, at)), Latency()
        )


def figures(first: date, last: date, *, tenant: TenantRef | None = None) -> Figures:
    """Both days included."""
    requests, hits = _requests(first, last, tenant)
    days = tuple(first + timedelta(days=number) for number in range((last - first).days + 1))
    return Figures(
        days=days,
        requests={day: requests.get(day, Requests()) for day in days},
        savings=savings(first, last, tenant=tenant, hits=hits),
        latency={} if tenant else observed.latency_by_day(first, last),
        misses=_misses(first, last, tenant),
        failures=_failures(first, last, tenant),
        tenants=[] if tenant else _top_tenants(first, last),
        phrases=_top_phrases(first, last, tenant),
    )


def _of(rows: Any, tenant: TenantRef | None) -> Any:
    return rows if tenant is None else rows.filter(tenant_id=tenant.id)


def _requests(
    first: date, last: date, tenant: TenantRef | None
) -> tuple[dict[date, Requests], dict[tuple[date, str], Hits]]:
    rows = _of(UsageDay.objects.filter(day__range=(first, last)).exclude(outcome=SPOKEN), tenant).order_by()
    sums = rows.values_list("day", "engine", "outcome", "state").annotate(Sum("requests"), Sum("characters"))
    days: dict[date, Requests] = {}
    hits: dict[tuple[date, str], Hits] = {}
    for day, engine, outcome, state, count, characters in sums:
        days[day] = days.get(day, Requests()) + _counted(outcome, state, count, characters)
        if outcome in FROM_CACHE and engine:
            before = hits.get((day, engine), Hits())
            hits[day, engine] = Hits(hits=before.hits + count, characters=before.characters + characters)
    return days, hits


def _counted(outcome: str, state: str, count: int, characters: int) -> Requests:
    is_hit = outcome in FROM_CACHE
    return Requests(
        requests=count,
        hits=count if is_hit else 0,
        looked_up=count if is_hit or outcome == MADE else 0,
        characters=characters,
        failed=count if state == "failed" else 0,
    )


def _misses(first: date, last: date, tenant: TenantRef | None) -> dict[date, Counter[str]]:
    rows = _of(MissDay.objects.filter(day__range=(first, last)), tenant).order_by()
    sums = rows.values_list("day").annotate(*(Sum(reason) for reason in REASONS))
    return {day: Counter(dict(zip(REASONS, counts, strict=True))) for day, *counts in sums}


def _failures(first: date, last: date, tenant: TenantRef | None) -> dict[date, Counter[str]]:
    rows = _of(FailureDay.objects.filter(day__range=(first, last)), tenant).order_by()
    found: dict[date, Counter[str]] = {}
    for day, code, count in rows.values_list("day", "code").annotate(Sum("failures")):
        found.setdefault(day, Counter())[code] = count
    return found


def _top_tenants(first: date, last: date) -> list[tuple[Tenant, Requests]]:
    rows = UsageDay.objects.filter(day__range=(first, last)).exclude(outcome=SPOKEN).order_by()
    looked_up = Q(outcome__in=(*FROM_CACHE, MADE))
    sums = rows.values("tenant_id").annotate(
        asked=Sum("requests"),
        said=Sum("characters"),
        found=Sum("requests", filter=Q(outcome__in=FROM_CACHE), default=0),
        sought=Sum("requests", filter=looked_up, default=0),
        lost=Sum("requests", filter=Q(state="failed"), default=0),
    )
    most = list(sums.order_by("-asked", "tenant_id")[:TOP])
    known = Tenant.objects.in_bulk([row["tenant_id"] for row in most])  # usage outlives its tenant
    return [(known[row["tenant_id"]], _summed(row)) for row in most if row["tenant_id"] in known]


def _summed(row: Mapping[str, Any]) -> Requests:
    return Requests(
        requests=row["asked"], hits=row["found"], looked_up=row["sought"], characters=row["said"], failed=row["lost"]
    )


def _top_phrases(first: date, last: date, tenant: TenantRef | None) -> list[Phrase]:
    top = observed.top_phrases(first, last, limit=TOP, tenant=tenant)
    entries = entries_of({phrase for phrase, _answers in top})
    return [Phrase(entries.get(phrase), answers) for phrase, answers in top]


def entries_of(phrases: Iterable[tuple[UUID, str]]) -> dict[tuple[UUID, str], Entry]:
    """What the catalogue has of these (tenant's id, rendition key)."""
    wanted = set(phrases)
    tenants, keys = {tenant_id for tenant_id, _ in wanted}, {key for _, key in wanted}
    rows = Entry.objects.filter(tenant_id__in=tenants, kind=Entry.Kind.RENDITION, key__in=keys).order_by()
    found = {(row.tenant_id, row.key): row for row in rows.select_related("tenant").defer("spec", "provenance")}
    return {key: row for key, row in found.items() if key in wanted}
