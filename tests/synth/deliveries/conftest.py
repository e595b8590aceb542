"""Receivers on loopback, endpoints for them, and events that are told of as the service tells of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from ipaddress import ip_network
from typing import Any

import pytest

from synth.models import WebhookDelivery, WebhookEndpoint
from synth.queue.claim import Worker
from synth.service import sending
from synth.service.events import note_event
from synth.service.sending import drain_deliveries
from tests.servers.receiver import Delivered, Receiver, Reply
from tests.synth.deliveries.endpoints import make_endpoint
from tests.world import Member, World, make_world, world  # noqa: F401 - a fixture

WORKER = Worker("sender", lease=15)


@pytest.fixture
def committed_world(transactional_db: None) -> World:
    """For what happens on commit, and for tests with several threads."""
    return make_world()


@pytest.fixture(autouse=True)
def manners(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a process has learned of endpoints is the test's own."""
    monkeypatch.setattr(sending, "_manners", sending._Manners())


@pytest.fixture
def webhooks(settings: Any) -> Callable[..., None]:
    """Sets settings of webhooks by name, beside those that let them go to this machine."""

    def change(**changes: Any) -> None:
        settings.REFRAIN = {**settings.REFRAIN, **{f"WEBHOOK_{name.upper()}": changes[name] for name in changes}}

    change(http=True, networks=[ip_network("127.0.0.0/8")], pauses=[60.0, 60.0, 60.0], timeout=10.0)
    return change


@pytest.fixture
def receive(webhooks: Callable[..., None], settings: Any) -> Iterator[Callable[..., Receiver]]:
    """Starts receivers, whose ports webhooks may go to."""
    ports: list[int] = []
    with ExitStack() as running:

        def start(reply: Callable[[Delivered], Reply] | None = None) -> Receiver:
            receiver = running.enter_context(Receiver(reply))
            ports.append(receiver.port)
            webhooks(ports=list(ports))
            return receiver

        yield start


@pytest.fixture
def tell() -> Callable[..., str]:
    """Notes an event for an endpoint; the event's public id. A subject of its own unless one is named."""
    made: list[int] = []

    def note(endpoint: WebhookEndpoint, *, kind: str = "speech.failed", subject: str = "", **data: Any) -> str:
        made.append(1)
        subject = subject or f"job_{len(made)}"
        note_event(endpoint.tenant.ref, kind, subject, data, endpoint_id=endpoint.id)
        events = endpoint.tenant.pk and _events(endpoint).order_by("-created_at", "-id")
        return events.first().public_id

    return note


def _events(endpoint: WebhookEndpoint) -> Any:
    from synth.models import WebhookEvent

    return WebhookEvent.objects.filter(tenant=endpoint.tenant)


@pytest.fixture
def send() -> Callable[[], None]:
    return lambda: drain_deliveries(WORKER)


@pytest.fixture
def endpoint_of() -> Callable[..., WebhookEndpoint]:
    def make(member: Member, receiver: Receiver, **columns: Any) -> WebhookEndpoint:
        return make_endpoint(member, receiver.url, **columns)[0]

    return make


def the_delivery() -> WebhookDelivery:
    return WebhookDelivery.objects.get()
