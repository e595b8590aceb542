"""Who a request's API key makes it: and that every refusal looks the same."""

from datetime import timedelta

import pytest
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.test import APIRequestFactory

from tenants import keys, last_used, service
from tenants.authentication import (
    CHALLENGE,
    ApiKeyAuthentication,
    TenantSuspended,
    bearer_token,
    find_record,
    identify,
)
from tenants.errors import Problem, Unauthenticated
from tenants.models import ApiKey
from tenants.scopes import ALL, SPEECH_READ


@pytest.fixture(autouse=True)
def forget_uses():
    yield
    last_used._recorder._notes.clear()


def authenticate(header: str | None):
    headers = {} if header is None else {"Authorization": header}
    return ApiKeyAuthentication().authenticate(Request(APIRequestFactory().get("/", headers=headers)))


def refusal(header: str | None) -> tuple:
    with pytest.raises(Problem) as caught:
        authenticate(header)
    problem = caught.value
    return type(problem), str(problem), *sorted(vars(problem).items())


def unknown_token() -> str:
    return keys.mint(keys.Kind.LIVE, {1: "never stored"}).token


def wrong_secret(token: str) -> str:
    body = token[: -keys.SECRET_LENGTH - keys.CHECKSUM_LENGTH] + "0" * keys.SECRET_LENGTH
    return body + keys.checksum(body)


def test_a_good_key_gives_its_caller(world):
    user, caller = authenticate(f"Bearer {world.owner.token}")
    assert user is None
    assert caller == world.owner.caller
    assert caller.tenant == world.owner.ref


def test_the_caller_has_the_scopes_of_the_key(world):
    _, token = service.issue_key(world.owner.tenant, "reader", [SPEECH_READ])
    assert authenticate(f"Bearer {token}")[1].scopes == {SPEECH_READ}
    assert world.owner.caller.scopes == ALL


def test_the_word_bearer_is_read_in_any_case(world):
    assert authenticate(f"bearer {world.owner.token}")[1].key_id == world.owner.key.id
    assert bearer_token("BEARER   abc ") == "abc"


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer ", "Basic abc", "abc", "Token abc"])
def test_a_header_without_a_bearer_token_is_refused(header):
    with pytest.raises(Unauthenticated):
        bearer_token(header)


def test_every_refusal_is_the_same(world):
    now = timezone.now()
    tenant = world.owner.tenant
    revoked, revoked_token = service.issue_key(tenant, "revoked", ALL)
    service.revoke_key(revoked)
    expired, expired_token = service.issue_key(tenant, "expired", ALL, expires_at=now + timedelta(days=1))
    ApiKey.objects.filter(id=expired.id).update(expires_at=now - timedelta(seconds=1))
    old, old_token = service.issue_key(tenant, "pepper gone", ALL)
    ApiKey.objects.filter(id=old.id).update(pepper=99)
    tokens = {
        "unknown": unknown_token(),
        "wrong secret": wrong_secret(world.owner.token),
        "wrong secret of a suspended tenant": wrong_secret(world.suspended.token),
        "revoked": revoked_token,
        "expired": expired_token,
        "pepper gone": old_token,
        "not a key": "garbage",
        "not ASCII": "rfr_live_é",
    }
    refusals = {name: refusal(f"Bearer {token}") for name, token in tokens.items()}
    refusals["no header"] = refusal(None)
    assert len(set(map(repr, refusals.values()))) == 1, refusals
    assert refusals["unknown"][0] is Unauthenticated


def test_unknown_and_wrong_cost_the_same_work(world, monkeypatch, django_assert_num_queries):
    digests: list[str] = []
    real = keys.digest
    monkeypatch.setattr(keys, "digest", lambda *args: digests.append(args[0]) or real(*args))
    for token in (world.owner.token, wrong_secret(world.owner.token), unknown_token()):
        digests.clear()
        with django_assert_num_queries(1):
            record = find_record(token)
        with pytest.raises(Unauthenticated) if token != world.owner.token else django_assert_num_queries(0):
            identify(record, token, now=timezone.now())
        assert digests == [token]


def test_garbage_is_refused_without_a_query(world, django_assert_num_queries):
    token = world.owner.token
    with django_assert_num_queries(0):
        for garbage in ("", "abc", token[:-1], token[:-1] + ("0" if token[-1] != "0" else "1"), "x" * 100_000):
            refusal(f"Bearer {garbage}")


def test_an_authenticated_request_costs_one_query(world, django_assert_num_queries):
    with django_assert_num_queries(1):
        authenticate(f"Bearer {world.owner.token}")


def test_a_revoked_key_is_refused_at_its_next_request(world):
    header = f"Bearer {world.owner.token}"
    authenticate(header)
    service.revoke_key(world.owner.key)
    assert refusal(header)[0] is Unauthenticated


def test_a_suspended_tenant_is_told_so_only_with_a_good_key(world):
    with pytest.raises(TenantSuspended) as caught:
        authenticate(f"Bearer {world.suspended.token}")
    assert (caught.value.status, caught.value.code) == (403, "tenant_suspended")
    service.resume_tenant(world.suspended.tenant)
    assert authenticate(f"Bearer {world.suspended.token}")[1].tenant == world.suspended.ref


def test_a_key_of_an_older_pepper_still_works(world, settings):
    settings.REFRAIN_KEY_PEPPERS = {**settings.REFRAIN_KEY_PEPPERS, 2: "newer"}
    assert authenticate(f"Bearer {world.owner.token}")[1] == world.owner.caller
    assert service.issue_key(world.owner.tenant, "new", ALL)[0].pepper == 2


def test_a_record_is_enough_to_identify_without_sql(world, django_assert_num_queries):
    record = ApiKey.objects.select_related("tenant").get(id=world.owner.key.id).record
    with django_assert_num_queries(0):
        assert identify(record, world.owner.token, now=timezone.now()) == world.owner.caller


def test_the_challenge_names_the_scheme():
    assert ApiKeyAuthentication().authenticate_header(Request(APIRequestFactory().get("/"))) == CHALLENGE
    assert CHALLENGE == 'Bearer realm="refrain"'


def test_a_request_is_noted_as_the_last_use(world):
    authenticate(f"Bearer {world.owner.token}")
    last_used._recorder.flush()
    world.owner.key.refresh_from_db()
    assert world.owner.key.last_used_at is not None


def test_a_refused_request_is_not_noted(world):
    refusal(f"Bearer {wrong_secret(world.owner.token)}")
    assert world.owner.key.id not in last_used._recorder._notes
