"""`GET /v1/savings`: a tenant's own days, as many as it asked for, whose sum is the total."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.api.caller import Caller, refused_fields
from tests.synth.savings.world import MONDAY, TUESDAY, WEDNESDAY, measured, moment, request

pytestmark = pytest.mark.django_db
PERIOD = {"from": MONDAY.isoformat(), "to": WEDNESDAY.isoformat()}


@pytest.fixture
def used(owner: Caller, stranger: Caller) -> None:
    measured(stranger.member.tenant, MONDAY, runs=10, characters=400, engine_seconds=20.0)
    request(owner.member.tenant, moment(MONDAY), 100)
    request(owner.member.tenant, moment(TUESDAY), 40, outcome="stale")
    request(stranger.member.tenant, moment(TUESDAY), 7)


def test_days_and_their_total(owner: Caller, used: None, settings) -> None:
    settings.REFRAIN = {**settings.REFRAIN, "GPU_PRICE_PER_HOUR": {"": 1.8}, "ENGINE_WATTS": {"kokoro": 400.0}}
    told = owner.get("/v1/savings", PERIOD).json()
    assert {name: told[name] for name in ("object", "from", "to", "currency")} == {
        "object": "savings",
        "from": "2026-11-02",
        "to": "2026-11-04",
        "currency": "USD",
    }
    assert [day["day"] for day in told["days"]] == ["2026-11-02", "2026-11-03", "2026-11-04"]
    assert told["days"][0] == {
        "day": "2026-11-02",
        "hits": 1,
        "characters": 100,
        "reused_characters": 0,
        "engine_seconds": 5.0,
        "engine_seconds_spent": 0.0,
        "cost": 0.0025,
        "energy_kwh": 0.000556,
        "engines": [
            {
                "engine": "kokoro",
                "seconds_per_character": 0.05,
                "hits": 1,
                "characters": 100,
                "reused_characters": 0,
                "engine_seconds": 5.0,
                "engine_seconds_spent": 0.0,
                "cost": 0.0025,
                "energy_kwh": 0.000556,
            }
        ],
    }
    assert (told["total"]["hits"], told["total"]["engine_seconds"], told["total"]["cost"]) == (2, 7.0, 0.0035)
    assert told["days"][2]["engines"] == []


def test_each_tenant_sees_its_own_alone(owner: Caller, stranger: Caller, used: None) -> None:
    assert owner.get("/v1/savings", PERIOD).json()["total"]["characters"] == 140
    seen = stranger.get("/v1/savings", PERIOD).json()["total"]
    assert (seen["characters"], seen["engine_seconds"], seen["engine_seconds_spent"]) == (7, 0.35, 20.0)


def test_without_a_price_money_is_null(owner: Caller, used: None) -> None:
    told = owner.get("/v1/savings", PERIOD).json()
    assert (told["currency"], told["total"]["cost"], told["total"]["energy_kwh"]) == (None, None, None)


def test_by_itself_it_tells_of_thirty_days_up_to_today(owner: Caller) -> None:
    today = datetime.now(UTC).date()
    told = owner.get("/v1/savings").json()
    days = [day["day"] for day in told["days"]]
    assert len(days) == 30
    assert (days[0], days[-1]) == (told["from"], told["to"])
    assert told["to"] in {today.isoformat(), (today + timedelta(days=1)).isoformat()}


@pytest.mark.parametrize(
    ("query", "field", "code"),
    [
        ({"from": "yesterday"}, "from", "invalid"),
        ({"to": "2026-02-30"}, "to", "invalid"),
        ({"from": "2026-11-02", "to": "2026-11-01"}, "from", "out_of_range"),
        ({"from": "2024-11-01", "to": "2026-11-01"}, "from", "out_of_range"),
        ({"to": "0001-01-01"}, "from", "out_of_range"),
        ({"to": "9999-12-31"}, "from", "out_of_range"),
        ({"form": "2026-11-02"}, "form", "unknown_field"),
    ],
)
def test_what_cannot_be_told_is_refused(owner: Caller, query: dict, field: str, code: str) -> None:
    assert refused_fields(owner.get("/v1/savings", query)) == {field: code}


def test_a_leap_year_is_not_too_long(owner: Caller) -> None:
    told = owner.get("/v1/savings", {"from": "2024-01-01", "to": "2024-12-31"}).json()
    assert len(told["days"]) == 366
