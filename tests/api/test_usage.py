"""`GET /v1/usage`: a tenant's own rows, the newest first, by pages; `/days`: their sums, every day of the span."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from tenants import service
from tenants.ids import new_id, public_id
from tenants.models import Tenant, Usage
from tenants.usage import add_spoken, write_usage
from tests.api.caller import Caller, refused_fields

pytestmark = pytest.mark.django_db
MONDAY = datetime(2026, 11, 2, 12, tzinfo=UTC)


def used(tenant: Tenant, at: datetime, outcome: str = "hit", **fields: Any) -> Usage:
    fields = {"characters": 10, "duration": 1.5, "request_id": f"req_{new_id().hex}", **fields}
    row = Usage(id=new_id(), tenant=tenant, at=at, outcome=outcome, **fields)
    write_usage([row])
    return row


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
    nothing = {"requests": 0, "from_cache": 0, "characters": 0, "synthesised": 0, "duration": 0.0, "lost": 0}
    assert told["days"] == [
        {
            **nothing,
            "day": "2026-11-02",
            "requests": 42,
            "from_cache": 41,
            "characters": 17,
            "duration": 1.5,
            "lost": 40,
        },
        {**nothing, "day": "2026-11-03", "requests": 1, "from_cache": 1, "characters": 10, "duration": 1.5},
        {**nothing, "day": "2026-11-04"},
    ]
    assert told["total"] == {**nothing, "requests": 43, "from_cache": 42, "characters": 27, "duration": 3.0, "lost": 40}


def test_without_a_span_it_is_the_last_days(owner: Caller) -> None:
    days = owner.get("/v1/usage/days").json()["days"]
    assert days[-1]["day"] == datetime.now(UTC).date().isoformat()
    assert date.fromisoformat(days[0]["day"]) < date.fromisoformat(days[-1]["day"])


def test_totals_by_what_is_named(owner: Caller, stranger: Caller) -> None:
    key = owner.member.key.id
    for voice, characters in (("a", 1), ("a", 2), ("b", 4)):
        used(owner.member.tenant, MONDAY, voice=voice, characters=characters, api_key_id=key)
    used(owner.member.tenant, MONDAY + timedelta(days=1), voice="a", characters=8)
    used(stranger.member.tenant, MONDAY, voice="a")
    add_spoken(owner.member.tenant.id, key, day=MONDAY.date(), engine="", voice="b", characters=16)
    span = {"from": "2026-11-01", "to": "2026-11-30"}

    def told(*names: str, **query: str) -> list[tuple[object, ...]]:
        rows = owner.get("/v1/usage/totals", {**span, "group_by": ",".join(names), **query}).json()["results"]
        return [
            (*(row[name] for name in names), row["requests"], row["characters"], row["synthesised"]) for row in rows
        ]

    assert told("voice") == [("a", 3, 11, 0), ("b", 1, 4, 16)]
    by_day = [("2026-11-02", "a", 2, 3, 0), ("2026-11-02", "b", 1, 4, 16), ("2026-11-03", "a", 1, 8, 0)]
    assert told("day", "voice") == by_day
    assert told("key") == [(None, 1, 8, 0), (public_id("key", key), 3, 7, 16)]
    assert told("voice", limit="1", offset="1") == [("b", 1, 4, 16)]
    assert refused_fields(owner.get("/v1/usage/totals", {"group_by": "day,text"})) == {"group_by": "invalid_choice"}


def test_quotas_of_the_account_and_of_the_key(owner: Caller) -> None:
    service.limit_quotas(owner.member.tenant, characters_per_day=100, max_voices=3)
    service.limit_key_quotas(owner.member.key, synthesis_per_month=50)
    used(owner.member.tenant, datetime.now(UTC), characters=30)
    told = {(row["scope"], row["quota"]): row for row in owner.get("/v1/usage/quotas").json()["quotas"]}
    assert len(told) == 12
    asked = told["tenant", "characters_per_day"]
    assert (asked["limit"], asked["used"], asked["remaining"]) == (100, 30, 70)
    assert asked["resets_at"].endswith("T00:00:00Z")
    assert (told["key", "characters_per_day"]["limit"], told["key", "characters_per_day"]["used"]) == (None, 0)
    assert (told["key", "synthesis_per_month"]["limit"], told["tenant", "max_voices"]["remaining"]) == (50, 3)
