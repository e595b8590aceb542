"""A request that would exceed a quota of characters gets 429 and counts for nothing; others are told what is left."""

from datetime import UTC, datetime
from typing import Any

import pytest

from synth import wiring
from synth.keys import Kind, redis_key
from synth.models import Job, Synthesis
from synth.models.states import State
from synth.service import drain_usage
from tenants import service
from tenants.models import Usage
from tests.api.caller import Caller, problem
from tests.finished import finish
from tests.servers.redis import RedisServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]
TEN = "Ten chars."


def quota(owner: Caller, **quotas: int) -> None:
    service.limit_quotas(owner.member.tenant, **quotas)


def statuses(owner: Caller, count: int, **body: Any) -> list[int]:
    return [owner.speak(**{"text": TEN, **body}).status_code for _ in range(count)]


def left(answer: Any, name: str) -> int:
    states = dict(part.strip().split(";", 1) for part in answer["RateLimit"].split(","))
    return int(states[f'"{name}"'].partition("r=")[2].partition(";")[0])


def seconds_of_the_day_left() -> float:
    now = datetime.now(UTC)
    return 86_400 - (now.hour * 3600 + now.minute * 60 + now.second)


def test_beyond_it_it_is_429_until_the_day_ends_and_nothing_is_made(owner: Caller) -> None:
    quota(owner, characters_per_day=25)
    assert statuses(owner, 2) == [202, 202]
    refused = owner.speak(text=TEN, headers={"Accept-Language": "en"})
    body = problem(refused)
    assert (refused.status_code, body["code"]) == (429, "quota_exceeded")
    assert (body["quota"], body["scope"], body["used"], body["limit"]) == ("characters_per_day", "tenant", 20, 25)
    assert body["detail"] == "This would exceed the quota characters_per_day of this account: 20 of 25 are used."
    assert abs(int(refused["Retry-After"]) - seconds_of_the_day_left()) < 60
    assert body["resets_at"].endswith("T00:00:00Z")
    assert refused["RateLimit-Policy"] == '"tenant-characters-per-day";q=25;qu="characters";w=86400'
    assert refused["RateLimit"].startswith('"tenant-characters-per-day";r=5;t=')
    assert Job.objects.count() == 2
    assert owner.speak(text="Five!").status_code == 202


def test_a_hit_counts_too_and_says_what_is_left(owner: Caller) -> None:
    finish(owner.member, {"text": TEN})
    quota(owner, characters_per_month=100, synthesis_per_day=50)
    answers = [owner.speak(text=TEN) for _ in range(3)]
    assert [answer.json()["cache"] for answer in answers] == ["restored", "hit", "hit"]
    assert [left(answer, "tenant-characters-per-month") for answer in answers] == [80, 70, 60]  # ten for what was made
    assert '"tenant-synthesis-per-day";q=50;qu="characters";w=86400' in answers[-1]["RateLimit-Policy"]


@pytest.mark.parametrize("how", [{"cache": "bypass"}, {"cache": "refresh"}, {"wait": 0}])
def test_however_it_is_asked(owner: Caller, how: dict[str, object]) -> None:
    quota(owner, characters_per_day=15)
    assert statuses(owner, 2, **how) == [202, 429]


def test_a_key_has_its_own(owner: Caller) -> None:
    quota(owner, characters_per_day=1000)
    service.limit_key_quotas(owner.member.key, characters_per_day=15)
    assert statuses(owner, 1) == [202]
    body = problem(owner.speak(text=TEN))
    assert (body["scope"], body["used"], body["limit"]) == ("key", 10, 15)


def test_what_is_refused_for_another_reason_is_given_back(owner: Caller) -> None:
    quota(owner, characters_per_day=25)
    service.limit_work(owner.member.tenant, max_open_jobs=1, max_running=None)
    assert statuses(owner, 3) == [202, 429, 429]
    assert problem(owner.speak(text=TEN))["code"] == "too_many_jobs"
    service.limit_work(owner.member.tenant, max_open_jobs=0, max_running=None)
    assert statuses(owner, 2) == [202, 429]


def test_what_fails_is_given_back_once(owner: Caller) -> None:
    quota(owner, characters_per_day=15)
    assert statuses(owner, 2) == [202, 429]
    Job.objects.update(state=State.FAILED, ended_at=datetime.now(UTC))
    drain_usage()
    Job.objects.update(accounted=False)
    drain_usage()
    assert statuses(owner, 2, text="Other one.") == [202, 429]


def test_an_empty_redis_goes_on_where_the_database_knows(owner: Caller, redis_server: RedisServer) -> None:
    quota(owner, characters_per_day=46)
    finish(owner.member, {"text": TEN})
    assert statuses(owner, 2) == [200, 200]
    drain_usage()
    assert statuses(owner, 1, text="Queued now") == [202]
    redis_server.client().flushall()
    assert statuses(owner, 1) == [429]
    assert owner.speak(text="Five!").status_code == 202


def test_hits_that_are_not_written_down_yet_count_where_a_quota_is_new(owner: Caller) -> None:
    finish(owner.member, {"text": TEN})
    assert statuses(owner, 4) == [200] * 4
    assert Usage.objects.filter(outcome="hit").count() == 0
    quota(owner, characters_per_day=55)
    assert statuses(owner, 1) == [429]


def test_a_quota_that_comes_back_counts_what_was_asked_without_it(owner: Caller) -> None:
    quota(owner, characters_per_day=25)
    assert statuses(owner, 1) == [202]
    quota(owner, characters_per_day=0)
    assert statuses(owner, 1, text="And more..") == [202]
    quota(owner, characters_per_day=25)
    assert statuses(owner, 1, text="Still more") == [429]


def test_a_new_day_begins_with_nothing_and_a_month_goes_on(owner: Caller) -> None:
    quota(owner, characters_per_day=15, characters_per_month=35)
    account = redis_key(owner.member.ref, Kind.ACCOUNT)
    assert statuses(owner, 2) == [202, 429]
    redis = wiring.redis_unless_away()
    assert redis is not None
    today = int(redis.hget(account, "asked_on") or 0)
    first = datetime.now(UTC).day == 1
    redis.hset(account, "asked_on", today - 1 if not first else today)
    if first:
        pytest.skip("there is no earlier day in this month")
    assert statuses(owner, 2) == [202, 429]
    assert left(owner.speak(text="Five!"), "tenant-characters-per-month") == 10
    redis.hset(account, "asked_on", today - 40)
    assert left(owner.speak(text="Five!"), "tenant-characters-per-month") == 30


def test_what_engines_speak_is_counted_once_for_each_sentence(owner: Caller) -> None:
    quota(owner, synthesis_per_day=25)
    assert statuses(owner, 3) == [202, 202, 202]  # one sentence, for three
    assert Synthesis.objects.count() == 1
    assert owner.speak(text="Ten more..").status_code == 202
    body = problem(owner.speak(text="Too many."))
    assert (body["code"], body["quota"], body["used"], body["limit"]) == ("quota_exceeded", "synthesis_per_day", 20, 25)
    assert statuses(owner, 1) == [202]  # speaks nothing anew


def test_a_sentence_that_fails_is_given_back_and_one_that_succeeds_is_not(owner: Caller) -> None:
    quota(owner, synthesis_per_day=15)
    assert statuses(owner, 1) == [202]
    assert owner.speak(text="Other one.").status_code == 429
    Synthesis.objects.update(state=State.FAILED)
    assert owner.speak(text="Other one.").status_code == 202
