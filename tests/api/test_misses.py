"""`GET /v1/cache/misses` and its examples: a tenant's own, by day and reason, with what near misses differed in."""

from datetime import UTC, date, datetime

import pytest

from synth import service
from synth.metrics import MissReason
from synth.models import Job, MissDay, MissParameter
from tests.api.caller import Caller, refused_fields

pytestmark = pytest.mark.django_db
MONDAY, TUESDAY, WEDNESDAY = (date(2026, 11, day) for day in (2, 3, 4))
PERIOD = {"from": MONDAY.isoformat(), "to": WEDNESDAY.isoformat()}
LONG = "It is 9:05 now. " + "Welcome to our shop. " * 40


def counted(caller: Caller, day: date, **reasons: int) -> None:
    MissDay.objects.create(tenant=caller.member.tenant, day=day, **reasons)


@pytest.fixture
def judged(owner: Caller, stranger: Caller) -> None:
    """Three texts of the owner's, two of them near misses, and one of the stranger's."""
    for body in (
        {"text": LONG},
        {"text": LONG.replace("9:05", "10:17"), "category": "news"},
        {"text": LONG, "seed": 7},
    ):
        assert owner.speak(**body, wait=0).status_code == 202
    assert stranger.speak(text="The words of a stranger.", wait=0).status_code == 202
    service.judge_misses()


def test_days_and_their_total(owner: Caller) -> None:
    counted(owner, MONDAY, first_seen=3, near_miss=2)
    counted(owner, WEDNESDAY, near_miss=4, expired=1)
    for day, parameter, misses in ((MONDAY, "seed", 2), (WEDNESDAY, "seed", 1), (WEDNESDAY, "text", 3)):
        MissParameter.objects.create(tenant=owner.member.tenant, day=day, parameter=parameter, misses=misses)
    told = owner.get("/v1/cache/misses", PERIOD).json()
    none = dict.fromkeys(map(str, MissReason), 0)
    assert told == {
        "object": "misses",
        "from": "2026-11-02",
        "to": "2026-11-04",
        "total": {
            "misses": 10,
            "reasons": none | {"first_seen": 3, "near_miss": 6, "expired": 1},
            "parameters": {"seed": 3, "text": 3},
        },
        "days": [
            {
                "day": "2026-11-02",
                "misses": 5,
                "reasons": none | {"first_seen": 3, "near_miss": 2},
                "parameters": {"seed": 2},
            },
            {"day": "2026-11-03", "misses": 0, "reasons": none, "parameters": {}},
            {
                "day": "2026-11-04",
                "misses": 5,
                "reasons": none | {"near_miss": 4, "expired": 1},
                "parameters": {"text": 3, "seed": 1},
            },
        ],
    }


def test_the_parameter_that_differs_most_comes_first(owner: Caller) -> None:
    for parameter, misses in (("format", 1), ("seed", 9), ("text", 4)):
        MissParameter.objects.create(tenant=owner.member.tenant, day=MONDAY, parameter=parameter, misses=misses)
    told = owner.get("/v1/cache/misses", PERIOD).json()
    assert list(told["total"]["parameters"]) == ["seed", "text", "format"]


def test_each_tenant_sees_its_own_alone(owner: Caller, stranger: Caller, judged: None) -> None:
    assert owner.get("/v1/cache/misses").json()["total"]["reasons"]["near_miss"] == 2
    told = stranger.get("/v1/cache/misses").json()["total"]
    assert (told["misses"], told["reasons"]["first_seen"], told["parameters"]) == (1, 1, {})
    (example,) = stranger.get("/v1/cache/misses/examples").json()["results"]
    assert example["text"] == "The words of a stranger."


def test_examples_tell_what_differed_and_from_what(owner: Caller, judged: None) -> None:
    by_seed, by_text, first = owner.get("/v1/cache/misses/examples").json()["results"]
    assert [row["reason"] for row in (first, by_text, by_seed)] == ["first_seen", "near_miss", "near_miss"]
    assert (first["differences"], first["nearest_text"]) == ([], None)
    assert by_text["differences"] == [{"parameter": "text", "value": None, "other": None}]
    assert by_seed["differences"] == [{"parameter": "seed", "value": 7, "other": None}]
    assert by_text["category"] == "news"
    assert (by_text["text"], by_text["nearest_text"]) == (LONG.replace("9:05", "10:17")[:200], LONG[:200])
    job = Job.objects.get(tenant=owner.member.tenant, category="news")
    assert (by_text["job_id"], by_text["request_id"]) == (job.public_id, job.request_id)
    assert datetime.fromisoformat(by_text["created_at"]).tzinfo == UTC


def test_examples_are_filtered_and_paged(owner: Caller, judged: None) -> None:
    one = owner.get("/v1/cache/misses/examples", {"reason": "near_miss", "limit": 1}).json()
    assert [row["differences"][0]["parameter"] for row in one["results"]] == ["seed"]
    two = owner.get(one["next"]).json()
    assert [row["differences"][0]["parameter"] for row in two["results"]] == ["text"]
    assert two["next"] is None


@pytest.mark.parametrize(
    ("path", "query", "refused"),
    [
        ("misses", {"from": "yesterday"}, {"from": "invalid"}),
        ("misses", {"from": "2020-11-02"}, {"from": "out_of_range"}),
        ("misses", {"reason": "expired"}, {"reason": "unknown_field"}),
        ("misses/examples", {"reason": "bad_luck"}, {"reason": "invalid_choice"}),
        ("misses/examples", {"raeson": "expired"}, {"raeson": "unknown_field"}),
    ],
)
def test_what_cannot_be_told_is_refused(owner: Caller, path: str, query: dict, refused: dict) -> None:
    assert refused_fields(owner.get(f"/v1/cache/{path}", query)) == refused
