"""With Redis away quotas hold by what the database knows; once it is back it is told of what was let in meanwhile."""

from typing import Any

import pytest

from synth import wiring
from tenants import service
from tests.api.caller import Caller, problem
from tests.finished import finish
from tests.servers.redis import RedisServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]
TEN = "Ten chars."


@pytest.fixture
def quota(owner: Caller) -> int:
    """Of characters a day; twenty are used."""
    finish(owner.member, {"text": TEN})
    service.limit_quotas(owner.member.tenant, characters_per_day=45)
    assert owner.speak(text=TEN).status_code == 200
    return 45


def statuses(owner: Caller, count: int) -> list[int]:
    return [owner.speak(text=TEN).status_code for _ in range(count)]


def test_no_more_is_let_in_than_is_left(owner: Caller, quota: int, redis_server: RedisServer) -> None:
    redis_server.stop()
    assert statuses(owner, 3) == [200, 200, 429]
    body = problem(owner.speak(text=TEN))
    assert (body["code"], body["quota"], body["limit"]) == ("quota_exceeded", "characters_per_day", quota)
    assert owner.speak(text="Five!").status_code == 202


def test_several_processes_share_what_is_left(
    owner: Caller, quota: int, redis_server: RedisServer, settings: Any
) -> None:
    settings.REFRAIN = {**settings.REFRAIN, "API_PROCESSES": 2}
    wiring.forget_parts()
    redis_server.stop()
    assert statuses(owner, 2) == [200, 429]


def test_it_goes_on_from_there_when_redis_is_back(owner: Caller, quota: int, redis_server: RedisServer) -> None:
    redis_server.stop()
    assert statuses(owner, 1) == [200]
    redis_server.start()
    wiring.redis_breaker().succeeded()
    assert statuses(owner, 2) == [200, 429]


def test_what_fails_meanwhile_is_given_back(owner: Caller, quota: int, redis_server: RedisServer) -> None:
    redis_server.stop()
    refused = {"text": TEN, "voice": "nobody"}
    assert [owner.speak(refused).status_code for _ in range(5)] == [422] * 5
    assert statuses(owner, 3) == [200, 200, 429]
