"""`/metrics` is for the operator's monitor: by a token, or else for direct connections from networks that are set."""

from ipaddress import ip_network

import pytest
from django.test import Client

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]
TOKEN = "of-the-monitor"


def ask(address: str = "127.0.0.1", **headers: str) -> int:
    return Client(REMOTE_ADDR=address).get("/metrics", headers=headers).status_code


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1"])
def test_this_machine_may(address: str) -> None:
    assert ask(address) == 200


@pytest.mark.parametrize("address", ["10.0.0.7", "203.0.113.9", "2001:db8::1", "::ffff:10.0.0.7", "", "unix:"])
def test_others_may_not(address: str) -> None:
    assert ask(address) == 403


@pytest.mark.parametrize("header", ["Forwarded", "X-Forwarded-For", "X-Real-IP"])
def test_what_a_proxy_on_this_machine_passes_on_may_not(header: str) -> None:
    assert ask(**{header: "203.0.113.9"}) == 403


def test_networks_that_are_set_may(settings) -> None:
    settings.REFRAIN = {**settings.REFRAIN, "METRICS_NETWORKS": [ip_network("10.0.0.0/8")]}
    assert [ask("10.0.0.7"), ask("127.0.0.1"), ask("11.0.0.7")] == [200, 403, 403]


def test_with_a_token_only_the_token_counts(settings) -> None:
    settings.REFRAIN = {**settings.REFRAIN, "METRICS_TOKEN": TOKEN}
    assert ask("203.0.113.9", Authorization=f"Bearer {TOKEN}") == 200
    assert ask(Authorization=f"bearer {TOKEN}", **{"X-Forwarded-For": "203.0.113.9"}) == 200
    assert ask("127.0.0.1") == 401
    assert ask(Authorization="Bearer of-nobody") == 401
    assert ask(Authorization=f"Basic {TOKEN}") == 401
    assert ask(Authorization="Bearer ") == 401
