"""Receivers on loopback, endpoints for them, and events that are told of as the service tells of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from ipaddress import ip_network
from itertools import count
from typing import Any

import pytest

from synth.models import WebhookEndpoint, WebhookEvent
from synth.queue.claim import Worker
from synth.service.webhooks import sending
from synth.service.webhooks.events import note_event
from synth.service.webhooks.sending import drain_deliveries
from tests.deliveries import make_endpoint
from tests.servers.inbox import Delivered, Inbox, Reply
from tests.world import Member, World, make_world, world  # noqa: F401 - a fixture

WORKER = Worker("sender", lease=15)


@pytest.fixture
def committed_world(transactional_db: None) -> World:
    """For what happens on commit, and for tests with several threads."""
    return make_world()


@pytest.fixture(autouse=True)
def _manners(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a process learns of endpoints is the test's own."""
    monkeypatch.setattr(sending, "_manners", sending._Manners())


@pytest.fixture(autouse=True)
def webhooks(settings: Any) -> Callable[..., None]:
    """Sets settings of webhooks by name, beside those that let them go to this machine."""

    def change(**changes: Any) -> None:
        settings.REFRAIN = {**settings.REFRAIN, **{f"WEBHOOK_{name.upper()}": changes[name] for name in changes}}

    change(http=True, networks=[ip_network("127.0.0.0/8")], pauses=[60.0, 60.0, 60.0], timeout=10.0)
    return change


@pytest.fixture
def receive(webhooks: Callable[..., None]) -> Iterator[Callable[..., Inbox]]:
    """Starts inboxes, whose ports webhooks may go to."""
    ports: list[int] = []
    with ExitStack() as running:

        def start(reply: Callable[[Delivered], Reply] | None = None) -> Inbox:
            inbox = running.enter_context(Inbox(reply))
            ports.append(inbox.port)
            webhooks(ports=list(ports))
            return inbox

        yield start


@pytest.fixture
def endpoint_of() -> Callable[..., WebhookEndpoint]:
    def make(member: Member, inbox: Inbox, **columns: Any) -> WebhookEndpoint:
        return make_endpoint(member, inbox.url, **columns)

    return make


@pytest.fixture
def tell() -> Callable[..., WebhookEvent]:
    """Notes an event for one endpoint, of a subject of its own unless one is named."""
    numbers = count(1)

    def note(endpoint: WebhookEndpoint, *, kind: str = "speech.failed", subject: str = "", **data: Any) -> WebhookEvent:
        subject = subject or f"job_{next(numbers)}"
        note_event(endpoint.tenant.ref, kind, subject, data, endpoint_id=endpoint.id)
        return WebhookEvent.objects.get(type=kind, subject=subject)

    return note


@pytest.fixture
def send() -> Callable[[], None]:
    return lambda: drain_deliveries(WORKER)
