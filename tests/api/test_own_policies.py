"""TTL rules that a tenant makes itself: they act at its next request, and keep to what its operator has set."""

from __future__ import annotations

from typing import Any

import pytest

from synth import snapshot
from synth.models import Policy
from synth.service import save_policy
from tenants import service
from tests.api.caller import Caller, problem, refused_fields
from tests.finished import finish

pytestmark = pytest.mark.django_db

MONTH = 30 * 86_400
HOT = {"hot_hits": 5, "hot_window": 60, "hot_factor": 2.0, "hot_ceiling": 7200}


def make(caller: Caller, **rule: Any) -> Any:
    return caller.client.post("/v1/policies", rule, content_type="application/json")


def replace(caller: Caller, address: str, rule: dict[str, Any]) -> Any:
    return caller.client.put(address, rule, content_type="application/json")


@pytest.fixture
def bounded(owner: Caller) -> Caller:
    service.limit_own_rules(owner.member.tenant, max_own_rules=2, max_own_ttl=3600)
    return owner


@pytest.mark.django_db(transaction=True)
def test_a_rule_acts_on_the_next_request_of_its_tenant_alone(owner: Caller, stranger: Caller) -> None:
    words = {"text": "Hello there.", "category": "news"}
    for caller in (owner, stranger):
        finish(caller.member, words)
        assert caller.speak(words).json()["from_cache"]
    told = make(owner, category="news", never_cache=True).json()
    assert owner.speak(words).status_code == 202
    assert stranger.speak(words).json()["from_cache"]
    assert owner.speak({**words, "category": "other"}).json()["from_cache"]
    assert owner.delete(told["href"]).status_code == 204
    assert owner.speak(words).json()["from_cache"]


def test_it_is_told_as_it_is_kept(owner: Caller) -> None:
    rule = {"note": " Weather ", "category": "weather", "engine": "counting", "voice": "plain_a", "max_age": 3600,
            "min_characters": 5, "max_characters": 50, "stale": 60, "model_change": "make_new", **HOT}  # fmt: skip
    answer = make(owner, **rule)
    told = answer.json()
    assert (answer.status_code, answer["Location"]) == (201, told["href"])
    expected = {**rule, "note": "Weather", "priority": 100, "enabled": True, "pinned": False, "editable": True}
    assert {name: told[name] for name in expected} == expected
    assert owner.get(told["href"]).json() == told
    assert owner.get("/v1/policies").json()["results"] == [told]
    row = Policy.objects.get()
    assert (row.tenant_id, row.by_tenant) == (owner.member.tenant.id, True)


def test_what_was_told_may_be_changed_and_sent_back(owner: Caller) -> None:
    told = make(owner, note="one", max_age=60, **HOT).json()
    changed = replace(owner, told["href"], {**told, "max_age": 120}).json()
    assert changed == {**told, "max_age": 120, "updated_at": changed["updated_at"]}
    bare = replace(owner, told["href"], {"enabled": False}).json()
    assert (bare["note"], bare["max_age"], bare["hot_hits"], bare["enabled"]) == ("", None, None, False)


REFUSED_RULES: list[tuple[dict[str, Any], dict[str, str]]] = [
    ({"priority": 99}, {"priority": "out_of_range"}),
    ({"priority": 40_000}, {"priority": "out_of_range"}),
    ({"max_age": 0}, {"max_age": "out_of_range"}),
    ({"max_age": "1h"}, {"max_age": "not_an_integer"}),
    ({"note": "a" * 201}, {"note": "too_long"}),
    ({"enabled": "yes"}, {"enabled": "not_a_boolean"}),
    ({"model_change": "panic"}, {"model_change": "not_allowed"}),
    ({"ttl": 60}, {"ttl": "unknown_field"}),
    ({"min_characters": 9, "max_characters": 8}, {"max_characters": "out_of_order"}),
    ({"never_cache": True, "max_age": 60}, {"max_age": "no_meaning"}),
    ({"hot_hits": 5}, dict.fromkeys(("hot_window", "hot_factor", "hot_ceiling"), "incomplete")),
    ({**HOT, "hot_factor": 1}, {"hot_factor": "too_low"}),
    ({**HOT, "max_age": 7200}, {"hot_ceiling": "too_low"}),
    ({"max_age": MONTH + 1}, {"max_age": "out_of_range"}),
    ({"max_age": MONTH, "stale": 1}, {"stale": "out_of_range"}),
    ({"max_age": 60, **HOT, "hot_ceiling": MONTH + 1}, {"hot_ceiling": "out_of_range"}),
    ({"max_age": 60, **HOT, "hot_ceiling": MONTH, "stale": 1}, {"stale": "out_of_range"}),
    ({"stale": MONTH}, {"stale": "out_of_range"}),
    ({"pinned": True}, {"pinned": "out_of_range"}),
    ({"pinned": True, "never_cache": True}, {"pinned": "out_of_range"}),
]


