"""Row T1 beside the addresses: what of another tenant's is named in a body or a query is as if it were not there.

The fields are those of the OpenAPI document that name something by id, voice or cursor; a new one without a case fails.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from synth.models import ClonedVoice, Entry, Policy, WebhookEvent
from tenants.audit.events import Event
from tenants.audit.writing import append
from tenants.ids import public_id
from tests.api.caller import TEXT, Caller, content
from tests.deliveries import deliver, endpoint
from tests.finished import Finished, finish

pytestmark = pytest.mark.django_db

NAMING = ("_id", "_ids", "voice", "reference", "cursor")
VOICE = "the-owners-voice"
KEY, REQUEST = str(UUID(int=7)), "req_of_the_owner"
# (method, address, field) -> the request that names what is the owner's; {placeholders} are its ids.
REQUESTS: dict[tuple[str, str, str], Any] = {
    **{("get", path, field): {field: named} for path in ("/v1/audit", "/v1/audit/export")
       for field, named in (("actor_id", KEY), ("request_id", REQUEST))},
    ("get", "/v1/cache/entries", "voice"): {"voice": VOICE},
    ("get", "/v1/speech", "voice"): {"voice": VOICE},
    ("get", "/v1/webhooks/{webhook_id}/deliveries", "event_id"): {"event_id": "{event}"},
    ("post", "/v1/batches", "custom_id"): {"items": [{"text": TEXT, "custom_id": "{job}"}]},
    ("post", "/v1/batches", "voice"): {"items": [{"text": TEXT, "voice": VOICE}]},
    ("post", "/v1/batches", "reference"): {"items": [{"text": TEXT, "emotion": {"reference": VOICE}}]},
    ("post", "/v1/cache/warmings", "voice"): {"lines": [{"text": TEXT}], "voice": VOICE},
    ("post", "/v1/policies", "voice"): {"voice": VOICE, "max_age": 60},
    ("put", "/v1/policies/{policy_id}", "voice"): {"voice": VOICE, "max_age": 60},
    ("post", "/v1/speech", "voice"): {"text": TEXT, "voice": VOICE, "wait": 0},
    ("post", "/v1/speech", "reference"): {"text": TEXT, "emotion": {"reference": VOICE}, "wait": 0},
    **{("post", f"/v1/cache/{what}", "entry_ids"): {"entry_ids": ["{entry}"]}
       for what in ("purges", "refreshes", "pins", "unpins")},
    **{("post", f"/v1/cache/{what}", "voice"): {"filter": {"voice": VOICE}}
       for what in ("purges", "refreshes", "pins", "unpins")},
}  # fmt: skip
REFUSED = {"entry_ids": 404, "reference": 422}


@pytest.fixture
def finished(owner: Caller) -> Finished:
    ClonedVoice.objects.create(
        tenant=owner.member.tenant, name=VOICE, engine="counting", language="en", state="succeeded", upload="gone",
        upload_size=1, fingerprint="ref:of the owner's voice",
    )  # fmt: skip
    deliver(owner.member, "https://the-owner.example/hook", state="failed")
    asked = Event(action="POST /v1/speech", actor_kind="key", actor_id=KEY, request_id=REQUEST, text="own words")
    append(owner.member.tenant.id, [asked])
    return finish(owner.member, {"text": "The owner's own words."})


def named(schema: dict[str, Any], schemas: dict[str, Any], seen: tuple[str, ...] = ()) -> Iterator[str]:
    """Every field of a body, at whatever depth."""
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    if name in seen:
        return
    if name:
        yield from named(schemas[name], schemas, (*seen, name))
    parts = [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]
    parts += [part for kind in ("allOf", "oneOf", "anyOf") for part in schema.get(kind, [])]
    yield from schema.get("properties", {})
    for part in parts:
        yield from named(part, schemas, seen)


def test_every_field_that_names_something_has_a_case() -> None:
    document = Client().get("/v1/openapi.json").json()
    schemas = document["components"]["schemas"]
    found = set()
    for path, methods in document["paths"].items():
        for method, told in methods.items():
            fields = {part["name"] for part in told.get("parameters", []) if part["in"] == "query"}
            for body in told.get("requestBody", {}).get("content", {}).values():
                fields |= set(named(body["schema"], schemas))
            found |= {(method, path, field) for field in fields if field.endswith(NAMING)}
    # Cursors have a test of their own, below.
    assert {case for case in found if case[2] != "cursor"} == set(REQUESTS)


@pytest.mark.parametrize("case", sorted(REQUESTS), ids=" ".join)
def test_what_is_anothers_is_not_there(case: tuple[str, str, str], stranger: Caller, finished: Finished) -> None:
    method, path, field = case
    before = list(Entry.objects.order_by("id").values())
    event = WebhookEvent.objects.get().public_id
    body = json.dumps(REQUESTS[case]).replace("{job}", finished.job.public_id)
    body = body.replace("{entry}", finished.entry_id).replace("{event}", event)
    path = path.replace("{webhook_id}", endpoint(stranger.member).public_id)
    rule = Policy.objects.create(tenant=stranger.member.tenant, by_tenant=True, max_age=60)
    path = path.replace("{policy_id}", public_id("pol", rule.id))
    if method == "get":
        response = stranger.get(path, json.loads(body))
    else:
        response = getattr(stranger.client, method)(path, body, content_type="application/json")
    assert response.status_code < 500
    said = content(response).decode()
    for secret in ("own words", "the-owner.example", "ref:of the owner", finished.digest, str(finished.job.tenant_id)):
        assert secret not in said
    if path == "/v1/batches":
        assert response.json()["counts"]["refused"] == (0 if field == "custom_id" else 1)
    elif field in REFUSED:
        assert response.status_code == REFUSED[field]
    elif path == "/v1/audit/export":
        assert said == ""
    elif method == "get":
        assert response.json()["data" if "data" in response.json() else "results"] == []
    elif "filter" in REQUESTS[case]:
        assert response.json()["matched"] == 0
    elif field == "voice" and path == "/v1/speech":
        assert response.status_code == 422
    elif "max_age" in REQUESTS[case]:  # a rule for a name that is nobody's there
        assert Policy.objects.get(voice=VOICE).tenant == stranger.member.tenant
    assert list(Entry.objects.order_by("id").values()) == before


@pytest.mark.parametrize("path", ["/v1/speech", "/v1/cache/entries"])
def test_a_cursor_of_anothers_list_opens_nothing_of_it(path: str, owner: Caller, stranger: Caller) -> None:
    for number in range(3):
        finish(owner.member, {"text": f"The owner's words {number}."})
    following = owner.get(path, {"limit": 1}).json()["next"]
    assert following
    answer = stranger.client.get(following)
    assert answer.status_code in {200, 404, 422}
    assert "owner" not in content(answer).decode().lower()


def test_an_idempotency_key_of_anothers_is_ones_own(owner: Caller, stranger: Caller) -> None:
    headers = {"Idempotency-Key": "the-same-key-of-both"}
    ids = [caller.speak(headers=headers).json()["id"] for caller in (owner, stranger)]
    assert len(set(ids)) == 2
    assert stranger.get(f"/v1/speech/{ids[0]}").status_code == 404
