"""A change to a key or a tenant acts at the very next request in every API process, however warm it is."""

from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest

from tests.conftest import StackMaker
from tests.stack import Stack

pytestmark = pytest.mark.stack

BODY = {"text": "Hello there."}
ASKS = [BODY, {**BODY, "speed": "fast"}, {**BODY, "cache": "refresh", "wait": 0}]


@dataclass(frozen=True)
class Tenant:
    """One whose key both processes know well; no other test has it."""

    stack: Stack
    slug: str
    token: str

    @property
    def lookup(self) -> str:
        return self.token.split("_")[2]

    def clients(self, token: str = "") -> list[httpx.Client]:
        return [self.stack.client(child, token=token or self.token) for child in self.stack.children if child.port]

    def answers(self, token: str = "") -> list[int]:
        """Each process is asked a hit, an invalid request and a refresh."""
        return [client.post("/v1/speech", json=body).status_code for body in ASKS for client in self.clients(token)]


@pytest.fixture(scope="module")
def spares(make_shared_stack: StackMaker) -> Iterator[Tenant]:
    """On two API processes."""
    stack = make_shared_stack()
    stack.api(2)
    stack.engine_worker()
    stack.io_worker()
    stack.wait_for_engines()
    return (Tenant(stack, f"spare{number}", token) for number, token in enumerate(stack.seeded.spares))


@pytest.fixture
def tenant(spares: Iterator[Tenant]) -> Tenant:
    warm = next(spares)
    warm.stack.redis.start()
    for client in warm.clients():
        client.post("/v1/speech", json=BODY).raise_for_status()
    for client in warm.clients():
        assert client.post("/v1/speech", json=BODY).json()["cache"] == "hit"
    return warm


def test_a_revoked_key_is_refused_at_its_next_request(tenant: Tenant) -> None:
    tenant.stack.run("revoke_key", tenant.lookup)
    assert tenant.answers() == [401] * 6


def test_a_new_key_works_at_its_first_request(tenant: Tenant) -> None:
    token = tenant.stack.run("issue_key", tenant.slug).split()[-1]
    assert tenant.answers(token) == [200, 200, 422, 422, 202, 202]


def test_a_suspended_tenant_is_refused_at_its_next_request(tenant: Tenant) -> None:
    tenant.stack.run(
        "shell",
        "-c",
        "from tenants import service; from tenants.models import Tenant;"
        f"service.suspend_tenant(Tenant.objects.get(slug={tenant.slug!r}))",
    )
    assert tenant.answers() == [403] * 6


@pytest.mark.faults
def test_a_key_revoked_while_redis_was_away_is_refused_by_the_redis_that_missed_it(tenant: Tenant) -> None:
    """No process has asked Redis meanwhile, and no beat is there to repair it."""
    tenant.stack.redis.stop()
    tenant.stack.run("revoke_key", tenant.lookup)
    tenant.stack.redis.start()
    assert tenant.answers() == [401] * 6


@pytest.mark.faults
def test_a_key_revoked_while_redis_is_away_is_refused_meanwhile(tenant: Tenant) -> None:
    tenant.stack.redis.stop()
    tenant.stack.run("revoke_key", tenant.lookup)
    assert tenant.answers() == [401] * 6
