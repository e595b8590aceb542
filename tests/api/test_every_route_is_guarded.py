"""Every route of the URL map, each method, for everyone who may not: a new route without a case here fails."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain, repeat
from typing import Any

import pytest
from django.test import Client
from django.urls import get_resolver
from django.utils import timezone

from synth.models import ClonedVoice, CurationAction, LexiconWord, Policy, WebhookDelivery
from tenants import keys, service
from tenants.encryption import own_key
from tenants.models import ApiKey, OwnKey
from tenants.scopes import (
    ALL,
    AUDIT_READ,
    CACHE_READ,
    CACHE_WRITE,
    ENCRYPTION_READ,
    ENCRYPTION_WRITE,
    KEYS_READ,
    KEYS_WRITE,
    SPEECH_READ,
    SPEECH_WRITE,
    VOICES_READ,
    VOICES_WRITE,
    WEBHOOKS_READ,
    WEBHOOKS_WRITE,
)
from tests.api.caller import TEXT, Caller, content, problem
from tests.deliveries import deliver
from tests.finished import Finished, finish
from tests.recordings import form
from tests.world import World

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE")
NOBODYS = f"job_{'0' * 32}"
OWNERS_TEXT = "The owner's own words."


@dataclass(frozen=True)
class Case:
    """What a good caller gets, and by which scope. `is_form`: what is sent is an upload."""

    scope: str
    status: int = 200
    body: dict[str, Any] | None = None
    is_form: bool = False


NOTHING = {"filter": {"voice": "nobody"}}
CASES: dict[tuple[str, str], Case] = {
    ("v1/speech", "GET"): Case(SPEECH_READ),
    ("v1/speech", "POST"): Case(SPEECH_WRITE, 202, body={"text": TEXT, "wait": 0}),
    ("v1/speech/<str:speech_id>", "GET"): Case(SPEECH_READ),
    ("v1/speech/<str:speech_id>", "DELETE"): Case(SPEECH_WRITE),
    ("v1/speech/<str:speech_id>/audio", "GET"): Case(SPEECH_READ),
    ("v1/batches", "GET"): Case(SPEECH_READ),
    ("v1/batches", "POST"): Case(SPEECH_WRITE, 202, body={"items": [{"text": TEXT}]}),
    ("v1/batches/<str:batch_id>", "GET"): Case(SPEECH_READ),
    ("v1/batches/<str:batch_id>", "DELETE"): Case(SPEECH_WRITE),
    ("v1/batches/<str:batch_id>/cancel", "POST"): Case(SPEECH_WRITE),
    ("v1/batches/<str:batch_id>/items", "GET"): Case(SPEECH_READ),
    ("v1/batches/<str:batch_id>/manifest", "GET"): Case(SPEECH_READ),
    ("v1/batches/<str:batch_id>/audio.zip", "GET"): Case(SPEECH_READ),
    ("v1/cache/entries", "GET"): Case(CACHE_READ),
    ("v1/cache/purges", "POST"): Case(CACHE_WRITE, body=NOTHING),
    ("v1/cache/refreshes", "POST"): Case(CACHE_WRITE, 202, body=NOTHING),
    ("v1/cache/pins", "POST"): Case(CACHE_WRITE, body=NOTHING),
    ("v1/cache/unpins", "POST"): Case(CACHE_WRITE, body=NOTHING),
    ("v1/cache/warmings", "POST"): Case(CACHE_WRITE, 202, body={"lines": [{"text": TEXT}]}),
    ("v1/cache/actions", "GET"): Case(CACHE_READ),
    ("v1/cache/actions/<str:action_id>", "GET"): Case(CACHE_READ),
    ("v1/cache/actions/<str:action_id>", "DELETE"): Case(CACHE_WRITE),
    ("v1/cache/actions/<str:action_id>/failures", "GET"): Case(CACHE_READ),
    ("v1/cache/misses", "GET"): Case(CACHE_READ),
    ("v1/cache/misses/examples", "GET"): Case(CACHE_READ),
    ("v1/voices", "GET"): Case(VOICES_READ),
    ("v1/voices", "POST"): Case(VOICES_WRITE, 202, is_form=True),
    ("v1/voices/<str:voice_id>", "GET"): Case(VOICES_READ),
    ("v1/voices/<str:voice_id>", "DELETE"): Case(VOICES_WRITE, 204),
    ("v1/encryption-keys", "GET"): Case(ENCRYPTION_READ),
    ("v1/encryption-keys", "POST"): Case(ENCRYPTION_WRITE, body={"key": f"{'A' * 43}="}),
    ("v1/encryption-keys/<str:key_id>", "DELETE"): Case(ENCRYPTION_WRITE, 204),
    ("v1/engines", "GET"): Case(VOICES_READ),
    ("v1/lexicon", "GET"): Case(VOICES_READ),
    ("v1/lexicon", "POST"): Case(VOICES_WRITE, body={"text": "SQL", "alias": "sequel"}),
    ("v1/lexicon/<str:word_id>", "DELETE"): Case(VOICES_WRITE, 204),
    ("v1/webhooks", "GET"): Case(WEBHOOKS_READ),
    ("v1/webhooks", "POST"): Case(WEBHOOKS_WRITE, 201, body={"url": "https://example.com/hook"}),
    ("v1/webhooks/<str:webhook_id>", "GET"): Case(WEBHOOKS_READ),
    ("v1/webhooks/<str:webhook_id>", "PATCH"): Case(WEBHOOKS_WRITE, body={"description": "new"}),
    ("v1/webhooks/<str:webhook_id>", "DELETE"): Case(WEBHOOKS_WRITE, 204),
    ("v1/webhooks/<str:webhook_id>/rotate", "POST"): Case(WEBHOOKS_WRITE),
    ("v1/webhooks/<str:webhook_id>/disable", "POST"): Case(WEBHOOKS_WRITE),
    ("v1/webhooks/<str:webhook_id>/enable", "POST"): Case(WEBHOOKS_WRITE),
    ("v1/webhooks/<str:webhook_id>/test", "POST"): Case(WEBHOOKS_WRITE, 202),
    ("v1/webhooks/<str:webhook_id>/replay", "POST"): Case(WEBHOOKS_WRITE, 202, body={"since": "2026-01-01T00:00:00Z"}),
    ("v1/webhooks/<str:webhook_id>/deliveries", "GET"): Case(WEBHOOKS_READ),
    ("v1/webhooks/<str:webhook_id>/deliveries/<str:delivery_id>", "GET"): Case(WEBHOOKS_READ),
    ("v1/webhooks/<str:webhook_id>/deliveries/<str:delivery_id>/replay", "POST"): Case(WEBHOOKS_WRITE, 202),
    ("v1/policies", "GET"): Case(CACHE_READ),
    ("v1/policies", "POST"): Case(CACHE_WRITE, 201, body={"category": "news", "max_age": 60}),
    ("v1/policies/<str:policy_id>", "GET"): Case(CACHE_READ),
    ("v1/policies/<str:policy_id>", "PUT"): Case(CACHE_WRITE, body={"max_age": 60}),
    ("v1/policies/<str:policy_id>", "DELETE"): Case(CACHE_WRITE, 204),
    ("v1/tenant", "GET"): Case(SPEECH_READ),
    ("v1/keys", "GET"): Case(KEYS_READ),
    ("v1/keys", "POST"): Case(KEYS_WRITE, 201, body={"name": "shop", "scopes": [SPEECH_READ]}),
    ("v1/keys/<str:key_id>", "GET"): Case(KEYS_READ),
    ("v1/keys/<str:key_id>", "PATCH"): Case(KEYS_WRITE, body={"name": "shop"}),
    ("v1/keys/<str:key_id>", "DELETE"): Case(KEYS_WRITE),
    ("v1/usage", "GET"): Case(SPEECH_READ),
    ("v1/usage/days", "GET"): Case(SPEECH_READ),
    ("v1/usage/quotas", "GET"): Case(SPEECH_READ),
    ("v1/usage/totals", "GET"): Case(SPEECH_READ),
    ("v1/savings", "GET"): Case(SPEECH_READ),
    ("v1/audit", "GET"): Case(AUDIT_READ),
    ("v1/audit/export", "GET"): Case(AUDIT_READ),
}
# For everyone; and the admin, its second factor and `files/`, which have guards of their own.
OTHERWISE_GUARDED = {
    "v1/openapi.json",
    "docs/",
    "favicon.ico",
    "files/<path:name>",
    "sealed/<str:ticket>",
    "healthz",
    "readyz",
    "metrics",
    "admin/",
    "admin/second-factor/",
}
ROUTES = [str(route.pattern) for route in get_resolver().url_patterns if str(route.pattern) not in OTHERWISE_GUARDED]
NAMED = sorted(case for case in CASES if "_id>" in case[0])
GUARDED = sorted([*CASES, *((route, "HEAD") for route, method in CASES if method == "GET")])
UNUSED = sorted({(route, method) for route in ROUTES for method in METHODS} - set(GUARDED))

pytestmark = pytest.mark.django_db


def ask(case: tuple[str, str], token: str | None, *, speech_id: str = NOBODYS) -> Any:
    route, method = case
    *first, last = speech_id.split(" ")  # one for each place; the last one for all that are left
    ids = chain(first, repeat(last))
    path = "/" + re.sub("<str:[a-z_]+_id>", lambda _: next(ids), route)
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    told = CASES.get(case, Case(""))
    if told.is_form:
        return Client().post(path, form(), headers=headers)
    body = b"" if told.body is None else json.dumps(told.body).encode()
    return Client().generic(method, path, body, content_type="application/json", headers=headers)


def scope_of(case: tuple[str, str]) -> str:
    route, method = case
    return CASES[route, "GET" if method == "HEAD" else method].scope


@pytest.fixture
def finished(owner: Caller) -> Finished:
    """With an action, a batch, a voice and a webhook of the owner's, which have ids of their own."""
    ClonedVoice.objects.create(
        tenant=owner.member.tenant,
        name="the owner's voice",
        engine="counting",
        language="en",
        fingerprint="ref:of the owner's voice",
        state="succeeded",
        upload="gone",
        upload_size=1,
        consent_who="the owner's speaker",
    )
    done = finish(owner.member, {"text": OWNERS_TEXT, "category": "the owner's category"})
    CurationAction.objects.create(kind="purge", tenant=owner.member.tenant, state="succeeded")
    batch = CurationAction.objects.create(
        kind="batch", tenant=owner.member.tenant, state="succeeded", matched=1, metadata={"of": "the owner's batch"}
    )
    batch.lines.create(
        number=1, tenant=owner.member.tenant, outcome="done", job_id=done.job.id, payload={"text": OWNERS_TEXT}
    )
    LexiconWord.objects.create(tenant=owner.member.tenant, text="SQL", kind="alias", value="as the owner says it")
    deliver(owner.member, "https://the-owner.example/hook", state="failed")
    Policy.objects.create(tenant=owner.member.tenant, by_tenant=True, note="the owner's rule")
    service.issue_key(owner.member.tenant, "the owner's shop", [SPEECH_READ])
    OwnKey.objects.create(
        tenant=owner.member.tenant,
        key_id=own_key(owner.member.tenant.id, bytes(32)).id,
        name="the owner's encryption key",
    )
    return done


