"""A request that was answered once is answered before Django the next time, alike; and nothing else is."""

import gc
import json
from base64 import b64decode
from datetime import timedelta
from weakref import ref

import pytest
from django.utils import timezone
from redis import Redis

from synth import wiring
from synth.keys import Kind, redis_key
from synth.service import Actor, EntryFilter, Selection, curate
from tenants import service as tenant_service
from tenants.models import ApiKey
from tests.express import ExpressClient
from tests.finished import Finished
from tests.synth.cache.conftest import BODY, Speaker
from tests.world import World

OF_ONE_ANSWER = {"X-Request-Id", "Age"}
WORDS = json.dumps(BODY)


@pytest.fixture
def known(ask: Speaker, finished: Finished) -> Speaker:
    """The request of `ask()` is known: it was a hit once."""
    assert [ask().json()["cache"] for _ in range(3)] == ["restored", "hit", "hit"]
    assert ask().by_express
    return ask


def account(redis: Redis, world: World) -> dict[str, int]:
    fields = redis.hgetall(redis_key(world.owner.ref, Kind.ACCOUNT))
    return {name: int(fields[name.encode()]) for name in ("requests", "hits", "refused")}


@pytest.mark.parametrize("delivery", ["url", "inline", "binary"])
def test_the_answer_is_the_same(ask: Speaker, finished: Finished, delivery: str):
    ask()
    by_django, by_express = ask(delivery=delivery), ask(delivery=delivery)
    assert [by_django.by_express, by_express.by_express] == [False, True]
    of_django, of_express = dict(by_django.items()), dict(by_express.items())
    assert of_django.keys() == of_express.keys()
    assert {"X-Content-Type-Options", "X-Frame-Options", "Content-Length"} <= of_express.keys()
    for name in of_django.keys() - OF_ONE_ANSWER - {"Content-Length"}:
        assert of_express[name] == of_django[name]
    assert of_express["X-Request-Id"] != of_django["X-Request-Id"]
    assert int(of_express["Content-Length"]) == len(by_express.content)
    if delivery == "binary":
        assert by_express.content == finished.data
    else:
        told = {"age", "request_id"}
        assert {k: v for k, v in by_express.json().items() if k not in told} == {
            k: v for k, v in by_django.json().items() if k not in told
        }
        assert by_express.json()["request_id"] == of_express["X-Request-Id"]
    if delivery == "inline":
        assert b64decode(by_express.json()["audio"]) == finished.data


def test_another_key_host_or_language_is_asked_by_django(known: Speaker, world: World):
    client: ExpressClient = known._client
    post = {"path": "/v1/speech", "data": {**BODY, "wait": 0}, "content_type": "application/json"}
    assert client.post(**post).by_express
    stranger = client.post(**post, headers=world.stranger.headers)
    assert (stranger.by_express, stranger.status_code) == (False, 202)
    nobody = client.post(**post, headers={"Authorization": world.owner.headers["Authorization"] + "x"})
    assert (nobody.by_express, nobody.status_code) == (False, 401)
    foreign = client.post(**post, headers={"Host": "elsewhere.example"})
    assert (foreign.by_express, foreign.status_code) == (False, 400)
    chinese = client.post(**post, headers={"Accept-Language": "zh-CN"})
    assert (chinese.by_express, chinese["Content-Language"]) == (False, "zh-hans")


def test_an_idempotent_request_a_long_one_and_another_method_are_asked_by_django(known: Speaker):
    client: ExpressClient = known._client
    post = {"path": "/v1/speech", "data": {**BODY, "wait": 0}, "content_type": "application/json"}
    assert not client.post(**post, headers={"Idempotency-Key": "once"}).by_express
    assert not client.get("/v1/speech").by_express
    spaced = json.dumps({**BODY, "wait": 0}) + " " * 5_000
    assert [known(spaced).by_express for _ in range(2)] == [False, False]


@pytest.mark.parametrize("cache", ["refresh", "bypass"])
def test_what_asks_no_cache_is_never_known(known: Speaker, cache: str):
    assert [known(cache=cache).by_express for _ in range(2)] == [False, False]


def test_a_revoked_key_is_refused_at_its_next_request(known: Speaker, world: World):
    tenant_service.revoke_key(world.owner.key)
    assert known().status_code == 401


def test_a_suspended_tenant_is_refused_at_its_next_request(known: Speaker, world: World):
    tenant_service.suspend_tenant(world.owner.tenant)
    assert known().json()["code"] == "tenant_suspended"


def test_an_expired_key_is_refused_though_nothing_was_changed(ask: Speaker, finished: Finished, world: World, settings):
    expires_at = timezone.now() + timedelta(days=1)
    ApiKey.objects.filter(id=world.owner.key.id).update(expires_at=expires_at)
    wiring.forget_parts()
    assert [ask().by_express for _ in range(2)] == [False, True]
    snapshot = wiring.snapshots()._by_tenant[world.owner.tenant.id]
    (record,) = snapshot.keys.values()
    object.__setattr__(record, "expires_at", timezone.now())
    assert ask().status_code == 401


def test_what_is_purged_is_no_hit(known: Speaker, world: World):
    selection = Selection(filter=EntryFilter())
    curate("purge", selection, tenant=world.owner.ref, actor=Actor(user_name="operator"), expected=None)
    assert known().status_code == 202


def test_a_limit_counts_each_request_once_whichever_way_it_goes(known: Speaker, world: World, redis_server):
    tenant_service.limit_tenant(world.owner.tenant, rate=0.001, burst=3)
    with redis_server.client() as redis:
        before = account(redis, world)
        answers = [known() for _ in range(5)]
        after = account(redis, world)
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
    assert [answer.by_express for answer in answers[1:3]] == [True, True]
    assert (answers[3].json()["code"], answers[3]["Content-Type"]) == ("rate_limited", "application/problem+json")
    assert after["requests"] - before["requests"] == 3
    assert after["refused"] - before["refused"] == 2


def test_a_known_request_that_is_a_miss_is_counted_once(known: Speaker, world: World, redis_server):
    with redis_server.client() as redis:
        (entry,) = redis.scan_iter("*:entry:*")
        redis.delete(entry)
        before = account(redis, world)["requests"]
        answer = known()
        assert (answer.by_express, answer.json()["cache"]) == (False, "restored")
        assert account(redis, world)["requests"] == before + 1


def test_an_old_snapshot_is_not_kept(known: Speaker, world: World):
    old = ref(wiring.snapshots()._by_tenant[world.owner.tenant.id])
    tenant_service.limit_tenant(world.owner.tenant, rate=100, burst=50)
    assert known().status_code == 200
    gc.collect()
    assert old() is None


def test_a_hit_goes_on_by_memory_alone_only_while_redis_answers(known: Speaker, redis_server):
    redis_server.stop()
    answer = known()
    assert (answer.by_express, answer.status_code) == (False, 200)
