"""A request over a limit gets 429 with what it takes to come back; every other one is told what is left."""

import time
from typing import Any

import pytest
from django.http import HttpResponse

from synth import wiring
from synth.keys import Kind, redis_key
from synth.models import Job
from tenants import service
from tests.api.caller import Caller, problem
from tests.finished import finish
from tests.servers.redis import RedisServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]

SLOW = 0.01  # requests a second: none comes back while a test runs


def limit(owner: Caller, burst: int, rate: float = SLOW) -> None:
    service.limit_tenant(owner.member.tenant, rate=rate, burst=burst)


def statuses(owner: Caller, count: int, **body: Any) -> list[int]:
    return [owner.speak(**body).status_code for _ in range(count)]


def test_over_the_limit_it_is_429_and_nothing_is_made(owner: Caller) -> None:
    limit(owner, 2)
    assert statuses(owner, 2) == [202, 202]
    jobs = Job.objects.count()
    refused = owner.speak()
    body = problem(refused)
    assert (refused.status_code, body["code"]) == (429, "rate_limited")
    assert 0 < body["retry_after"] <= 1 / SLOW
    assert body["retry_after"] <= int(refused["Retry-After"]) < body["retry_after"] + 1
    assert refused["RateLimit-Policy"] == '"tenant";q=2;w=200'
    assert refused["RateLimit"].startswith('"tenant";r=0;t=')
    assert Job.objects.count() == jobs


def test_it_says_whose_limit_it_is(owner: Caller) -> None:
    limit(owner, 1)
    statuses(owner, 1)
    assert owner.speak(headers={"Accept-Language": "en"}).json()["detail"].startswith("The rate limit of this account")


def test_every_answer_tells_what_is_left(owner: Caller) -> None:
    limit(owner, 5)
    finish(owner.member, {"text": "Known."})
    told = [owner.speak(text="Known."), owner.speak(text="Known."), owner.speak(text="New.")]
    assert [answer.status_code for answer in told] == [200, 200, 202]
    assert [left(answer, "tenant") for answer in told] == [4, 3, 2]


def left(answer: HttpResponse, name: str) -> int:
    states = dict(part.strip().split(";", 1) for part in answer["RateLimit"].split(","))
    return int(states[f'"{name}"'].partition("r=")[2].partition(";")[0])


def test_without_a_limit_nothing_is_told(owner: Caller) -> None:
    answer = owner.speak()
    assert "RateLimit" not in answer
    assert "RateLimit-Policy" not in answer


@pytest.mark.parametrize(
    ("body", "status"), [({}, 202), ({"cache": "refresh"}, 202), ({"cache": "bypass"}, 202), ({"speed": "x"}, 422)]
)
def test_whatever_is_asked_counts_once(owner: Caller, body: dict[str, Any], status: int) -> None:
    limit(owner, 1)
    assert statuses(owner, 2, **body) == [status, 429]


def test_a_body_that_is_no_json_counts_too(owner: Caller) -> None:
    limit(owner, 1)
    assert [owner.post_bytes(b"{").status_code for _ in range(2)] == [400, 429]


def test_a_key_has_its_own_limit_within_its_tenants(owner: Caller) -> None:
    limit(owner, 4)
    service.limit_key(owner.member.key, rate=SLOW, burst=2)
    first = owner.speak()
    assert (left(first, "tenant"), left(first, "key")) == (3, 1)
    assert statuses(owner, 2) == [202, 429]
    assert problem(owner.speak())["detail"].startswith("The rate limit of this key")
    _, token = service.issue_key(owner.member.tenant, "other", ["speech:write"])
    other = {"Authorization": f"Bearer {token}"}
    assert [owner.speak(headers=other).status_code for _ in range(3)] == [202, 202, 429]


def test_tenants_do_not_share(owner: Caller, stranger: Caller) -> None:
    limit(owner, 1)
    assert statuses(owner, 2) == [202, 429]
    assert statuses(stranger, 2) == [202, 202]


def test_the_platforms_limit_is_for_those_without_their_own(owner: Caller, stranger: Caller, settings: Any) -> None:
    settings.REFRAIN = {**settings.REFRAIN, "RATE_LIMIT": SLOW, "RATE_BURST": 1}
    wiring.forget_parts()
    service.limit_tenant(stranger.member.tenant, rate=0, burst=None)
    assert statuses(owner, 2) == [202, 429]
    assert statuses(stranger, 3) == [202] * 3


def test_a_changed_limit_counts_from_the_next_request_on(owner: Caller) -> None:
    assert statuses(owner, 3) == [202] * 3
    limit(owner, 1)
    assert statuses(owner, 2) == [202, 429]
    service.limit_tenant(owner.member.tenant, rate=None, burst=None)
    assert statuses(owner, 2) == [202, 202]


def test_a_request_that_has_to_be_judged_again_counts_once(owner: Caller, redis_server: RedisServer) -> None:
    """Because Redis lost the version, or the account, or the process its snapshot."""
    limit(owner, 4)
    statuses(owner, 1)
    with redis_server.client() as redis:
        redis.delete(redis_key(owner.member.ref, Kind.VERSION))
        assert left(owner.speak(), "tenant") == 2
    service.rename_key(owner.member.key, "renamed")
    assert left(owner.speak(), "tenant") == 1
    wiring.forget_parts()
    assert left(owner.speak(), "tenant") == 0
    assert statuses(owner, 1) == [429]


def test_a_miss_that_waits_and_looks_again_counts_once(owner: Caller) -> None:
    limit(owner, 2)
    assert statuses(owner, 3, wait=0.05) == [202, 202, 429]


def test_no_request_of_nobody_counts(owner: Caller) -> None:
    limit(owner, 1)
    bad = {"Authorization": "Bearer nothing"}
    assert [owner.speak(headers=bad).status_code for _ in range(3)] == [401] * 3
    assert statuses(owner, 1) == [202]


@pytest.mark.parametrize("processes", [1, 2])
def test_with_redis_away_each_process_allows_its_share(
    owner: Caller, redis_server: RedisServer, settings: Any, processes: int
) -> None:
    settings.REFRAIN = {**settings.REFRAIN, "API_PROCESSES": processes}
    wiring.forget_parts()
    limit(owner, 4)
    redis_server.stop()
    share = 4 // processes
    assert statuses(owner, share + 1) == [202] * share + [429]
    refused = owner.speak()
    assert int(refused["Retry-After"]) > 0


def test_when_redis_is_back_its_buckets_count(owner: Caller, redis_server: RedisServer) -> None:
    limit(owner, 2, rate=5)
    redis_server.stop()
    assert owner.speak().status_code == 202
    redis_server.start()
    deadline = time.monotonic() + 60
    with redis_server.client() as redis:
        while not int(redis.hget(redis_key(owner.member.ref, Kind.ACCOUNT), "refused") or 0):
            assert time.monotonic() < deadline
            owner.speak()
