"""Which entries an action of people is about: by id or by filter. Frozen when the action is ordered."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from synth.models import Entry
from tenants.types import TenantRef

# Words of a filter -> look-ups.
COLUMNS = {
    "voice": "voice",
    "engine": "engine",
    "model_version": "model_version",
    "category": "category",
    "text_contains": "text__icontains",
    "kind": "kind",
    "pinned": "pinned",
    "made_before": "made_at__lt",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryFilter:
    """What is None or '' matches any; the rest must all hold. `text_contains` does not heed letter case."""

    voice: str = ""
    engine: str = ""
    model_version: str = ""
    category: str = ""
    text_contains: str = ""
    kind: str = ""
    pinned: bool | None = None
    made_before: datetime | None = None

    @property
    def conditions(self) -> dict[str, Any]:
        held = {name: getattr(self, name) for name in COLUMNS}
        return {COLUMNS[name]: value for name, value in held.items() if value not in ("", None)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Entries by id or by filter. What is made after `until` is not part of it."""

    ids: tuple[UUID, ...] = ()
    filter: EntryFilter | None = None
    until: datetime | None = None

    def rows(self, tenant: TenantRef | None) -> QuerySet[Entry]:
        """In the order of their ids. Without a tenant those of all."""
        found = Entry.objects.order_by("id") if tenant is None else Entry.objects.filter(tenant_id=tenant.id)
        found = found.filter(**self.filter.conditions) if self.filter else found.filter(id__in=self.ids)
        return (found.filter(made_at__lte=self.until) if self.until else found).order_by("id")

    def frozen_at(self, now: datetime) -> "Selection":
        return replace(self, until=now)

    def to_json(self) -> dict[str, Any]:
        told = {name: _told(getattr(self.filter, name)) for name in COLUMNS} if self.filter else None
        return {"ids": [item.hex for item in self.ids], "filter": told, "until": _told(self.until)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Selection":
        told = data["filter"]
        return cls(
            ids=tuple(UUID(hex=item) for item in data["ids"]),
            filter=EntryFilter(**{**told, "made_before": _moment(told["made_before"])}) if told else None,
            until=_moment(data["until"]),
        )


def _told(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
