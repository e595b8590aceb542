"""Few deliveries at once for an endpoint, one for a failing one, in order per subject; leases that end are taken."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from synth.models import DeliveryAttempt, WebhookDelivery, WebhookEndpoint
from synth.models.clock import database_now
from synth.models.states import State
from synth.queue.claim import Worker
from synth.queue.deliveries import AT_ONCE, Claims, Room, claim_deliveries, deliveries_due
from synth.service.webhooks.events import note_event
from synth.service.webhooks.outcomes import Try, record, record_lost
from synth.service.webhooks.routing import route_events
from tests.deliveries import make_endpoint
from tests.synth.queue.desk import at_once

pytestmark = pytest.mark.django_db
ONE, OTHER = Worker("one", lease=30), Worker("other", lease=30)


def room(**changes: object) -> Room:
    known = frozenset(WebhookEndpoint.objects.values_list("id", flat=True))
    return Room(**{"sound": 32, "doubtful": 32, "prompt": known, **changes})


def claim(worker: Worker = ONE, **changes: object) -> list[WebhookDelivery]:
    return claim_deliveries(worker, room(**changes)).to_send


def fill(endpoint: WebhookEndpoint, subjects: list[str], *, kind: str = "speech.failed") -> None:
    for subject in subjects:
        note_event(endpoint.tenant.ref, kind, subject, {}, endpoint_id=endpoint.id)
    while route_events():
        pass


def names(prefix: str, number: int) -> list[str]:
    return [f"{prefix}_{each}" for each in range(number)]


def end(row: WebhookDelivery, status: int) -> None:
    assert record(row, Try(sent_at=database_now(), seconds=0.1, status=status))


def test_what_was_sent_long_ago_is_not_looked_through(endpoint):
    """Of each endpoint there are thousands of it. Both databases take an index over what is open."""
    fill(endpoint, names("job", 3))
    asked: list[tuple[str, Any]] = []

    def listen(execute: Any, sql: str, parameters: Any, many: bool, context: Any) -> Any:
        asked.append((sql, parameters))
        return execute(sql, parameters, many, context)

    with connection.execute_wrapper(listen):
        assert deliveries_due()
        assert claim()
    looks = [each for each in asked if each[0].startswith("SELECT") and "synth_webhookdelivery" in each[0]]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off")
        explain = "EXPLAIN " if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN "
        plans = [str(cursor.execute(explain + sql, parameters).fetchall()) for sql, parameters in looks]
        if connection.vendor == "postgresql":
            cursor.execute("RESET ALL")
    assert len(plans) >= 4
    assert not [plan for plan in plans if "delivery_due" not in plan and "delivery_in_order" not in plan]


@pytest.fixture
def endpoint(world) -> WebhookEndpoint:
    return make_endpoint(world.owner, "https://one.example.com/")


def test_an_endpoint_gets_no_more_than_a_few_at_once_from_all_processes(endpoint):
    fill(endpoint, names("job", 10))
    first = claim()
    assert len(first) == AT_ONCE
    assert claim(OTHER) == []
    end(first[0], 200)
    assert len(claim(OTHER)) == 1


def test_one_that_is_not_known_to_answer_well_gets_one(endpoint):
    fill(endpoint, names("job", 5))
    assert len(claim(prompt=frozenset())) == 1
    assert claim(prompt=frozenset()) == []


def test_one_that_fails_gets_one_until_it_succeeds(endpoint):
    fill(endpoint, names("job", 12))
    for row in claim():
        end(row, 500)
    (only,) = claim()
    assert claim() == []
    end(only, 200)
    endpoint.refresh_from_db()
    assert endpoint.failing_since is None
    assert len(claim()) == AT_ONCE


def test_failing_and_slow_endpoints_have_places_of_their_own(world):
    made = [make_endpoint(world.owner, f"https://{n}.example.com/") for n in range(6)]
    for number, each in enumerate(made):
        fill(each, [f"job_{number}"])
    WebhookEndpoint.objects.filter(id__in=[each.id for each in made[:2]]).update(failing_since=database_now())
    slow = frozenset(each.id for each in made[2:4])
    taken = {row.endpoint_id for row in claim(doubtful=3, sound=1, slow=slow)}
    assert len(taken & {each.id for each in made[:4]}) == 3
    assert len(taken & {each.id for each in made[4:]}) == 1
    assert {row.endpoint_id for row in claim(doubtful=0, slow=slow)} == {each.id for each in made[4:]} - taken


def test_many_deliveries_of_one_do_not_keep_another_waiting(world, endpoint):
    fill(endpoint, names("job", 50))
    claim()
    late = make_endpoint(world.stranger, "https://late.example.com/")
    fill(late, ["job_late"])
    assert [row.endpoint_id for row in claim(sound=1)] == [late.id]


def test_places_are_shared_evenly(world):
    made = [make_endpoint(world.owner, f"https://{n}.example.com/") for n in range(4)]
    for number, each in enumerate(made):
        fill(each, names(f"job_{number}", 6))
    assert set(Counter(row.endpoint_id for row in claim(sound=8)).values()) == {2}


def test_a_delivery_waits_for_an_earlier_one_of_its_subject(endpoint):
    for kind in ("voice.ready", "voice.failed", "cache.refreshed"):
        fill(endpoint, ["same"], kind=kind)
    order = []
    for status in (500, 200, 200, 200):
        (row,) = claim()
        order.append(row.event.type)
        end(row, status)
        assert claim() == [] if status == 500 else True
        WebhookDelivery.objects.filter(state=State.QUEUED).update(not_before=database_now())
    assert order == ["voice.ready", "voice.ready", "voice.failed", "cache.refreshed"]


def test_the_next_one_goes_on_once_an_earlier_one_is_given_up(endpoint, webhooks):
    webhooks(pauses=[])
    for kind in ("voice.ready", "voice.failed"):
        fill(endpoint, ["same"], kind=kind)
    (row,) = claim()
    end(row, 500)
    assert [row.event.type for row in claim()] == ["voice.failed"]


def test_what_waits_for_an_earlier_one_is_not_due(endpoint):
    for kind in ("voice.ready", "voice.failed"):
        fill(endpoint, ["same"], kind=kind)
    end(claim()[0], 500)
    assert not deliveries_due()
    assert deliveries_due(within=timedelta(seconds=90))


def test_other_endpoints_do_not_wait_for_a_subject(world, endpoint):
    other = make_endpoint(world.owner, "https://other.example.com/")
    note_event(world.owner.ref, "voice.ready", "same", {})
    note_event(world.owner.ref, "voice.failed", "same", {})
    route_events()
    first = claim()
    assert {row.endpoint_id for row in first} == {endpoint.id, other.id}
    end(next(row for row in first if row.endpoint_id == other.id), 200)
    assert [row.endpoint_id for row in claim()] == [other.id]


def test_a_lease_that_ran_out_is_taken_and_the_late_result_thrown_away(endpoint):
    fill(endpoint, ["job_1"])
    (lost,) = claim()
    assert (claim(OTHER), deliveries_due()) == ([], False)
    past = database_now() - timedelta(seconds=1)
    WebhookDelivery.objects.update(lease_until=past, not_before=past)
    assert deliveries_due()
    claims = claim_deliveries(OTHER, room())
    assert (claims.to_send, claims.lost) == ([], [lost])
    assert record_lost(claims.lost[0], lease=30)
    assert not record(lost, Try(sent_at=database_now(), seconds=0.1, status=200))
    assert claim(OTHER) == []
    WebhookDelivery.objects.update(not_before=past)
    (taken,) = claim(OTHER)
    assert (taken.attempt, taken.worker, taken.tries) == (2, "other", 1)
    end(taken, 200)
    noted = list(DeliveryAttempt.objects.values_list("number", "status", "error"))
    assert noted == [(1, None, "sender_lost"), (2, 200, "")]


def test_one_whose_sending_kills_its_sender_is_given_up_like_any_other(endpoint, webhooks):
    webhooks(pauses=[5.0, 30.0])
    fill(endpoint, ["job_1"])
    for _ in range(3):
        assert claim()
        past = database_now() - timedelta(seconds=1)
        WebhookDelivery.objects.update(lease_until=past, not_before=past)
        (lost,) = claim_deliveries(OTHER, room()).lost
        assert record_lost(lost, lease=30)
        WebhookDelivery.objects.filter(state=State.QUEUED).update(not_before=past)
    row = WebhookDelivery.objects.get()
    assert (row.state, row.tries, row.last_error) == (State.FAILED, 3, "sender_lost")
    assert claim_deliveries(OTHER, room()) == Claims()
    endpoint.refresh_from_db()
    assert endpoint.failing_since is None


def test_claims_of_a_disabled_endpoint_are_canceled_whoever_disabled_it(endpoint):
    fill(endpoint, names("job", 3))
    WebhookEndpoint.objects.update(status=WebhookEndpoint.Status.DISABLED)
    assert claim() == []
    assert set(WebhookDelivery.objects.values_list("state", flat=True)) == {State.CANCELED}
    assert not deliveries_due()


def test_processes_at_once_take_each_delivery_once_and_no_more_than_may_be(committed_world):
    endpoint = make_endpoint(committed_world.owner, "https://one.example.com/")
    fill(endpoint, names("job", 10))
    results = at_once([lambda: claim(ONE), lambda: claim(OTHER)] * 3)
    claimed = [row.id for result in results for row in result]
    assert len(claimed) == len(set(claimed)) == AT_ONCE
    assert WebhookDelivery.objects.filter(state=State.RUNNING, attempt=1).count() == AT_ONCE
