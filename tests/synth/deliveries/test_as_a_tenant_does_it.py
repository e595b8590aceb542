"""From the endpoint that a tenant makes by the API to its receiver, which knows nothing but what the API told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from standardwebhooks import WebhookVerificationError

from tenants import last_used
from tests.api.caller import Caller
from tests.servers.inbox import Reply
from tests.world import World


@pytest.fixture
def owner(committed_world: World) -> Iterator[Caller]:
    yield Caller(committed_world.owner)
    last_used._recorder._notes.clear()


def order(caller: Caller, address: str, **body: Any) -> Any:
    answer = caller.client.post(address, body, content_type="application/json")
    assert answer.status_code in {200, 201, 202}, answer.content
    return answer


def test_a_test_arrives_and_its_delivery_tells_of_it(owner: Caller, receive, send):
    inbox = receive()
    endpoint = order(owner, "/v1/webhooks", url=inbox.url).json()
    answer = order(owner, f"{endpoint['href']}/test")
    send()
    (delivered,) = inbox.received
    payload = delivered.verified(endpoint["secret"])
    assert delivered.id == payload["id"] == answer.json()["id"]
    assert (payload["type"], payload["data"]["endpoint_id"]) == ("webhook.test", endpoint["id"])
    (told,) = owner.get(answer["Location"]).json()["results"]
    told = owner.get(told["href"]).json()
    assert (told["status"], told["tries"], told["payload"]) == ("succeeded", 1, payload)
    (attempt,) = told["attempts"]
    assert (attempt["status"], attempt["answer"]) == (200, "taken")


def test_both_secrets_verify_while_they_overlap_and_then_the_new_one_alone(owner: Caller, receive, send):
    inbox = receive()
    old = order(owner, "/v1/webhooks", url=inbox.url).json()
    new = order(owner, f"{old['href']}/rotate").json()
    order(owner, f"{old['href']}/test")
    send()
    for secret in (old["secret"], new["secret"]):
        assert inbox.received[0].verified(secret)["type"] == "webhook.test"
    newest = order(owner, f"{old['href']}/rotate", overlap=0).json()
    order(owner, f"{old['href']}/test")
    send()
    assert inbox.received[1].verified(newest["secret"])
    for secret in (old["secret"], new["secret"]):
        with pytest.raises(WebhookVerificationError):
            inbox.received[1].verified(secret)


def test_what_failed_follows_to_a_new_url_and_is_replayed_under_its_id(owner: Caller, receive, send):
    away, here = receive(lambda _: Reply(status=500)), receive()
    endpoint = order(owner, "/v1/webhooks", url=away.url).json()
    event = order(owner, f"{endpoint['href']}/test").json()
    send()
    assert [each.id for each in away.received] == [event["id"]]
    assert owner.get(endpoint["href"]).json()["failing_since"]
    owner.client.patch(endpoint["href"], {"url": here.url}, content_type="application/json")
    (waiting,) = owner.get(f"{endpoint['href']}/deliveries", {"event_id": event["id"]}).json()["results"]
    assert (waiting["status"], waiting["url"]) == ("queued", here.url)
    order(owner, f"{waiting['href']}/replay")
    send()
    assert [each.id for each in here.received] == [event["id"]]
    assert here.received[0].verified(endpoint["secret"])["id"] == event["id"]
    assert owner.get(waiting["href"]).json()["status"] == "succeeded"
    assert owner.get(endpoint["href"]).json()["failing_since"] is None


def test_nothing_arrives_at_one_that_was_disabled(owner: Caller, receive, send):
    inbox = receive()
    endpoint = order(owner, "/v1/webhooks", url=inbox.url).json()
    order(owner, f"{endpoint['href']}/test")
    order(owner, f"{endpoint['href']}/disable")
    send()
    assert inbox.received == []
    (told,) = owner.get(f"{endpoint['href']}/deliveries").json()["results"]
    assert told["status"] == "canceled"
    order(owner, f"{endpoint['href']}/enable")
    order(owner, f"{told['href']}/replay")
    send()
    assert [each.id for each in inbox.received] == [told["event_id"]]
