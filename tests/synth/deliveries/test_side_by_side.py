"""Many are sent at once, few to each endpoint; dead and slow endpoints delay no others; one round a process."""

from __future__ import annotations

import threading
import time
from itertools import pairwise

import pytest
from django.db import OperationalError

from synth.models import DeliveryAttempt, WebhookDelivery
from synth.models.states import State
from synth.queue.claim import Worker
from synth.queue.deliveries import AT_ONCE, claim_deliveries
from synth.queue.shutdown import ShutdownFlag
from synth.service.webhooks import sending
from synth.service.webhooks.sending import drain_deliveries
from tests.servers.inbox import Inbox, Reply
from tests.servers.receiver import wait_until
from tests.synth.deliveries.conftest import WORKER
from tests.synth.queue.desk import at_once

pytestmark = pytest.mark.django_db


def ended() -> int:
    return WebhookDelivery.objects.filter(state=State.SUCCEEDED).count()


def last(inbox: Inbox) -> float:
    return max(each.at for each in inbox.received)


def test_one_endpoint_gets_several_at_once_but_few(world, receive, endpoint_of, tell, send):
    inbox = receive(lambda _: Reply(delay=0.1))
    endpoint = endpoint_of(world.owner, inbox)
    for _ in range(20):
        tell(endpoint)
    send()
    assert (ended(), len(inbox.received)) == (20, 20)
    assert 1 < inbox.most_at_once <= AT_ONCE


def test_a_dead_endpoint_does_not_keep_a_living_one_waiting(
    world, receive, endpoint_of, tell, send, webhooks, monkeypatch
):
    """Of the dead one there is time for two tries."""
    monkeypatch.setattr(sending, "DRAIN_SECONDS", 4.0)
    webhooks(timeout=2.5)
    dead, living = receive(lambda _: Reply(delay=60)), receive()
    for inbox in (dead, living):
        endpoint = endpoint_of(world.owner, inbox)
        for _ in range(8):
            tell(endpoint)
    send()
    first_end = min(map(_end, _of(dead)))
    assert len(living.received) == 8
    assert max(attempt.sent_at.timestamp() for attempt in _of(living)) < first_end
    one_by_one = sorted(_of(dead), key=lambda attempt: attempt.sent_at)
    assert all(later.sent_at.timestamp() > _end(earlier) - 0.1 for earlier, later in pairwise(one_by_one))


def test_a_slow_endpoint_gets_one_at_a_time(world, receive, endpoint_of, tell, send, monkeypatch):
    monkeypatch.setattr(sending, "PROMPT_SECONDS", 0.2)
    inbox = receive(lambda _: Reply(delay=0.4))
    endpoint = endpoint_of(world.owner, inbox)
    for _ in range(5):
        tell(endpoint)
    send()
    assert (ended(), inbox.most_at_once) == (5, 1)


def test_more_dead_endpoints_than_places_leave_room_for_living_ones(
    world, receive, endpoint_of, tell, send, webhooks, monkeypatch
):
    monkeypatch.setattr(sending, "SOUND", 2)
    monkeypatch.setattr(sending, "DOUBTFUL", 2)
    monkeypatch.setattr(sending, "PROMPT_SECONDS", 0.5)
    webhooks(timeout=3.0)
    dead, living = receive(lambda _: Reply(delay=60)), receive()
    for inbox in [dead] * 6 + [living] * 2:
        tell(endpoint_of(world.owner, inbox))
    send()
    assert len(living.received) == 2
    assert last(living) < dead.received[0].at + 3.0


def test_a_round_that_is_over_waits_for_nobody_at_the_others_cost(
    committed_world, receive, endpoint_of, tell, monkeypatch, webhooks
):
    """Its time is over while a request to an endpoint that nobody knows yet hangs."""
    webhooks(timeout=4.0)
    monkeypatch.setattr(sending, "DRAIN_SECONDS", 0.5)
    monkeypatch.setattr(sending, "PROMPT_SECONDS", 1.0)
    hanging, living = receive(lambda _: Reply(delay=60)), receive()
    first, second = endpoint_of(committed_world.owner, hanging), endpoint_of(committed_world.owner, living)
    sending._manners.answered(second.id, promptly=True)
    tell(first)

    def late() -> None:
        _until_it_came(hanging)
        threading.Event().wait(1.0)
        tell(second)

    at_once([lambda: drain_deliveries(WORKER), late])
    assert ended() == 1
    assert last(living) < hanging.received[0].at + 3.5


def test_events_that_come_while_others_are_sent_go_out_in_the_same_round(committed_world, receive, endpoint_of, tell):
    slow, quick = receive(lambda _: Reply(delay=3.0)), receive()
    first, second = endpoint_of(committed_world.owner, slow), endpoint_of(committed_world.owner, quick)
    tell(first)

    def late() -> None:
        _until_it_came(slow)
        tell(second)

    assert [each for each in at_once([lambda: drain_deliveries(WORKER), late]) if each is not None] == []
    assert ended() == 2
    assert last(quick) < last(slow) + 3.0


