"""`GET /v1/usage`: a tenant's own rows, the newest first, by pages; `/days`: their sums, every day of the span."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from tenants.ids import new_id
from tenants.models import Tenant, Usage
from tests.api.caller import Caller, refused_fields

pytestmark = pytest.mark.django_db
MONDAY = datetime(2026, 11, 2, 12, tzinfo=UTC)


def used(tenant: Tenant, at: datetime, outcome: str = "hit", **fields: Any) -> Usage:
    fields = {"characters": 10, "duration": 1.5, "request_id": f"req_{new_id().hex}", **fields}
    return Usage.objects.create(id=new_id(), tenant=tenant, at=at, outcome=outcome, **fields)


def test_rows_of_the_tenant_alone_the_newest_first(owner: Caller, stranger: Caller) -> None:
    older = used(owner.member.tenant, MONDAY, "miss", state="failed", duration=None, engine="kokoro", voice="zf_001")
    newer = used(owner.member.tenant, MONDAY + timedelta(seconds=1), category="the till")
    used(stranger.member.tenant, MONDAY)
    told = owner.get("/v1/usage").json()["results"]
    assert [row["request_id"] for row in told] == [newer.request_id, older.request_id]
    assert told[1] == {
        "object": "usage",
        "request_id": older.request_id,
        "at": "2026-11-02T12:00:00Z",
        "outcome": "miss",
        "status": "failed",
        "count": 1,
        "engine": "kokoro",
        "voice": "zf_001",
        "language": "",
        "category": "",
        "characters": 10,
        "duration": None,
    }
    assert (told[0]["category"], told[0]["duration"]) == ("the till", 1.5)


def test_it_is_paged_and_filtered(owner: Caller) -> None:
    rows = [used(owner.member.tenant, MONDAY + timedelta(seconds=number)) for number in range(5)]
    used(owner.member.tenant, MONDAY, "miss")
    first = owner.get("/v1/usage", {"limit": 2, "outcome": "hit"}).json()
    second = owner.get(first["next"]).json()
    found = [row["request_id"] for row in first["results"] + second["results"]]
    assert found == [row.request_id for row in rows[:0:-1]]
    span = {"after": "2026-11-02T12:00:00Z", "before": "2026-11-02T12:00:03Z"}
    assert len(owner.get("/v1/usage", span).json()["results"]) == 2
    assert refused_fields(owner.get("/v1/usage", {"outcom": "hit"})) == {"outcom": "unknown_field"}
    assert refused_fields(owner.get("/v1/usage", {"outcome": "x"})) == {"outcome": "invalid_choice"}


def test_days_are_summed_and_gaps_counted(owner: Caller, stranger: Caller) -> None:
    used(owner.member.tenant, MONDAY)
    used(owner.member.tenant, MONDAY, "miss", characters=7, duration=None)
    used(owner.member.tenant, MONDAY.replace(hour=23, minute=59), "gap", count=40, characters=0, duration=None)
    used(owner.member.tenant, MONDAY + timedelta(days=1, hours=11), "restored")
    used(stranger.member.tenant, MONDAY)
    told = owner.get("/v1/usage/days", {"from": "2026-11-02", "to": "2026-11-04"}).json()
    nothing = {"requests": 0, "from_cache": 0, "characters": 0, "duration": 0.0, "lost": 0}
    assert told["days"] == [
        {"day": "2026-11-02", "requests": 42, "from_cache": 41, "characters": 17, "duration": 1.5, "lost": 40},
        {**nothing, "day": "2026-11-03", "requests": 1, "from_cache": 1, "characters": 10, "duration": 1.5},
        {**nothing, "day": "2026-11-04"},
    ]
    assert told["total"] == {"requests": 43, "from_cache": 42, "characters": 27, "duration": 3.0, "lost": 40}


def test_without_a_span_it_is_the_last_days(owner: Caller) -> None:
    days = owner.get("/v1/usage/days").json()["days"]
    assert days[-1]["day"] == datetime.now(UTC).date().isoformat()
    assert date.fromisoformat(days[0]["day"]) < date.fromisoformat(days[-1]["day"])
