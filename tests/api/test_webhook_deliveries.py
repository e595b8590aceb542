"""What was sent: listed with filters, looked at with every try, and sent again under the same id."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from synth.models import WebhookDelivery, WebhookEvent
from tenants import service as tenants_service
from tenants.scopes import WEBHOOKS_READ
from tests.api.caller import Caller, problem, refused_fields
from tests.deliveries import deliver, endpoint
from tests.synth.admin.rows import ENGLISH, make_work

pytestmark = pytest.mark.django_db


def post(caller: Caller, address: str, **body: Any) -> Any:
    return caller.client.post(address, body, content_type="application/json")


def address_of(row: WebhookDelivery) -> str:
    return f"/v1/webhooks/{row.endpoint.public_id}/deliveries/{row.public_id}"


def ids(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.content
    return [row["id"] for row in answer.json()["results"]]


def test_a_delivery_shows_its_tries_and_what_is_sent(owner: Caller) -> None:
    row = deliver(owner.member)
    told = owner.get(address_of(row)).json()
    expected = {"id": row.public_id, "object": "webhook_delivery", "event_id": row.event.public_id}
    expected |= {"type": "voice.ready", "subject": row.subject, "url": row.url, "status": "queued", "tries": 1}
    expected |= {"last_status": 500, "last_error": None, "href": address_of(row), "ended_at": None}
    assert {name: told[name] for name in expected} == expected
    assert told["next_at"]
    (attempt,) = told["attempts"]
    assert attempt.pop("sent_at")
    assert attempt == {"number": 1, "duration": 0.25, "status": 500, "error": None, "answer": "Sorry."}
    assert told["payload"] == {
        "id": row.event.public_id,
        "type": "voice.ready",
        "api_version": "2026-12-01",
        "created_at": told["payload"]["created_at"],
        "data": {"id": row.subject, "name": "anna"},
    }


def test_a_key_that_may_not_hear_speech_is_shown_no_url_of_it(owner: Caller) -> None:
    work = make_work(owner.member.tenant, ENGLISH)
    row = deliver(owner.member, type="speech.succeeded")
    WebhookEvent.objects.filter(id=row.event_id).update(subject=work.job.public_id)
    _key, token = tenants_service.issue_key(owner.member.tenant, "webhooks alone", {WEBHOOKS_READ})
    shown = [owner.get(address_of(row)), owner.get(address_of(row), authorization=f"Bearer {token}")]
    full, without = (answer.json()["payload"]["data"]["audio"] for answer in shown)
    assert full.pop("url").startswith("http")
    assert full.pop("url_expires_at")
    assert without == full


def test_one_that_has_ended_has_no_next_try(owner: Caller) -> None:
    told = owner.get(address_of(deliver(owner.member, state="failed"))).json()
    assert (told["status"], told["next_at"]) == ("failed", None)
    assert told["ended_at"]


def test_they_are_listed_newest_first_in_pages(owner: Caller) -> None:
    to = endpoint(owner.member)
    rows = [deliver(owner.member, to=to) for _ in range(5)]
    deliver(owner.member)  # another endpoint's
    address = f"/v1/webhooks/{to.public_id}/deliveries"
    newest = [row.public_id for row in reversed(rows)]
    assert ids(owner.get(address)) == newest
    page = owner.get(address, {"limit": 3})
    assert ids(page) + ids(owner.get(page.json()["next"])) == newest


def test_filters_choose_some(owner: Caller) -> None:
    to = endpoint(owner.member)
    failed = deliver(owner.member, to=to, state="failed")
    refreshed = deliver(owner.member, to=to, type="cache.refreshed")
    old = deliver(owner.member, to=to, created_at=timezone.now() - timedelta(days=2))
    address = f"/v1/webhooks/{to.public_id}/deliveries"
    yesterday = (timezone.now() - timedelta(days=1)).isoformat()
    assert ids(owner.get(address, {"status": "failed"})) == [failed.public_id]
    assert ids(owner.get(address, {"type": "cache.refreshed"})) == [refreshed.public_id]
    assert ids(owner.get(address, {"event_id": old.event.public_id})) == [old.public_id]
    assert ids(owner.get(address, {"since": yesterday})) == [refreshed.public_id, failed.public_id]
    assert ids(owner.get(address, {"since": yesterday, "status": "failed", "type": "cache.refreshed"})) == []


@pytest.mark.any_database
@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("status", "waiting", "invalid_choice"),
        ("type", "voice.gone", "invalid_choice"),
        ("event_id", "evt_1", "invalid"),
        ("since", "yesterday", "invalid"),
        ("state", "failed", "unknown_field"),
    ],
)
def test_a_filter_that_is_wrong_is_refused(owner: Caller, name: str, value: str, code: str) -> None:
    address = f"/v1/webhooks/{endpoint(owner.member).public_id}/deliveries"
    assert refused_fields(owner.get(address, {name: value})) == {name: code}


def test_one_endpoint_does_not_show_what_is_anothers(owner: Caller) -> None:
    row, other = deliver(owner.member), endpoint(owner.member)
    assert owner.get(f"/v1/webhooks/{other.public_id}/deliveries/{row.public_id}").status_code == 404


@pytest.mark.parametrize("state", ["failed", "succeeded", "canceled", "queued"])
def test_one_is_sent_again_from_its_first_try(owner: Caller, state: str) -> None:
    row = deliver(owner.member, state=state, not_before=timezone.now() + timedelta(hours=1))
    answer = post(owner, f"{address_of(row)}/replay")
    told = answer.json()
    assert (answer.status_code, told["status"], told["tries"]) == (202, "queued", 0)
    assert (told["event_id"], told["ended_at"]) == (row.event.public_id, None)
    row.refresh_from_db()
    assert row.not_before <= timezone.now() + timedelta(seconds=5)


def test_one_that_is_being_sent_is_left_alone(owner: Caller) -> None:
    row = deliver(owner.member, state="running")
    assert problem(post(owner, f"{address_of(row)}/replay"))["code"] == "delivery_running"


def test_all_that_was_given_up_since_a_time_is_sent_again(owner: Caller) -> None:
    to, now = endpoint(owner.member), timezone.now()
    failed = [deliver(owner.member, to=to, state="failed").id for _ in range(2)]
    deliver(owner.member, to=to, state="failed", ended_at=now - timedelta(days=2))
    deliver(owner.member, to=to, state="succeeded")
    deliver(owner.member, state="failed")  # another endpoint's
    answer = post(owner, f"/v1/webhooks/{to.public_id}/replay", since=(now - timedelta(days=1)).isoformat())
    assert (answer.status_code, answer.json()) == (202, {"object": "count", "replayed": 2})
    assert set(WebhookDelivery.objects.filter(state="queued").values_list("id", flat=True)) == set(failed)


@pytest.mark.any_database
@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "required"),
        ({"since": ""}, "required"),
        ({"since": 7}, "not_a_string"),
        ({"since": "yesterday"}, "invalid"),
        ({"since": "2026-11-30T00:00:00"}, "invalid"),
        ({"since": "9999-12-31T23:59:59-14:00"}, "invalid"),
    ],
)
def test_a_time_must_be_one(owner: Caller, body: dict[str, Any], code: str) -> None:
    row = deliver(owner.member, state="failed")
    address = f"/v1/webhooks/{row.endpoint.public_id}/replay"
    assert refused_fields(post(owner, address, **body)) == {"since": code}
