"""A small world of usage and measured engine time, written as the drainer and the workers write it."""

from datetime import UTC, date, datetime, timedelta

from synth import engine_time
from synth.engine_time import Use
from tenants.ids import new_id
from tenants.models import Tenant, Usage

MONDAY = date(2026, 11, 2)
TUESDAY = MONDAY + timedelta(days=1)
WEDNESDAY = MONDAY + timedelta(days=2)


def moment(day: date, hour: int = 12, minute: int = 0, second: int = 0) -> datetime:
    return datetime(day.year, day.month, day.day, hour, minute, second, tzinfo=UTC)


def request(tenant: Tenant, at: datetime, characters: int, *, outcome: str = "hit", engine: str = "kokoro") -> None:
    Usage.objects.create(
        id=new_id(), tenant=tenant, at=at, outcome=outcome, engine=engine, characters=characters, duration=1.0
    )


def measured(tenant: Tenant, day: date, engine: str = "kokoro", **amounts: float) -> None:
    """As a worker that ran on this day would leave it."""
    engine_time._recorder.write({(tenant.id, engine, day): Use(**amounts)})
