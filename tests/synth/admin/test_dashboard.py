"""The first page tells today and thirty days, warns with what to do, and leads to the rows behind each figure."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse
from django.utils import timezone

from synth import dashboard, observed
from synth.models import FailureDay, LatencyDay, MissDay, MissParameter, PhraseDay, Sample, WebhookEndpoint
from tenants.ids import new_id
from tenants.models import Tenant, UsageDay
from tests.synth.admin.pages import list_of, words
from tests.synth.admin.rows import CHINESE, make_entry, publish_card
from tests.synth.savings.world import measured
from tests.world import World

pytestmark = pytest.mark.django_db
INDEX = "admin:index"


def today() -> date:
    return datetime.now(UTC).date()


def used(tenant: Tenant, requests: int, *, outcome: str = "hit", days_ago: int = 0, state: str = "succeeded") -> None:
    UsageDay.objects.create(
        tenant=tenant,
        day=today() - timedelta(days=days_ago),
        api_key_id=new_id(),
        engine="kokoro",
        voice="zf_one",
        outcome=outcome,
        state=state,
        requests=requests,
        characters=10 * requests,
    )


def took(seconds: float, answers: int, what: str = "hit") -> None:
    LatencyDay.objects.create(day=today(), what=what, bound=seconds, answers=answers)


def index(browser) -> str:
    answer = browser.get(reverse(INDEX))
    assert answer.status_code == 200
    return answer.content.decode()


def chart(page, title: str) -> dict[str, object]:
    [found] = [item for item in page.context["dashboard"]["charts"] if item.title == title]
    return json.loads(found.data)


def test_requests_and_hit_rate_of_today_and_of_thirty_days(admin_client, world: World):
    used(world.owner.tenant, 700)
    used(world.owner.tenant, 300, outcome="miss")
    used(world.stranger.tenant, 50, outcome="bypass")
    used(world.owner.tenant, 9_000, days_ago=29)
    used(world.owner.tenant, 77_777, days_ago=30)
    page = words(index(admin_client))
    assert "Requests 1,050 30 days: 10,050" in page
    assert "Hit rate 70.0 % 30 days: 97.0 %" in page  # what went past the cache is no miss of it
    assert "77,777" not in page


def test_what_engines_spoke_of_themselves_is_no_request(admin_client, world: World):
    used(world.owner.tenant, 5)
    used(world.owner.tenant, 400, outcome="spoken")
    assert "Requests 5 30 days: 5" in words(index(admin_client))


def test_charts_have_every_day_and_lead_to_their_rows(admin_client, world: World):
    used(world.owner.tenant, 3, days_ago=1)
    used(world.owner.tenant, 2, outcome="miss")
    MissDay.objects.create(tenant=world.owner.tenant, day=today(), expired=4, near_miss=1)
    FailureDay.objects.create(tenant=world.owner.tenant, day=today(), engine="kokoro", code="engine_error", failures=6)
    page = admin_client.get(reverse(INDEX))
    requests = chart(page, "Requests")
    assert len(requests["labels"]) == 30
    assert [series["data"][-2:] for series in requests["datasets"]] == [[3, 0], [0, 2]]
    assert [series["label"] for series in chart(page, "Misses, by reason")["datasets"]] == ["expired", "near miss"]
    assert chart(page, "Failures, by code")["datasets"][0]["data"][-1] == 6
    for item in page.context["dashboard"]["charts"]:
        assert admin_client.get(item.rows).status_code == 200, item.title


def test_every_card_and_table_leads_to_rows(admin_client, world: World):
    publish_card()
    used(world.owner.tenant, 3)
    shown = admin_client.get(reverse(INDEX)).context["dashboard"]
    for item in [*shown["cards"], *shown["tables"]]:
        assert admin_client.get(item.address).status_code == 200, item.title


def test_latency_by_quantiles(admin_client, world: World):
    took(0.001, 90)
    took(0.05, 10)
    found = dashboard.figures(today(), today()).latency_of("hit")
    assert found.quantile(0.5) == pytest.approx(0.0005 + 0.0005 * 50 / 90)
    assert 0.02 < found.quantile(0.95) < 0.05
    assert "A hit takes 0.8 ms · 35.0 ms" in words(index(admin_client))


def test_top_phrases_and_tenants(admin_client, world: World):
    entry = make_entry(world.owner.tenant, CHINESE)
    PhraseDay.objects.create(tenant=world.owner.tenant, day=today(), key=entry.key, answers=41)
    PhraseDay.objects.create(tenant=world.owner.tenant, day=today() - timedelta(days=3), key=entry.key, answers=1)
    used(world.stranger.tenant, 12)
    page = index(admin_client)
    assert f"{CHINESE} {world.owner.tenant.name} 42" in words(page)
    assert reverse("admin:synth_entry_change", args=[entry.pk]) in page
    assert f"{world.stranger.tenant.name} 12 100.0 %" in words(page)


def test_savings_are_those_of_the_days_of_usage(admin_client, world: World, settings):
    settings.REFRAIN = {**settings.REFRAIN, "GPU_PRICE_PER_HOUR": {"": 1.8}, "CURRENCY": "EUR"}
    measured(world.owner.tenant, today(), runs=10, characters=400, engine_seconds=20.0)
    used(world.owner.tenant, 10_000)  # 100,000 characters at 0.05 s
    page = words(index(admin_client))
    assert "Engine time saved 83.3 min" in page
    assert "Money saved 2.50 EUR" in page
    assert "Energy saved" not in page


# --- Warnings -------------------------------------------------------------------------------------------------------


def warnings(browser) -> list[str]:
    return [item.title for item in browser.get(reverse(INDEX)).context["dashboard"]["warnings"]]


def test_calm_is_told_as_calm(admin_client, world: World):
    used(world.owner.tenant, 900)
    assert warnings(admin_client) == []


@pytest.mark.parametrize(("hits", "misses", "warned"), [(50, 149, False), (119, 81, True), (120, 80, False)])
def test_a_low_hit_rate_with_enough_traffic(admin_client, world: World, hits: int, misses: int, warned: bool):
    used(world.owner.tenant, hits)
    used(world.owner.tenant, misses, outcome="miss")
    assert bool(warnings(admin_client)) is warned


def sampled(minutes_ago: float, **values: object) -> None:
    Sample.objects.create(at=timezone.now() - timedelta(minutes=minutes_ago), values={"queues": {}, **values})


def redis_of(used: int, most: int = 1000, round_trip: float = 0.001) -> dashboard.state.RedisState:
    from synth.dashboard.state import RedisState

    return RedisState(used=used, most=most, evicted=0, round_trip=round_trip)


def series(*used: int, round_trip: float = 0.001) -> list[tuple[datetime, dict[str, object]]]:
    now = timezone.now()
    return [
        (now - timedelta(minutes=len(used) - number), {"redis": {"used": value, "round_trip": round_trip}})
        for number, value in enumerate(used)
    ]


@pytest.mark.parametrize(
    ("now", "before", "warned"),
    [
        (960, (960,) * 20, True),  # full
        (850, (850,) * 20, False),  # much, and no more of it
        (850, tuple(range(750, 850, 5)), True),  # full within the hour
        (500, tuple(range(400, 500, 5)), False),  # grows, with room for long
    ],
)
def test_the_trend_of_memory(now: int, before: tuple[int, ...], warned: bool):
    from synth.dashboard.alarms import redis_alarms

    assert bool(list(redis_alarms(redis_of(now), series(*before)))) is warned


def test_a_slow_redis_and_one_that_is_away():
    from synth.dashboard.alarms import redis_alarms

    slow, well = redis_of(1, round_trip=0.05), series(*(1,) * 20)
    assert [found.condition for found in redis_alarms(slow, series(*(1,) * 20, round_trip=0.04))] == ["redis_slow"]
    assert list(redis_alarms(redis_of(1, round_trip=0.02), well)) == []  # one slow answer
    assert [found.condition for found in redis_alarms(None, [])] == ["redis_away"]


def test_a_queue_that_grows():
    from synth.dashboard.alarms import queue_alarms
    from synth.dashboard.state import EngineQueue, State

    def told(waiting: int, before: int) -> list[str]:
        now = timezone.now()
        past = [
            (now - timedelta(minutes=ago), {"queues": {"kokoro": {"waiting": before}}}) for ago in range(30, -1, -1)
        ]
        queues = {"kokoro": EngineQueue(waiting=waiting, oldest=600.0)}
        seen = State(queues=queues, renditions=EngineQueue(), redis=None, webhooks={})
        return [str(found.condition) for found in queue_alarms(seen, past)]

    assert told(40, 10) == ["queue"]
    assert told(40, 40) == []  # long, and no longer than before
    assert told(15, 1) == []  # short


def test_a_tenant_with_near_misses_and_what_they_differ_in(admin_client, world: World):
    MissDay.objects.create(tenant=world.owner.tenant, day=today(), near_miss=60, first_seen=40)
    MissDay.objects.create(tenant=world.stranger.tenant, day=today(), near_miss=49)
    MissParameter.objects.create(tenant=world.owner.tenant, day=today(), parameter="seed", misses=60)
    [found] = admin_client.get(reverse(INDEX)).context["dashboard"]["warnings"]
    assert world.owner.tenant.name in found.title
    assert "60 %" in found.title
    assert "seed" in found.advice
    assert admin_client.get(found.address).status_code == 200


def test_dead_endpoints(admin_client, world: World):
    WebhookEndpoint.objects.create(
        tenant=world.owner.tenant, url="https://example.com/", status="disabled", disabled_reason="gone", secrets=[]
    )
    [found] = admin_client.get(reverse(INDEX)).context["dashboard"]["warnings"]
    assert "1 were given up" in found.title
    assert list_of("webhookendpoint") in found.address


# --- Who, and how ---------------------------------------------------------------------------------------------------


def test_who_may_not_see_usage_sees_no_dashboard(client, world: World):
    used(world.owner.tenant, 31_415)
    staff = User.objects.create_user("staff", password="staff-password", is_staff=True)
    client.force_login(staff)
    assert "31,415" not in index(client)
    staff.user_permissions.add(Permission.objects.get(codename="view_usageday"))
    client.force_login(User.objects.get(id=staff.id))
    page = client.get(reverse(INDEX))
    assert "31,415" in words(page.content.decode())
    assert {card.model for card in page.context["dashboard"]["cards"]} == {"tenants_usageday"}


def test_it_reads_no_table_of_requests_or_entries(admin_client, world: World, django_assert_max_num_queries):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    used(world.owner.tenant, 5)
    with CaptureQueriesContext(connection) as captured:
        index(admin_client)
    said = [query["sql"] for query in captured]
    assert not [sql for sql in said if '"tenants_usage"' in sql or 'COUNT(*) AS "__count" FROM "synth_entry"' in sql]
    assert len(said) < 40


def test_with_redis_away_it_opens_and_says_so(admin_client, world: World, redis_server):
    redis_server.kill()
    assert "Redis does not answer." in warnings(admin_client)


def test_of_one_tenant_it_tells_its_own_alone(world: World):
    used(world.owner.tenant, 5)
    used(world.stranger.tenant, 70)
    from synth.admin.dashboard import page

    shown = page(lambda _model: True, tenant=world.owner.tenant.ref)
    assert shown["cards"][0].today == "5"
    assert {"synth_sample", "synth_synthesis", "synth_latencyday"}.isdisjoint(
        item.model for item in [*shown["cards"], *shown["charts"], *shown["tables"]]
    )
    assert not [table for table in shown["tables"] if str(table.title).startswith("Tenants")]


def test_observations_are_forgotten_in_time(world: World):
    yesterday = today() - timedelta(days=1)
    for number in range(observed.MOST_KEPT + 5):
        PhraseDay.objects.create(tenant=world.owner.tenant, day=yesterday, key=f"{number:064}", answers=number)
    sampled(60 * 24 * 8)
    sampled(1)
    observed.forget_old()
    kept = PhraseDay.objects.values_list("answers", flat=True)
    assert (len(kept), min(kept)) == (observed.MOST_KEPT, 5)
    assert Sample.objects.count() == 1