def test_who_is_rung_meanwhile_leaves_word_and_goes(committed_world, receive, endpoint_of, tell):
    inbox = receive(lambda _: Reply(delay=1.0))
    tell(endpoint_of(committed_world.owner, inbox))
    took = []

    def rung_again() -> None:
        _until_it_came(inbox)
        began = time.monotonic()
        drain_deliveries(WORKER)
        took.append((time.monotonic() - began, len(WebhookDelivery.objects.filter(state=State.RUNNING))))

    at_once([lambda: drain_deliveries(WORKER), rung_again])
    assert took[0][1] == 1  # it did not wait for the request that was under way
    assert ended() == 1
    assert not sending._rung.is_set()


def test_two_processes_send_each_delivery_once(committed_world, receive, endpoint_of, tell, monkeypatch):
    """As two processes: neither knows of the other's round."""

    class Never:
        def acquire(self, **_: bool) -> bool:
            return True

        def release(self) -> None:
            pass

    monkeypatch.setattr(sending, "_sending", Never())
    inbox = receive(lambda _: Reply(delay=0.05))
    endpoint = endpoint_of(committed_world.owner, inbox)
    for _ in range(30):
        tell(endpoint)
    at_once([lambda name=name: drain_deliveries(Worker(name, lease=15)) for name in ("one", "other")])
    assert (ended(), len(inbox.received), len(inbox.ids())) == (30, 30, 30)
    assert inbox.most_at_once <= AT_ONCE


def test_a_worker_that_is_told_to_stop_records_what_is_under_way_and_takes_no_more(
    committed_world, receive, endpoint_of, tell, monkeypatch
):
    stopping = ShutdownFlag()
    monkeypatch.setattr(sending, "stopping", stopping)
    inbox = receive(lambda _: Reply(delay=1.0))
    endpoint = endpoint_of(committed_world.owner, inbox)
    for _ in range(3):
        tell(endpoint)

    def stop() -> None:
        _until_it_came(inbox)
        stopping.set()

    at_once([lambda: drain_deliveries(WORKER), stop])
    states = sorted(WebhookDelivery.objects.values_list("state", flat=True))
    assert (states, len(inbox.received)) == (["queued", "queued", "succeeded"], 1)


def test_what_takes_too_long_at_a_shutdown_is_given_back(committed_world, receive, endpoint_of, tell, monkeypatch):
    stopping = ShutdownFlag()
    monkeypatch.setattr(sending, "stopping", stopping)
    monkeypatch.setattr(sending, "GRACE", 0.3)
    inbox = receive(lambda request: Reply(delay=30 if request.number == 1 else 0))
    event = tell(endpoint_of(committed_world.owner, inbox))

    def stop() -> None:
        _until_it_came(inbox)
        stopping.set()

    at_once([lambda: drain_deliveries(WORKER), stop])
    row = WebhookDelivery.objects.get()
    assert (row.state, row.lease_until) == (State.QUEUED, None)
    monkeypatch.setattr(sending, "stopping", ShutdownFlag())
    drain_deliveries(WORKER)
    assert (ended(), inbox.ids(), len(inbox.received)) == (1, {event.public_id}, 2)


def test_a_sender_that_died_before_it_recorded_is_followed_by_another(world, receive, endpoint_of, tell, send):
    inbox = receive()
    event = tell(endpoint_of(world.owner, inbox))
    sending.route_events()
    (claim,) = claim_deliveries(WORKER, sending.Room(sound=1, doubtful=1)).to_send
    WebhookDelivery.objects.filter(id=claim.id).update(not_before=claim.created_at, lease_until=claim.created_at)
    send()
    assert inbox.received == []
    WebhookDelivery.objects.update(not_before=claim.created_at)
    send()
    assert inbox.ids() == {event.public_id}
    assert [each.error for each in DeliveryAttempt.objects.all()] == ["sender_lost", ""]


def test_a_database_that_is_away_for_a_moment_loses_nothing(world, receive, endpoint_of, tell, send, monkeypatch):
    inbox = receive()
    event = tell(endpoint_of(world.owner, inbox))

    def away(*_: object) -> None:
        raise OperationalError("database away")

    with monkeypatch.context() as patched:
        patched.setattr(sending, "claim_deliveries", away)
        with pytest.raises(OperationalError):
            send()
    send()
    assert (inbox.ids(), ended()) == ({event.public_id}, 1)


def _of(inbox: Inbox) -> list[DeliveryAttempt]:
    return list(DeliveryAttempt.objects.filter(delivery__url=inbox.url))


def _end(attempt: DeliveryAttempt) -> float:
    return attempt.sent_at.timestamp() + attempt.seconds


def _until_it_came(inbox: Inbox) -> None:
    assert wait_until(lambda: bool(inbox.received))
