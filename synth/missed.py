"""What was missed and why: counts by day, and examples. Read by the API and the admin; service/missing.py writes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, timedelta

from django.db.models import CharField, F, OuterRef, QuerySet, Subquery
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Left

from synth.metrics import MissReason
from synth.models import MissDay, MissExample, MissParameter, Rendering
from tenants.types import TenantRef

REASONS = tuple(str(reason) for reason in MissReason)
# Of the texts of examples.
MOST_TEXT = 200


@dataclass(frozen=True, slots=True)
class Missed:
    """Counts by reason, and of near misses by the parameter that differed."""

    reasons: Counter[str] = field(default_factory=Counter)
    parameters: Counter[str] = field(default_factory=Counter)

    @property
    def misses(self) -> int:
        return self.reasons.total()

    def __add__(self, other: Missed) -> Missed:
        return Missed(self.reasons + other.reasons, self.parameters + other.parameters)


def by_day(tenant: TenantRef, first: date, last: date) -> dict[date, Missed]:
    """Every day from the first to the last (UTC), in order."""
    days = {first + timedelta(days=number): Missed() for number in range((last - first).days + 1)}
    for row in MissDay.objects.filter(tenant_id=tenant.id, day__range=(first, last)):
        days[row.day].reasons.update({reason: getattr(row, reason) for reason in REASONS})
    for parameter in MissParameter.objects.filter(tenant_id=tenant.id, day__range=(first, last)):
        days[parameter.day].parameters[parameter.parameter] = parameter.misses
    return days


def total(days: Iterable[Missed]) -> Missed:
    return sum(days, Missed())


def examples(tenant: TenantRef, *, reason: str = "") -> QuerySet[MissExample]:
    """The tenant's last misses, the newest first, with `text` and `nearest_text` as far as they are kept in clear."""
    rows = MissExample.objects.filter(tenant_id=tenant.id)
    return with_texts(rows.filter(reason=reason) if reason else rows).order_by("-created_at", "-id")


def with_texts(rows: QuerySet[MissExample]) -> QuerySet[MissExample]:
    """The beginnings of what was said, cut by the database: pages of long texts stay small."""
    nearest = Rendering.objects.filter(id=OuterRef("nearest_id"), tenant_id=OuterRef("tenant_id")).order_by()
    said = Left(KeyTextTransform("text", "spec"), MOST_TEXT)
    return rows.select_related("job").annotate(
        text=Left(KeyTextTransform("text", F("job__rendering__spec")), MOST_TEXT),
        nearest_text=Subquery(nearest.annotate(said=said).values("said"), output_field=CharField()),
    )