def ids_for(case: tuple[str, str], finished: Finished) -> list[str]:
    """What of the owner's this route could name."""
    if "action_id" in case[0]:
        return [CurationAction.objects.get(kind="purge").public_id]
    if "batch_id" in case[0]:
        return [CurationAction.objects.filter(kind="batch").earliest("created_at").public_id]
    if "word_id" in case[0]:
        return [LexiconWord.objects.get().public_id]
    if "webhook_id" in case[0]:
        delivery = WebhookDelivery.objects.get()
        return [f"{delivery.endpoint.public_id} {delivery.public_id}"]
    if "encryption" in case[0]:
        return [OwnKey.objects.get().key_id]
    if "policy_id" in case[0]:
        return [Policy.objects.get().public_id]
    if "key_id" in case[0]:
        return [ApiKey.objects.get(name="the owner's shop").public_id]
    if "voice_id" in case[0]:
        return [ClonedVoice.objects.get().public_id]
    return [finished.job.public_id, *([finished.entry_id] if case[1] != "DELETE" else [])]


@pytest.mark.any_database
def test_every_route_and_method_has_a_case() -> None:
    patterns: list[Any] = [route for route in get_resolver().url_patterns if str(route.pattern) in ROUTES]
    found = {
        (str(route.pattern), method)
        for route in patterns
        for method in METHODS
        if method != "HEAD" and hasattr(route.callback.cls, method.lower())
    }
    assert found == set(CASES)


