"""A tenant's own keys: made, changed and revoked by the API, and never with more than the key that asks holds."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from tenants import self_service, service
from tenants.models import ApiKey
from tenants.scopes import ALL, KEYS_READ, KEYS_WRITE, SPEECH_READ, SPEECH_WRITE
from tests.api.caller import Caller, problem, refused_fields
from tests.world import Member

pytestmark = pytest.mark.django_db

ORDER: dict[str, Any] = {"name": "shop", "scopes": [SPEECH_WRITE]}
NARROW = (SPEECH_READ, KEYS_READ, KEYS_WRITE)


def make(caller: Caller, **order: Any) -> Any:
    return caller.client.post("/v1/keys", {**ORDER, **order}, content_type="application/json")


def change(caller: Caller, address: str, **body: Any) -> Any:
    return caller.client.patch(address, body, content_type="application/json")


def with_key(caller: Caller, scopes: tuple[str, ...] = NARROW, **options: Any) -> Caller:
    """Somebody of the same tenant, with another key that the operator has issued."""
    tenant = caller.member.tenant
    return Caller(Member(tenant, *service.issue_key(tenant, "another", scopes, **options)))


def by_token(caller: Caller, token: str) -> Caller:
    return Caller(Member(caller.member.tenant, caller.member.key, token))


def test_a_token_is_told_once_and_works_at_once(owner: Caller) -> None:
    answer = make(owner, name="  shop ", scopes=[SPEECH_READ, SPEECH_WRITE, SPEECH_READ], kind="test")
    told = answer.json()
    token = told.pop("token")
    assert (answer.status_code, answer["Location"], answer["Cache-Control"]) == (201, told["href"], "no-store")
    expected = {"name": "shop", "kind": "test", "scopes": [SPEECH_WRITE, SPEECH_READ], "status": "active"}
    expected |= {"current": False, "made_by": owner.member.key.public_id, "rate_limit": None, "expires_at": None}
    assert {name: told[name] for name in expected} == expected
    assert token.startswith(f"{told['hint']}_")
    assert by_token(owner, token).get("/v1/tenant").status_code == 200
    assert owner.get(told["href"]).json() == told
    (first, second) = owner.get("/v1/keys").json()["results"]
    assert first == told
    assert (second["current"], second["made_by"]) == (True, None)
    assert token.rsplit("_", 1)[1] not in str(ApiKey.objects.values())


REFUSED_KEYS: list[tuple[dict[str, Any], dict[str, str]]] = [
    ({"name": None}, {"name": "required"}),
    ({"name": "  "}, {"name": "required"}),
    ({"name": 7}, {"name": "not_a_string"}),
    ({"name": "a" * 201}, {"name": "too_long"}),
    ({"name": "a\0b"}, {"name": "not_allowed"}),
    ({"scopes": None}, {"scopes": "required"}),
    ({"scopes": []}, {"scopes": "required"}),
    ({"scopes": "speech:read"}, {"scopes": "not_a_list"}),
    ({"scopes": ["speech:sing"]}, {"scopes": "not_allowed"}),
    ({"scopes": [{}]}, {"scopes": "not_allowed"}),
    ({"kind": "root"}, {"kind": "not_allowed"}),
    ({"expires_at": "tomorrow"}, {"expires_at": "invalid"}),
    ({"expires_at": "2020-01-01T00:00:00Z"}, {"expires_at": "in_the_past"}),
    ({"rate_limit": -1}, {"rate_limit": "out_of_range"}),
    ({"rate_limit": 0.0001}, {"rate_limit": "out_of_range"}),
    ({"rate_limit": "5"}, {"rate_limit": "not_a_number"}),
    ({"rate_limit": 5, "rate_burst": 0}, {"rate_burst": "out_of_range"}),
    ({"rate_burst": 5}, {"rate_burst": "out_of_range"}),
    ({"token": "rfr_live_mine"}, {"token": "unknown_field"}),
]


@pytest.mark.any_database
@pytest.mark.parametrize(("order", "expected"), REFUSED_KEYS)
def test_what_is_wrong_with_an_order_is_told_by_field(
    owner: Caller, order: dict[str, Any], expected: dict[str, str]
) -> None:
    assert refused_fields(make(owner, **order)) == expected
    assert ApiKey.objects.filter(tenant=owner.member.tenant).count() == 1


def test_no_key_gives_a_scope_that_it_lacks(owner: Caller) -> None:
    narrow = with_key(owner)
    answer = make(narrow, scopes=[SPEECH_READ, SPEECH_WRITE])
    assert refused_fields(answer) == {"scopes": "scope_not_held"}
    (field,) = problem(answer)["fields"]
    assert field["allowed"] == [SPEECH_READ, KEYS_READ, KEYS_WRITE]
    heir = by_token(owner, make(narrow, scopes=[SPEECH_READ, KEYS_WRITE]).json()["token"])
    assert make(heir, scopes=[KEYS_READ]).status_code == 422
    assert make(heir, scopes=[KEYS_WRITE]).status_code == 201


def test_no_key_is_outlived_by_one_that_it_makes(owner: Caller) -> None:
    ends = timezone.now().replace(microsecond=0) + timedelta(days=7)
    passing = with_key(owner, expires_at=ends)
    later = f"{ends + timedelta(seconds=1):%Y-%m-%dT%H:%M:%SZ}"
    answer = make(passing, scopes=[SPEECH_READ], expires_at=later)
    assert refused_fields(answer) == {"expires_at": "out_of_range"}
    (field,) = problem(answer)["fields"]
    as_late = make(passing, scopes=[SPEECH_READ], expires_at=field["allowed"]["maximum"])
    unsaid = make(passing, scopes=[SPEECH_READ])
    assert [told.json()["expires_at"] for told in (as_late, unsaid)] == [f"{ends:%Y-%m-%dT%H:%M:%SZ}"] * 2
    assert make(owner, expires_at=later).json()["expires_at"] == later


def test_no_key_gives_or_takes_more_requests_than_it_has(owner: Caller) -> None:
    limited = with_key(owner, tuple(ALL), rate=5, burst=10)
    unsaid = make(limited).json()
    assert (unsaid["rate_limit"], unsaid["rate_burst"]) == (5, 10)
    for order, field in (({"rate_limit": 6}, "rate_limit"), ({"rate_limit": 5, "rate_burst": 11}, "rate_burst")):
        assert refused_fields(make(limited, **order)) == {field: "out_of_range"}
        for address in (unsaid["href"], f"/v1/keys/{limited.member.key.public_id}"):
            assert refused_fields(change(limited, address, **order)) == {field: "out_of_range"}
    assert refused_fields(make(limited, rate_limit=0)) == {"rate_limit": "out_of_range"}
    assert refused_fields(change(limited, unsaid["href"], rate_limit=0)) == {"rate_limit": "out_of_range"}
    lower = change(limited, unsaid["href"], rate_limit=2).json()
    assert (lower["rate_limit"], lower["rate_burst"]) == (2, 2)
    assert change(limited, unsaid["href"], rate_burst=4).json()["rate_burst"] == 4


def test_no_key_has_more_than_its_tenant(owner: Caller, settings: Any) -> None:
    settings.REFRAIN = {**settings.REFRAIN, "RATE_LIMIT": 50.0}
    assert refused_fields(make(owner, rate_limit=51)) == {"rate_limit": "out_of_range"}
    service.limit_tenant(owner.member.tenant, rate=20, burst=40)
    answer = make(owner, rate_limit=21)
    assert problem(answer)["fields"][0]["allowed"] == {"maximum": 20}
    assert refused_fields(make(owner, rate_limit=20, rate_burst=41)) == {"rate_burst": "out_of_range"}
    assert make(owner, rate_limit=20, rate_burst=40).status_code == 201


def test_a_change_leaves_what_it_does_not_name(owner: Caller) -> None:
    told = make(owner, rate_limit=5, rate_burst=7).json()
    del told["token"]
    assert change(owner, told["href"], name="till").json() == {**told, "name": "till"}
    assert change(owner, told["href"], rate_limit=0).json() == {
        **told, "name": "till", "rate_limit": None, "rate_burst": None,
    }  # fmt: skip
    assert refused_fields(change(owner, told["href"], scopes=list(ALL))) == {"scopes": "unknown_field"}
    assert refused_fields(change(owner, told["href"], name=" ")) == {"name": "required"}


@pytest.mark.django_db(transaction=True)
def test_a_revoked_key_is_refused_at_its_next_request(owner: Caller) -> None:
    told = make(owner, scopes=[SPEECH_WRITE]).json()
    shop = by_token(owner, told["token"])
    assert shop.speak().status_code == 202
    answer = owner.delete(told["href"])
    assert (answer.status_code, answer.json()["status"]) == (200, "revoked")
    assert shop.speak().status_code == 401
    assert owner.delete(told["href"]).json() == answer.json()


def test_a_lesser_key_touches_no_greater_one(owner: Caller) -> None:
    lesser = with_key(owner)
    address = f"/v1/keys/{owner.member.key.public_id}"
    for answer in (lesser.delete(address), change(lesser, address, name="mine")):
        assert (answer.status_code, problem(answer)["code"]) == (403, "key_outranks")
    assert owner.get(address).json()["status"] == "active"
    assert owner.delete(f"/v1/keys/{lesser.member.key.public_id}").status_code == 200


def test_the_last_key_that_makes_keys_stays(owner: Caller) -> None:
    with_key(owner, expires_at=timezone.now() + timedelta(days=1))
    ApiKey.objects.exclude(expires_at=None).update(expires_at=timezone.now())  # no help any more
    make(owner)
    address = f"/v1/keys/{owner.member.key.public_id}"
    answer = owner.delete(address)
    assert (answer.status_code, problem(answer)["code"]) == (409, "last_key_of_keys")
    heir = by_token(owner, make(owner, scopes=list(ALL)).json()["token"])
    assert owner.delete(address).status_code == 200
    assert heir.get("/v1/keys").status_code == 200


def test_the_list_tells_what_a_leaked_key_has_made(owner: Caller) -> None:
    leaked = with_key(owner)
    theirs = make(leaked, scopes=[SPEECH_READ]).json()["id"]
    ours = make(owner).json()["id"]
    owner.delete(f"/v1/keys/{leaked.member.key.public_id}")

    def listed(**query: str) -> set[str]:
        return {key["id"] for key in owner.get("/v1/keys", query).json()["results"]}

    assert listed(made_by=leaked.member.key.public_id) == {theirs}
    assert listed(status="revoked") == {leaked.member.key.public_id}
    assert listed(status="active") == {theirs, ours, owner.member.key.public_id}
    assert listed(status="expired") == set()
    assert refused_fields(owner.get("/v1/keys", {"made_by": "me"})) == {"made_by": "invalid"}
    assert refused_fields(owner.get("/v1/keys", {"state": "active"})) == {"state": "unknown_field"}


def test_there_are_so_many_at_most_and_revoking_makes_no_room_at_once(
    owner: Caller, stranger: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(self_service, "MOST_KEYS", 2)
    first = make(owner)
    owner.delete(first.json()["href"])
    full = make(owner)
    assert (full.status_code, problem(full)["code"]) == (409, "too_many_keys")
    assert make(stranger).status_code == 201
    ApiKey.objects.exclude(revoked_at=None).update(created_at=timezone.now() - timedelta(days=2))
    assert make(owner).status_code == 201


def test_a_key_that_is_revoked_meanwhile_makes_none(owner: Caller) -> None:
    """Who asks is looked at again once the tenant is locked."""
    caller = owner.member.caller
    service.revoke_key(owner.member.key)
    order = self_service.KeyOrder(name="late", scopes=(SPEECH_READ,))
    with pytest.raises(self_service.Unauthenticated):
        self_service.make_key(caller, order, default=None)
