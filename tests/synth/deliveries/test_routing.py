"""Who is told of what: callbacks alone of speech, every endpoint that takes the type of all else."""

from __future__ import annotations

import pytest

from synth.models import WebhookDelivery, WebhookEndpoint, WebhookEvent
from synth.models.states import State
from synth.models.webhook import EventType
from synth.service.webhooks.events import note_event
from synth.service.webhooks.routing import route_events
from tests.deliveries import make_endpoint
from tests.synth.queue.desk import at_once

pytestmark = pytest.mark.django_db
KINDS = [kind.value for kind in EventType]
FOR_ALL = [kind for kind in KINDS if not kind.startswith("speech.") and kind != "webhook.test"]


def told() -> set[str]:
    return set(WebhookDelivery.objects.values_list("endpoint__description", flat=True))


@pytest.fixture
def endpoints(world) -> dict[str, WebhookEndpoint]:
    def make(name: str, **columns: object) -> WebhookEndpoint:
        return make_endpoint(world.owner, f"https://{name}.example.com/", description=name, **columns)

    make_endpoint(world.stranger, "https://stranger.example.com/", description="stranger")
    return {
        "all": make("all"),
        "voices": make("voices", events=["voice.ready", "voice.failed"]),
        "off": make("off", status="disabled"),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_for_no_endpoint_goes_to_all_that_take_it(world, endpoints, kind):
    note_event(world.owner.ref, kind, "subject", {})
    assert route_events() == 1
    expected = {"all", "voices"} if kind.startswith("voice.") else {"all"}
    assert told() == (expected if kind in FOR_ALL else set())
    assert WebhookEvent.objects.get().routed


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_for_one_endpoint_goes_to_it_whatever_it_takes(world, endpoints, kind):
    note_event(world.owner.ref, kind, "subject", {}, endpoint_id=endpoints["voices"].id)
    route_events()
    assert told() == ({"voices", "all"} if kind in FOR_ALL else {"voices"})


def test_a_callbacks_own_address_is_for_the_callback_alone(world, endpoints):
    own = "https://voices.example.com/jobs/7"
    note_event(world.owner.ref, "batch.completed", "batch_7", {}, endpoint_id=endpoints["voices"].id, url=own)
    route_events()
    urls = dict(WebhookDelivery.objects.values_list("endpoint__description", "url"))
    assert urls == {"voices": own, "all": "https://all.example.com/"}


def test_a_disabled_callback_is_told_nothing_but_may_ask_for_it_later(world, endpoints):
    note_event(world.owner.ref, "speech.failed", "job_7", {}, endpoint_id=endpoints["off"].id)
    route_events()
    row = WebhookDelivery.objects.get()
    assert (row.endpoint, row.state) == (endpoints["off"], State.CANCELED)
    assert row.ended_at


def test_events_of_a_deleted_callback_go_to_nobody(world, endpoints):
    note_event(world.owner.ref, "speech.failed", "job_7", {}, endpoint_id=endpoints["voices"].id)
    endpoints["voices"].delete()
    assert route_events() == 1
    assert told() == set()


def test_an_event_is_routed_once(world, endpoints):
    for _ in range(2):
        note_event(world.owner.ref, "voice.ready", "vox_1", {})
    assert (route_events(), route_events()) == (1, 0)
    assert WebhookDelivery.objects.count() == 2


def test_more_events_than_a_batch_are_all_routed(world, endpoints):
    WebhookEvent.objects.bulk_create(
        WebhookEvent(tenant=world.owner.tenant, type="voice.ready", subject=f"vox_{n}") for n in range(450)
    )
    while route_events():
        pass
    assert WebhookDelivery.objects.count() == 900
    assert not WebhookEvent.objects.filter(routed=False).exists()


def test_routers_at_once_write_each_delivery_once(committed_world):
    make_endpoint(committed_world.owner, "https://all.example.com/")
    for number in range(40):
        note_event(committed_world.owner.ref, "voice.ready", f"vox_{number}", {})
    results = at_once([route_events] * 4)
    assert sum(results) == 40
    assert WebhookDelivery.objects.count() == 40