@pytest.mark.parametrize("case", sorted(CASES), ids=" ".join)
def test_a_good_key_is_let_in(case: tuple[str, str], owner: Caller, finished: Finished) -> None:
    for speech_id in ids_for(case, finished):
        assert ask(case, owner.member.token, speech_id=speech_id).status_code == CASES[case].status


def revoked(world: World) -> str:
    key, token = service.issue_key(world.owner.tenant, "revoked", ALL)
    service.revoke_key(key)
    return token


def expired(world: World) -> str:
    key, token = service.issue_key(world.owner.tenant, "expired", ALL, expires_at=timezone.now() + timedelta(days=1))
    ApiKey.objects.filter(id=key.id).update(expires_at=timezone.now() - timedelta(seconds=1))
    return token


def wrong(world: World) -> str:
    body = world.owner.token[: -keys.SECRET_LENGTH - keys.CHECKSUM_LENGTH] + "0" * keys.SECRET_LENGTH
    return body + keys.checksum(body)


STRANGERS: dict[str, Callable[[World], str | None]] = {
    "no key": lambda _: None,
    "garbage": lambda _: "garbage",
    "unknown": lambda _: keys.mint(keys.Kind.LIVE, {1: "never stored"}).token,
    "wrong": wrong,
    "expired": expired,
    "revoked": revoked,
}


