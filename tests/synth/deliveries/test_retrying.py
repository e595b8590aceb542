"""What fails is sent again under the same id, after the ladder's pauses, until it is given up; every try is noted."""

from __future__ import annotations

from datetime import timedelta

import pytest

from synth.models import DeliveryAttempt, WebhookDelivery, WebhookEndpoint
from synth.models.clock import database_now
from synth.models.states import State
from synth.service.webhooks.outcomes import replay, replay_failed
from tests.deliveries import make_endpoint, secrets_of
from tests.servers.inbox import Reply
from tests.servers.ports import free_port

pytestmark = pytest.mark.django_db


def due_now() -> None:
    WebhookDelivery.objects.filter(state=State.QUEUED).update(not_before=database_now())


def pause() -> float:
    """Until the next try of the only delivery."""
    return (WebhookDelivery.objects.get().not_before - database_now()).total_seconds()


def test_three_failures_then_success_under_one_id(world, receive, endpoint_of, tell, send, webhooks):
    webhooks(pauses=[0.5, 1.0, 1.5])
    inbox = receive(lambda request: Reply(status=500 if request.number <= 3 else 200, body=b"not now"))
    endpoint = endpoint_of(world.owner, inbox)
    event = tell(endpoint)
    send()
    assert inbox.ids() == {event.public_id}
    assert all(request.verified(secrets_of(endpoint)[0]) for request in inbox.received)
    row = WebhookDelivery.objects.get()
    assert (row.state, row.tries, row.attempt, row.last_status) == (State.SUCCEEDED, 4, 4, 200)
    noted = list(DeliveryAttempt.objects.values_list("number", "status", "answer"))
    assert noted == [(1, 500, "not now"), (2, 500, "not now"), (3, 500, "not now"), (4, 200, "not now")]
    assert inbox.received[-1].timestamp > inbox.received[0].timestamp


@pytest.mark.parametrize(
    ("reply", "status", "error"),
    [
        (Reply(status=500), 500, ""),
        (Reply(status=404), 404, ""),
        (Reply(status=302, headers={"Location": "http://127.0.0.1:1/"}), 302, ""),
        (Reply(delay=30), None, "timed_out"),
        (Reply(trickle=0.05), None, "timed_out"),
    ],
)
def test_whatever_is_no_success_is_a_failure(world, receive, endpoint_of, tell, send, webhooks, reply, status, error):
    webhooks(timeout=0.5)
    inbox = receive(lambda _: reply)
    tell(endpoint_of(world.owner, inbox))
    send()
    row = WebhookDelivery.objects.get()
    assert (row.state, row.last_status, row.last_error) == (State.QUEUED, status, error)
    assert DeliveryAttempt.objects.values_list("status", "error").get() == (status, error)
    assert 50 < pause() < 70
    assert len(inbox.received) == 1


def test_nobody_there_is_a_failure(world, tell, send, webhooks):
    port = free_port()
    webhooks(ports=[port])
    tell(make_endpoint(world.owner, f"http://127.0.0.1:{port}/"))
    send()
    attempt = DeliveryAttempt.objects.get()
    assert (attempt.status, attempt.error) == (None, "connect_failed")


def test_a_forbidden_address_is_never_connected_to(world, receive, endpoint_of, tell, send, webhooks):
    inbox = receive()
    webhooks(networks=[])
    tell(endpoint_of(world.owner, inbox))
    send()
    assert (inbox.received, WebhookDelivery.objects.get().last_error) == ([], "address_forbidden")


def test_the_receivers_wish_for_patience_is_heeded(world, receive, endpoint_of, tell, send):
    inbox = receive(lambda _: Reply(status=429, headers={"Retry-After": "600"}))
    tell(endpoint_of(world.owner, inbox))
    send()
    assert 590 < pause() <= 600


def test_the_pauses_are_those_of_the_ladder(world, receive, endpoint_of, tell, send, webhooks):
    webhooks(pauses=[100.0, 400.0, 900.0])
    tell(endpoint_of(world.owner, receive(lambda _: Reply(status=503))))
    pauses = []
    for _ in range(3):
        send()
        pauses.append(pause())
        due_now()
    assert pauses == [pytest.approx(each, rel=0.2) for each in (100, 400, 900)]


@pytest.fixture
def given_up(world, receive, endpoint_of, tell, send, webhooks):
    """A delivery that failed for the last time, and the inbox and endpoint that it was for."""
    webhooks(pauses=[0.2])
    inbox = receive(lambda _: Reply(status=500))
    endpoint = endpoint_of(world.owner, inbox)
    tell(endpoint)
    send()
    row = WebhookDelivery.objects.get()
    assert (row.state, row.tries, len(inbox.received)) == (State.FAILED, 2, 2)
    assert row.ended_at
    return row, inbox, endpoint


def test_what_was_given_up_can_be_replayed_under_its_id(given_up, send):
    row, inbox, endpoint = given_up
    inbox.reply = lambda _: Reply()
    assert replay(row)
    send()
    row.refresh_from_db()
    assert (row.state, row.tries, row.attempt) == (State.SUCCEEDED, 1, 3)
    assert inbox.ids() == {row.event.public_id}
    assert inbox.received[-1].verified(secrets_of(endpoint)[0])


def test_a_replay_has_all_its_tries_again(given_up, send):
    row, inbox, _ = given_up
    assert replay(row)
    send()
    row.refresh_from_db()
    assert (row.state, row.tries, len(inbox.received)) == (State.FAILED, 2, 4)
    assert [each.number for each in row.attempts.all()] == [1, 2, 3, 4]


def test_what_succeeded_or_waits_can_be_replayed_too(world, receive, endpoint_of, tell, send):
    inbox = receive(lambda request: Reply(status=200 if request.number == 1 else 500))
    tell(endpoint_of(world.owner, inbox))
    send()
    for expected in (State.SUCCEEDED, State.QUEUED):
        row = WebhookDelivery.objects.get()
        assert row.state == expected
        assert replay(row)
        send()
    assert len(inbox.received) == 3


def test_what_is_being_sent_is_not_replayed(given_up):
    row, _, _ = given_up
    WebhookDelivery.objects.update(state=State.RUNNING)
    assert not replay(row)


def test_nothing_is_replayed_for_a_disabled_endpoint(given_up):
    row, _, endpoint = given_up
    WebhookEndpoint.objects.update(status=WebhookEndpoint.Status.DISABLED)
    assert not replay(row)
    assert replay_failed(endpoint, database_now() - timedelta(days=1)) == 0


def test_all_that_failed_since_a_time_is_replayed(given_up, tell, send):
    row, inbox, endpoint = given_up
    since = database_now()
    later = [tell(endpoint) for _ in range(3)]
    for _ in range(3):
        send()
        due_now()
    assert WebhookDelivery.objects.filter(state=State.FAILED).count() == 4
    inbox.reply = lambda _: Reply()
    assert replay_failed(endpoint, since) == 3
    send()
    done = WebhookDelivery.objects.filter(state=State.SUCCEEDED)
    assert {each.event.public_id for each in done} == {event.public_id for event in later}
    row.refresh_from_db()
    assert row.state == State.FAILED


def test_an_open_delivery_follows_the_endpoint_to_a_new_address(world, receive, endpoint_of, tell, send):
    old, new = receive(lambda _: Reply(status=500)), receive()
    endpoint = endpoint_of(world.owner, old)
    tell(endpoint)
    send()
    WebhookEndpoint.objects.update(url=new.url)
    due_now()
    send()
    row = WebhookDelivery.objects.get()
    assert (row.state, row.url) == (State.SUCCEEDED, new.url)
    assert new.ids() == old.ids()
