"""Webhook endpoints: their secrets are told once, their URLs are checked, and each change acts on what waits."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from synth import wiring
from synth.models import WebhookDelivery, WebhookEndpoint, WebhookEvent
from synth.service.webhooks import endpoints
from synth.service.webhooks.payloads import opened_secrets
from tests.api.caller import Caller, problem, refused_fields
from tests.deliveries import URL, deliver, endpoint

pytestmark = pytest.mark.django_db

SECRET = re.compile(r"whsec_[A-Za-z0-9+/]{43}=")


def create(caller: Caller, **body: Any) -> Any:
    return caller.client.post("/v1/webhooks", {"url": URL, **body}, content_type="application/json")


def change(caller: Caller, address: str, **body: Any) -> Any:
    return caller.client.patch(address, body, content_type="application/json")


def order(caller: Caller, address: str, **body: Any) -> Any:
    return caller.client.post(address, body, content_type="application/json")


def secrets_of(told: dict[str, Any]) -> list[str]:
    row = next(row for row in WebhookEndpoint.objects.all() if row.public_id == told["id"])
    return opened_secrets(row, timezone.now())


def test_its_secret_is_told_once(owner: Caller) -> None:
    answer = create(owner, events=["voice.ready", "batch.completed"], description="  Orders ", any_path=True)
    told = answer.json()
    assert (answer.status_code, answer["Location"]) == (201, told["href"])
    secret = told.pop("secret")
    assert SECRET.fullmatch(secret)
    assert secrets_of(told) == [secret]
    assert told["href"] == f"/v1/webhooks/{told['id']}"
    expected = {"url": URL, "events": ["batch.completed", "voice.ready"], "description": "Orders", "any_path": True}
    expected |= {"status": "enabled", "disabled_reason": None, "failing_since": None, "secrets": 1}
    assert {name: told[name] for name in expected} == expected
    assert owner.get(told["href"]).json() == told
    assert owner.get("/v1/webhooks").json()["results"] == [told]


def test_the_database_holds_no_secret_in_clear(owner: Caller) -> None:
    secret = create(owner).json()["secret"]
    (sealed,) = WebhookEndpoint.objects.get().secrets
    assert secret.removeprefix("whsec_") not in str(sealed)
    assert wiring.webhook_seal().open(sealed["sealed"]) == secret


def test_what_is_not_given_has_its_default(owner: Caller) -> None:
    told = create(owner).json()
    assert (told["events"], told["description"], told["any_path"]) == ([], "", False)


REFUSED_ENDPOINTS: list[tuple[dict[str, Any], dict[str, str]]] = [
    ({"url": None}, {"url": "required"}),
    ({"url": 7}, {"url": "not_a_string"}),
    ({"url": "https://example.com/" + "a" * 2000}, {"url": "too_long"}),
    ({"url": "example.com"}, {"url": "scheme_not_allowed"}),
    ({"url": "http://example.com/hook"}, {"url": "scheme_not_allowed"}),
    ({"url": "https://example.com:22/"}, {"url": "port_not_allowed"}),
    ({"url": "https://user:password@example.com/"}, {"url": "credentials_in_url"}),
    ({"url": "https://example.com/#there"}, {"url": "fragment_in_url"}),
    ({"url": "https://127.0.0.1/"}, {"url": "address_forbidden"}),
    ({"url": "https://2130706433/"}, {"url": "address_forbidden"}),
    ({"url": "https://[::ffff:169.254.169.254]/"}, {"url": "address_forbidden"}),
    ({"url": "https://localhost/"}, {"url": "address_forbidden"}),
    ({"url": "https://exa mple.com/"}, {"url": "invalid_url"}),
    ({"events": "voice.ready"}, {"events": "not_a_list"}),
    ({"events": ["voice.ready", "voice.gone"]}, {"events": "not_allowed"}),
    ({"events": [{}]}, {"events": "not_allowed"}),
    ({"events": ["speech.succeeded"]}, {"events": "not_allowed"}),
    ({"events": ["webhook.test"]}, {"events": "not_allowed"}),
    ({"description": "a" * 201}, {"description": "too_long"}),
    ({"any_path": "yes"}, {"any_path": "not_a_boolean"}),
    ({"secret": "whsec_mine"}, {"secret": "unknown_field"}),
    ({"url": 7, "any_path": 1}, {"url": "not_a_string", "any_path": "not_a_boolean"}),
]


@pytest.mark.any_database
@pytest.mark.parametrize(("body", "expected"), REFUSED_ENDPOINTS)
def test_what_is_wrong_with_it_is_told_field_by_field(
    owner: Caller, body: dict[str, Any], expected: dict[str, str]
) -> None:
    assert refused_fields(create(owner, **body)) == expected
    assert not WebhookEndpoint.objects.exists()
    told = create(owner).json()
    if expected != {"url": "required"}:
        assert refused_fields(change(owner, told["href"], **body)) == expected
    assert owner.get(told["href"]).json()["url"] == URL


@pytest.mark.any_database
def test_a_refused_url_says_what_is_allowed(owner: Caller) -> None:
    (told,) = problem(create(owner, url="http://example.com/"))["fields"]
    assert told["allowed"] == {"schemes": ["https"], "ports": [443, 8443]}


@pytest.mark.any_database
def test_private_hosts_are_taken_where_the_operator_allows_them(owner: Caller, settings: Any) -> None:
    from ipaddress import ip_network

    networks = [ip_network("127.0.0.0/8")]
    settings.REFRAIN = {
        **settings.REFRAIN, "WEBHOOK_HTTP": True, "WEBHOOK_PORTS": [9000], "WEBHOOK_NETWORKS": networks,
    }  # fmt: skip
    assert create(owner, url="http://127.0.0.1:9000/").status_code == 201
    (told,) = problem(create(owner, url="http://10.0.0.1:9000/"))["fields"]
    assert told["allowed"] == {"schemes": ["https", "http"], "ports": [9000]}


def test_a_tenant_has_so_many_at_most(owner: Caller, stranger: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "MOST_ENDPOINTS", 2)
    assert [create(owner).status_code for _ in range(3)] == [201, 201, 409]
    assert problem(create(owner))["code"] == "too_many_endpoints"
    assert create(stranger).status_code == 201


def test_a_change_leaves_what_it_does_not_name(owner: Caller) -> None:
    told = create(owner, events=["voice.ready"], description="one", any_path=True).json()
    changed = change(owner, told["href"], description="two").json()
    assert changed == {name: value for name, value in told.items() if name != "secret"} | {"description": "two"}
    assert change(owner, told["href"], events=[], any_path=False).json()["events"] == []
    assert change(owner, told["href"], url=None).json()["url"] == URL


def test_what_waits_follows_the_endpoint_to_its_new_url(owner: Caller) -> None:
    waiting = deliver(owner.member)
    callback = deliver(owner.member, to=waiting.endpoint)
    WebhookEvent.objects.filter(id=callback.event_id).update(url="https://example.com/orders/7")
    WebhookDelivery.objects.filter(id=callback.id).update(url="https://example.com/orders/7")
    arrived = deliver(owner.member, to=waiting.endpoint, state="succeeded")
    WebhookEndpoint.objects.update(failing_since=timezone.now())
    address = f"/v1/webhooks/{waiting.endpoint.public_id}"
    assert change(owner, address, description="as before").json()["failing_since"]
    assert change(owner, address, url="https://example.com/new").json()["failing_since"] is None
    urls = {row.id: row.url for row in WebhookDelivery.objects.all()}
    assert urls == {
        waiting.id: "https://example.com/new",
        callback.id: "https://example.com/orders/7",
        arrived.id: URL,
    }


def test_a_deleted_one_is_gone_with_its_deliveries(owner: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "DELETED_AT_ONCE", 2)
    row, others = deliver(owner.member), deliver(owner.member)
    for _ in range(4):
        deliver(owner.member, to=row.endpoint)
    address = f"/v1/webhooks/{row.endpoint.public_id}"
    assert owner.delete(address).status_code == 204
    assert (owner.get(address).status_code, owner.delete(address).status_code) == (404, 404)
    assert WebhookDelivery.objects.get() == others


def test_both_secrets_sign_while_they_overlap(owner: Caller) -> None:
    told = create(owner).json()
    answer = order(owner, f"{told['href']}/rotate")
    new = answer.json()
    assert (answer.status_code, new["secrets"]) == (200, 2)
    assert SECRET.fullmatch(new["secret"])
    assert secrets_of(told) == [new["secret"], told["secret"]]
    (row,) = WebhookEndpoint.objects.all()
    in_a_day = timezone.now() + timedelta(days=1)
    assert opened_secrets(row, in_a_day - timedelta(minutes=5)) == [new["secret"], told["secret"]]
    assert opened_secrets(row, in_a_day + timedelta(minutes=5)) == [new["secret"]]
    assert "secret" not in owner.get(told["href"]).json()


def test_without_an_overlap_no_earlier_one_signs(owner: Caller) -> None:
    told = create(owner).json()
    order(owner, f"{told['href']}/rotate")
    newest = order(owner, f"{told['href']}/rotate", overlap=0).json()
    assert newest["secrets"] == 1
    assert secrets_of(told) == [newest["secret"]]


def test_a_shorter_overlap_ends_all_earlier_ones_sooner(owner: Caller) -> None:
    told = create(owner).json()
    order(owner, f"{told['href']}/rotate", overlap=7 * 86_400)
    newest = order(owner, f"{told['href']}/rotate", overlap=60).json()
    assert newest["secrets"] == 3
    (row,) = WebhookEndpoint.objects.all()
    assert opened_secrets(row, timezone.now() + timedelta(minutes=2)) == [newest["secret"]]


def test_five_secrets_sign_at_most(owner: Caller) -> None:
    told = create(owner).json()
    address = f"{told['href']}/rotate"
    assert [order(owner, address).status_code for _ in range(5)] == [200, 200, 200, 200, 409]
    assert problem(order(owner, address))["code"] == "too_many_secrets"
    assert order(owner, address, overlap=0).json()["secrets"] == 1


@pytest.mark.any_database
@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"overlap": -1}, "out_of_range"),
        ({"overlap": 604_801}, "out_of_range"),
        ({"overlap": "1"}, "not_a_number"),
        ({"for": 1}, "unknown_field"),
    ],
)
def test_an_overlap_has_its_bounds(owner: Caller, body: dict[str, Any], code: str) -> None:
    told = create(owner).json()
    assert refused_fields(order(owner, f"{told['href']}/rotate", **body)) == {next(iter(body)): code}
    assert secrets_of(told) == [told["secret"]]


def test_disabling_cancels_what_waits_and_enabling_forgets_the_failures(owner: Caller) -> None:
    waiting = deliver(owner.member)
    WebhookEndpoint.objects.update(failing_since=timezone.now())
    address = f"/v1/webhooks/{waiting.endpoint.public_id}"
    told = order(owner, f"{address}/disable").json()
    assert (told["status"], told["disabled_reason"]) == ("disabled", "by_hand")
    assert told["disabled_at"]
    waiting.refresh_from_db()
    assert waiting.state == "canceled"
    assert order(owner, f"{address}/disable").json() == told
    told = order(owner, f"{address}/enable").json()
    assert {told[name] for name in ("disabled_reason", "disabled_at", "failing_since")} == {None}
    assert told["status"] == "enabled"


def test_why_it_was_disabled_stays_when_it_is_disabled_again(owner: Caller) -> None:
    row = endpoint(owner.member, status="disabled", disabled_reason="gone", disabled_at=timezone.now())
    assert order(owner, f"/v1/webhooks/{row.public_id}/disable").json()["disabled_reason"] == "gone"


def test_a_test_is_for_one_endpoint_alone(owner: Caller) -> None:
    told = create(owner, events=["voice.ready"]).json()
    create(owner)
    answer = order(owner, f"{told['href']}/test")
    event = WebhookEvent.objects.get()
    assert answer.status_code == 202
    told_event = {"id": event.public_id, "object": "webhook_event", "type": "webhook.test"}
    assert answer.json() == told_event | {"created_at": answer.json()["created_at"]}
    assert event.endpoint is not None
    assert (event.endpoint.public_id, event.data["endpoint_id"]) == (told["id"], told["id"])
    assert owner.get(answer["Location"]).json()["results"] == []  # no worker runs
    order(owner, f"{told['href']}/test")
    assert WebhookEvent.objects.count() == 2


def test_ten_tests_a_minute(owner: Caller) -> None:
    first, other = create(owner).json(), create(owner).json()
    assert [order(owner, f"{first['href']}/test").status_code for _ in range(10)] == [202] * 10
    refused = order(owner, f"{first['href']}/test")
    assert (problem(refused)["code"], refused.status_code) == ("too_many_tests", 429)
    assert 0 < int(refused["Retry-After"]) <= 60
    assert order(owner, f"{other['href']}/test").status_code == 202
    WebhookEvent.objects.update(created_at=timezone.now() - timedelta(seconds=61))
    assert order(owner, f"{first['href']}/test").status_code == 202


def test_nothing_is_sent_to_one_that_is_disabled(owner: Caller) -> None:
    row = deliver(owner.member, state="failed")
    address = f"/v1/webhooks/{row.endpoint.public_id}"
    order(owner, f"{address}/disable")
    for path in ("test", "replay", f"deliveries/{row.public_id}/replay"):
        body = {"since": "2026-01-01T00:00:00Z"} if path == "replay" else {}
        assert problem(order(owner, f"{address}/{path}", **body))["code"] == "endpoint_disabled"
    assert not WebhookEvent.objects.filter(type="webhook.test").exists()


@pytest.mark.any_database
@pytest.mark.parametrize("path", ["disable", "enable", "test"])
def test_an_order_without_a_body_takes_none(owner: Caller, path: str) -> None:
    told = create(owner).json()
    assert refused_fields(order(owner, f"{told['href']}/{path}", overlap=1)) == {"overlap": "unknown_field"}