@pytest.mark.any_database
@pytest.mark.parametrize("case", GUARDED, ids=" ".join)
def test_no_key_and_every_bad_key_get_the_same_401(
    case: tuple[str, str], world: World, owner: Caller, finished: Finished
) -> None:
    answers = {}
    for kind, token_of in STRANGERS.items():
        response = ask(case, token_of(world), speech_id=finished.job.public_id)
        assert response.status_code == 401, kind
        assert response["WWW-Authenticate"].startswith("Bearer")
        answers[kind] = None if case[1] == "HEAD" else {**problem(response), "request_id": None}
    assert all(answer == answers["no key"] for answer in answers.values())


@pytest.mark.any_database
@pytest.mark.parametrize("case", GUARDED, ids=" ".join)
def test_a_key_without_the_scope_gets_403(case: tuple[str, str], owner: Caller, finished: Finished) -> None:
    _, token = service.issue_key(owner.member.tenant, "narrow", ALL - {scope_of(case)})
    response = ask(case, token, speech_id=finished.job.public_id)
    assert response.status_code == 403
    if case[1] != "HEAD":
        assert scope_of(case) in problem(response)["detail"]


@pytest.mark.any_database
@pytest.mark.parametrize("case", GUARDED, ids=" ".join)
def test_a_suspended_tenant_gets_403(case: tuple[str, str], world: World, owner: Caller) -> None:
    response = ask(case, world.suspended.token)
    assert response.status_code == 403
    if case[1] != "HEAD":
        assert problem(response)["code"] == "tenant_suspended"


@pytest.mark.parametrize("case", NAMED, ids=" ".join)
def test_what_is_anothers_is_as_if_it_were_not_there(
    case: tuple[str, str], stranger: Caller, finished: Finished
) -> None:
    nowhere = problem(ask(case, stranger.member.token))
    ids = ids_for(case, finished)
    if case[0].endswith("_id>"):
        ids.append("")  # at the end of an address; elsewhere that is another one
    for speech_id in (*ids, finished.entry_id, "job_", "ent_x", "..", "%00", "job_" + "g" * 32, "vox_" + "g" * 32):
        response = ask(case, stranger.member.token, speech_id=speech_id)
        assert response.status_code == 404
        assert {**problem(response), "request_id": None} == {**nowhere, "request_id": None}
    finished.job.refresh_from_db()
    assert finished.job.state == "succeeded"


@pytest.mark.parametrize("case", sorted(CASES), ids=" ".join)
def test_no_answer_to_a_stranger_holds_anything_of_the_owners(
    case: tuple[str, str], stranger: Caller, finished: Finished
) -> None:
    secrets = [
        finished.job.id.hex,
        finished.entry.id.hex,
        finished.digest,
        OWNERS_TEXT,
        "the owner's category",
        "the owner's voice",
        "the owner's batch",
        "the owner's speaker",
        "the-owner.example",
        "the owner's rule",
        "the owner's shop",
        finished.job.tenant_id.hex,
    ]
    for speech_id in (*ids_for(case, finished), finished.entry_id):
        said = content(ask(case, stranger.member.token, speech_id=speech_id))
        assert not [secret for secret in secrets if secret.encode() in said or finished.data[:100] in said]


def test_the_same_text_of_another_tenant_is_no_hit(owner: Caller, stranger: Caller, finished: Finished) -> None:
    assert owner.speak(text=OWNERS_TEXT).status_code == 200
    assert stranger.speak(text=OWNERS_TEXT).status_code == 202


@pytest.mark.any_database
@pytest.mark.parametrize("case", UNUSED, ids=" ".join)
def test_another_method_is_405_with_what_is_allowed(case: tuple[str, str], owner: Caller) -> None:
    response = ask(case, owner.member.token)
    assert response.status_code == 405
    assert case[1] == "HEAD" or problem(response)["code"] == "method_not_allowed"
    allowed = {name.strip() for name in response["Allow"].split(",")}
    assert {method for route, method in CASES if route == case[0]} <= allowed
    assert case[1] not in allowed
