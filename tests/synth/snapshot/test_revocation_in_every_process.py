"""A change to a key or a tenant acts at the very next request in every API process, however warm it is."""

import httpx
import pytest

from tests.stack import Stack

pytestmark = pytest.mark.stack

BODY = {"text": "Hello there."}
ASKS = [BODY, {**BODY, "speed": "fast"}, {**BODY, "cache": "refresh", "wait": 0}]


@pytest.fixture
def running(stack: Stack) -> Stack:
    """Two API processes, both warm with the owner's key."""
    stack.api(2)
    stack.engine_worker()
    stack.io_worker()
    stack.wait_for_engines()
    for client in clients(stack):
        client.post("/v1/speech", json=BODY).raise_for_status()
    for client in clients(stack):
        assert client.post("/v1/speech", json=BODY).json()["cache"] == "hit"
    return stack


def clients(stack: Stack, token: str | None = None) -> list[httpx.Client]:
    return [stack.client(child, token=token) for child in stack.children if child.port]


def answers(stack: Stack, token: str | None = None) -> list[int]:
    """Each process is asked a hit, an invalid request and a refresh."""
    return [client.post("/v1/speech", json=body).status_code for body in ASKS for client in clients(stack, token)]


def lookup(token: str) -> str:
    return token.split("_")[2]


def test_a_revoked_key_is_refused_at_its_next_request(running: Stack) -> None:
    running.run("revoke_key", lookup(running.seeded.owner))
    assert answers(running) == [401] * 6


def test_a_new_key_works_at_its_first_request(running: Stack) -> None:
    token = running.run("issue_key", "owner").split()[-1]
    assert answers(running, token) == [200, 200, 422, 422, 202, 202]


def test_a_suspended_tenant_is_refused_at_its_next_request(running: Stack) -> None:
    running.run(
        "shell",
        "-c",
        "from tenants import service; from tenants.models import Tenant;"
        "service.suspend_tenant(Tenant.objects.get(slug='owner'))",
    )
    assert answers(running) == [403] * 6


@pytest.mark.faults
def test_a_key_revoked_while_redis_was_away_is_refused_by_the_redis_that_missed_it(running: Stack) -> None:
    """No process has asked Redis meanwhile, and no beat is there to repair it."""
    running.redis.stop()
    running.run("revoke_key", lookup(running.seeded.owner))
    running.redis.start()
    assert answers(running) == [401] * 6


@pytest.mark.faults
def test_a_key_revoked_while_redis_is_away_is_refused_meanwhile(running: Stack) -> None:
    running.redis.stop()
    running.run("revoke_key", lookup(running.seeded.owner))
    assert answers(running) == [401] * 6
