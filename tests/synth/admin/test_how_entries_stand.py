"""The list of entries says which rule applies to each, how old it may become, and how often it was a hit."""

from __future__ import annotations

import re
from datetime import timedelta
from itertools import product
from random import Random

import pytest
from django.utils import timezone

from synth import service, wiring
from synth.models import Entry, Policy
from synth.service import EntryState
from synth.service.catalogue import LONG_AGO
from synth.stored import of_entry
from tests.synth.admin.pages import list_of, page_of, rows_of, words
from tests.synth.admin.rows import CHINESE, ENGLISH, make_entry
from tests.world import World

pytestmark = pytest.mark.django_db


def made(world: World, *, seconds_ago: float, **changes: object) -> Entry:
    at = timezone.now() - timedelta(seconds=seconds_ago)
    return make_entry(world.owner.tenant, f"{ENGLISH} {Entry.objects.count()}", made_at=at, **changes)


@pytest.mark.parametrize(
    ("rule", "age", "pinned", "state"),
    [
        ({"max_age": 100}, 50, False, "fresh"),
        ({"max_age": 100}, 150, False, "expired"),
        ({"max_age": 100, "stale": 100}, 150, False, "stale"),
        ({"max_age": 100}, 150, True, "pinned"),
        ({"pinned": True}, 10_000_000, False, "pinned"),
        ({"never_cache": True}, 50, False, "unused"),
        ({"max_age": 100, "voice": "another"}, 150, False, "fresh"),
    ],
)
def test_by_the_rule_that_applies(admin_client, world: World, rule: dict, age: float, pinned: bool, state: str):
    Policy.objects.create(tenant=world.owner.tenant, note="A rule", **rule)
    entry = made(world, seconds_ago=age, pinned=pinned)
    assert service.standings(list(service.with_characters(Entry.objects.all())))[entry.id].state == state
    assert rows_of(admin_client, "entry", standing=state) == [entry]
    others = [rows_of(admin_client, "entry", standing=other) for other in EntryState if other != state]
    assert others == [[]] * 5
    shown = words(admin_client.get(list_of("entry")).content.decode())
    assert ("A rule" in shown) is ("voice" not in rule)


def test_the_filter_and_the_column_never_differ(world: World):
    """Whatever the rules are: what SQL finds is what is worked out for each row."""
    chance = Random(7)
    for _ in range(25):
        kind = chance.choice([{"max_age": chance.choice([60, 600, 6000])}, {"pinned": True}, {"never_cache": True}])
        extra = {"stale": chance.choice([0, 600, 600])} if "max_age" in kind else {}
        matchers = {
            name: value
            for name, value in {
                "voice": chance.choice(["zf_one", "zf_two"]),
                "engine": chance.choice(["kokoro", "hibari"]),
                "category": chance.choice(["a", "b"]),
                "min_characters": chance.choice([10, 30]),
            }.items()
            if chance.random() < 0.4
        }
        tenant = chance.choice([world.owner.tenant, world.stranger.tenant, None])
        Policy.objects.create(tenant=tenant, priority=chance.randrange(3), **kind, **extra, **matchers)
    for voice, engine, category, age in product(("zf_one", "zf_two"), ("kokoro", "hibari"), ("", "a", "b"), (30, 900)):
        for tenant in (world.owner.tenant, world.stranger.tenant):
            text = "x" * chance.choice([5, 20, 50]) + str(Entry.objects.count())
            at = timezone.now() - timedelta(seconds=age)
            make_entry(
                tenant, text, voice=voice, engine=engine, category=category, made_at=at, pinned=chance.random() < 0.1
            )
    Entry.objects.filter(id=Entry.objects.first().id).update(made_at=LONG_AGO)
    told = service.standings(list(service.with_characters(Entry.objects.all())))
    assert {standing.state for standing in told.values()} == set(EntryState)
    for state in EntryState:
        found = set(service.in_state(Entry.objects.all(), state).values_list("id", flat=True))
        assert found == {entry_id for entry_id, standing in told.items() if standing.state is state}, state


def test_hits_are_those_that_redis_counts(admin_client, world: World, redis_server):
    entry = make_entry(world.owner.tenant, CHINESE)
    cache = wiring.rendition_cache()
    cache.fill(entry.tenant.ref, entry.key, of_entry(entry), None)
    from synth.keys import Kind, redis_key

    wiring.redis().hincrby(redis_key(entry.tenant.ref, Kind.ENTRY, entry.key), "hits", 12_345)
    assert rows_of(admin_client, "entry")[0].standing.hits == 12_345
    redis_server.kill()
    assert rows_of(admin_client, "entry")[0].standing.hits == 0


def test_the_page_of_one_tells_the_same(admin_client, world: World):
    rule = Policy.objects.create(tenant=world.owner.tenant, note="Menus", max_age=7200)
    shown = admin_client.get(page_of(made(world, seconds_ago=3600))).content.decode()
    assert page_of(rule) in shown
    assert re.search(r"1 h( \d+ (s|min))? of 2 h", words(shown))


def test_too_many_rules_ask_for_a_tenant(admin_client, world: World, monkeypatch):
    from synth.service import standing

    monkeypatch.setattr(standing, "MOST_RULES", 1)
    for member in (world.owner, world.stranger):
        Policy.objects.create(tenant=member.tenant, max_age=60)
    entry = made(world, seconds_ago=10)
    page = admin_client.get(list_of("entry"), {"standing": "fresh"})
    assert "choose a tenant as well" in words(page.content.decode())
    of_one = {"standing": "fresh", "tenant__id__exact": str(world.owner.tenant.id)}
    assert rows_of(admin_client, "entry", **of_one) == [entry]


@pytest.mark.parametrize("kind", ["refresh", "pin", "extend", "purge"])
def test_one_is_changed_from_its_page_after_the_question(admin_client, world: World, kind: str):
    entry = made(world, seconds_ago=10)
    address = f"{page_of(entry).removesuffix('change/')}{kind}/"
    assert address.partition("/admin/")[2] in admin_client.get(page_of(entry)).content.decode()
    page = admin_client.get(address)
    assert page.context["count"] == 1
    assert Entry.objects.get() == entry  # asking changes nothing
    assert f"{kind}: 1 entry" in words(page.content.decode())


def test_category_is_searched_for(admin_client, world: World):
    menu = made(world, seconds_ago=1, category="menus")
    made(world, seconds_ago=1)
    assert rows_of(admin_client, "entry", category__icontains="menu") == [menu]