@pytest.mark.any_database
@pytest.mark.parametrize(("rule", "expected"), REFUSED_RULES)
def test_what_is_wrong_with_a_rule_is_told_by_field(
    owner: Caller, rule: dict[str, Any], expected: dict[str, str]
) -> None:
    assert refused_fields(make(owner, **rule)) == expected
    told = make(owner, note="good").json()
    assert refused_fields(replace(owner, told["href"], rule)) == expected
    assert Policy.objects.get().note == "good"


def test_the_operators_bounds_are_the_tenants(bounded: Caller, stranger: Caller) -> None:
    answer = make(bounded, max_age=3601)
    assert problem(answer)["fields"][0]["allowed"] == {"maximum": 3600}
    assert [make(bounded, max_age=3600).status_code for _ in range(3)] == [201, 201, 409]
    assert problem(make(bounded))["code"] == "too_many_policies"
    assert make(stranger, max_age=MONTH).status_code == 201
    service.limit_own_rules(bounded.member.tenant, max_own_rules=0, max_own_ttl=0)
    assert problem(make(bounded))["code"] == "too_many_policies"
    service.limit_own_rules(bounded.member.tenant, max_own_rules=9, max_own_ttl=0)
    assert make(bounded, pinned=True).status_code == 201


def test_a_rule_is_bounded_again_when_it_is_changed(owner: Caller) -> None:
    told = make(owner, max_age=7200).json()
    service.limit_own_rules(owner.member.tenant, max_own_rules=0, max_own_ttl=3600)
    assert refused_fields(replace(owner, told["href"], told)) == {"max_age": "out_of_range"}
    assert replace(owner, told["href"], {**told, "max_age": 3600}).status_code == 200


def test_what_the_operator_made_is_seen_and_stays(owner: Caller) -> None:
    tenant = owner.member.tenant
    theirs = save_policy(Policy(tenant=tenant, note="a difficult customer", priority=5, max_age=60))
    save_policy(Policy(tenant=None, note="for all"))
    ours = make(owner).json()
    listed = owner.get("/v1/policies").json()["results"]
    assert [(rule["id"], rule["editable"], rule["note"]) for rule in listed] == [
        (theirs.public_id, False, ""), (ours["id"], True, ""),
    ]  # fmt: skip
    address = f"/v1/policies/{theirs.public_id}"
    for answer in (owner.delete(address), replace(owner, address, {"max_age": 90})):
        assert (answer.status_code, problem(answer)["code"]) == (403, "operators_policy")
    assert Policy.objects.get(id=theirs.id).max_age == 60
    loaded = snapshot.load(tenant.id)
    assert loaded is not None
    assert len(loaded.rules) == 3


def test_the_bounds_are_set_in_the_admin_and_bounded_there(admin_client: Any, owner: Caller) -> None:
    tenant = owner.member.tenant
    page = f"/admin/tenants/tenant/{tenant.id}/change/"
    form = {"name": tenant.name, "slug": tenant.slug}
    admin_client.post(page, {**form, "max_own_rules": "3", "max_own_ttl": "60"})
    told = owner.get("/v1/tenant").json()
    assert told["policies"] == {"maximum": 3, "max_ttl": 60}
    refused = admin_client.post(page, {**form, "max_own_rules": "201", "max_own_ttl": "315360001"})
    assert len(refused.context["errors"]) == 2
    with pytest.raises(service.InvalidRequest):
        service.limit_own_rules(tenant, max_own_rules=201, max_own_ttl=None)
    with pytest.raises(service.InvalidRequest):
        service.limit_own_rules(tenant, max_own_rules=None, max_own_ttl=-1)
