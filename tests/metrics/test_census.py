"""What `/metrics` asks of the database and Redis: the queue, engine time, savings, sizes, the busiest tenants."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import OperationalError, connection
from django.utils import timezone
from prometheus_client import CollectorRegistry, generate_latest

from synth import metrics
from synth.census import Census
from synth.models import CurationAction, Entry, Rendering, Synthesis, WebhookDelivery, WebhookEndpoint, WebhookEvent
from synth.models.states import Priority, State
from tests.metrics.scraping import Samples, labels_of, parse, value
from tests.synth.admin.rows import CHINESE, ENGLISH, make_work, publish_card
from tests.synth.savings.world import measured, request
from tests.synth.topology.test_cluster_client import client, cluster  # noqa: F401 - fixtures
from tests.world import World, world  # noqa: F401 - a fixture

pytestmark = pytest.mark.django_db


@pytest.fixture
def today() -> datetime:
    """Noon: near midnight the days of the test and of the census could differ."""
    return datetime.now(UTC).replace(hour=12, minute=0, second=0)


def count() -> Samples:
    registry = CollectorRegistry()
    registry.register(Census())
    return parse(generate_latest(registry).decode())


def test_the_queue_by_engine_and_class(world: World) -> None:  # noqa: F811
    publish_card()
    work = make_work(world.owner.tenant, CHINESE, state=State.QUEUED)
    make_work(world.owner.tenant, ENGLISH, state=State.QUEUED)
    rewarm = make_work(world.stranger.tenant, ENGLISH, state=State.RUNNING)
    Synthesis.objects.filter(id=rewarm.syntheses[0].id).update(priority=Priority.REWARM)
    Synthesis.objects.filter(id=work.syntheses[0].id).update(created_at=timezone.now() - timedelta(seconds=500))
    Rendering.objects.filter(id=work.rendering.id).update(created_at=timezone.now() - timedelta(seconds=600))
    told = count()
    interactive = {"engine": "kokoro", "class": "interactive"}
    assert value(told, "refrain_queue_depth", **interactive) == 2
    assert 500 <= value(told, "refrain_queue_oldest_seconds", **interactive) < 560
    assert value(told, "refrain_queue_running", **interactive) == 0
    assert value(told, "refrain_queue_running", engine="kokoro", **{"class": "rewarm"}) == 1
    assert value(told, "refrain_queue_depth", engine="kokoro", **{"class": "rewarm"}) == 0
    assert value(told, "refrain_renderings_queued") == 2
    assert 600 <= value(told, "refrain_renderings_oldest_seconds") < 660


def test_an_idle_queue_is_told_as_zero(world: World) -> None:  # noqa: F811
    publish_card()
    told = count()
    assert {labels["class"] for labels in labels_of(told, "refrain_queue_depth")} == {"interactive", "batch", "rewarm"}
    assert value(told, "refrain_queue_depth", engine="kokoro", **{"class": "batch"}) == 0


def test_engine_time_and_real_time_factor(world: World, today: datetime) -> None:  # noqa: F811
    long_ago = today.date() - timedelta(days=90)
    measured(world.owner.tenant, today.date(), runs=3, characters=100, engine_seconds=5.0, audio_seconds=20.0)
    measured(world.stranger.tenant, today.date(), runs=1, characters=100, engine_seconds=7.0, audio_seconds=20.0)
    measured(world.stranger.tenant, long_ago, runs=1, characters=50, engine_seconds=50.0, audio_seconds=1.0)
    told = count()
    assert value(told, "refrain_engine_seconds_total", engine="kokoro") == 62.0
    assert value(told, "refrain_engine_audio_seconds_total", engine="kokoro") == 41.0
    assert value(told, "refrain_engine_characters_total", engine="kokoro") == 250
    assert value(told, "refrain_engine_sentences_total", engine="kokoro") == 5
    assert value(told, "refrain_engine_real_time_factor", engine="kokoro") == pytest.approx(0.3)
    assert value(told, "refrain_engine_seconds_per_character", engine="kokoro") == pytest.approx(0.06)


def test_engine_time_saved_grows_with_the_characters_of_hits(world: World, today: datetime) -> None:  # noqa: F811
    measured(world.owner.tenant, today.date(), "saver", runs=1, characters=100, engine_seconds=5.0)
    registry = CollectorRegistry()
    registry.register(Census())
    metrics.hit(metrics.Tier.L2, engine="saver", characters=40, seconds=0.001)
    told = parse(generate_latest(registry).decode())
    assert value(told, "refrain_engine_seconds_saved_total", engine="saver") == pytest.approx(2.0)


def test_sizes_by_tier(world: World) -> None:  # noqa: F811
    work = make_work(world.owner.tenant, CHINESE)
    size = sum(Entry.objects.filter(kind=Entry.Kind.SEGMENT).values_list("size", flat=True))
    told = count()
    assert work.job.state == State.SUCCEEDED
    assert value(told, "refrain_l3_bytes", kind="segment") == size > 0
    assert value(told, "refrain_l3_entries", kind="segment") == 1
    assert value(told, "refrain_l3_entries", kind="rendition") == 0
    assert value(told, "refrain_l2_bytes") > 100_000
    assert ("refrain_redis_evicted_keys_total", frozenset()) in told
    assert ("refrain_l1_bytes", frozenset()) in told


def test_the_masters_of_a_cluster_are_one_redis(world: World, client, cluster) -> None:  # noqa: F811
    sizes = [node.client().info("memory")["used_memory"] for node in cluster.nodes]
    told = count()
    assert value(told, "refrain_census_ok", part="redis") == 1
    assert value(told, "refrain_l2_bytes") > 0.8 * sum(sizes) > 1.5 * max(sizes)


def test_no_tenant_has_a_label_unless_so_many_are_wanted(world: World, today: datetime, settings) -> None:  # noqa: F811
    for member, times in ((world.owner, 3), (world.stranger, 2), (world.suspended, 1)):
        for _ in range(times):
            request(member.tenant, today, 10)
    request(world.owner.tenant, today, 10, outcome="miss")
    request(world.owner.tenant, today - timedelta(days=1), 10)
    assert labels_of(count(), "refrain_tenant_requests_today") == []
    settings.REFRAIN = {**settings.REFRAIN, "METRICS_TENANTS": 1}
    told = count()
    name = "refrain_tenant_requests_today"
    assert {labels["tenant"] for labels in labels_of(told, name)} == {"owner", "other"}
    assert value(told, name, tenant="owner", outcome="hit") == 3
    assert value(told, name, tenant="owner", outcome="miss") == 1
    assert value(told, name, tenant="other", outcome="hit") == 3


@pytest.mark.django_db(transaction=True)
def test_a_database_that_is_away_leaves_the_rest_standing() -> None:
    def fail(*_: object) -> None:
        raise OperationalError("database away")

    with connection.execute_wrapper(fail):
        told = count()
    assert value(told, "refrain_census_ok", part="queue") == 0
    assert value(told, "refrain_census_ok", part="redis") == 1
    assert value(told, "refrain_l2_bytes") > 0


def test_it_asks_again_only_after_a_while(world: World, django_assert_num_queries) -> None:  # noqa: F811
    publish_card()
    registry = CollectorRegistry()
    registry.register(Census())
    generate_latest(registry)
    with django_assert_num_queries(0):
        generate_latest(registry)


def test_webhooks_that_are_due_and_how_endpoints_are(world: World) -> None:  # noqa: F811
    tenant, now = world.owner.tenant, timezone.now()
    endpoints = {
        name: WebhookEndpoint.objects.create(tenant=tenant, url=f"https://{name}.example.com/", **columns)
        for name, columns in (
            ("well", {}),
            ("failing", {"failing_since": now}),
            ("gone", {"status": "disabled", "disabled_reason": "gone"}),
            ("by_hand", {"status": "disabled", "disabled_reason": "by_hand"}),
        )
    }
    due = {"well": now - timedelta(seconds=100), "failing": now - timedelta(seconds=900)}
    for name, not_before in due.items():
        event = WebhookEvent.objects.create(tenant=tenant, type="voice.ready", subject=name, routed=True)
        WebhookDelivery.objects.create(
            tenant=tenant, event=event, endpoint=endpoints[name], url="u", subject=name, not_before=not_before
        )
    WebhookEvent.objects.create(tenant=tenant, type="voice.ready", subject="new")
    told = count()
    assert value(told, "refrain_webhooks_due") == 2
    assert 100 <= value(told, "refrain_webhooks_oldest_seconds") < 160
    states = {state: value(told, "refrain_webhook_endpoints", state=state) for state in ("well", "failing", "given_up")}
    assert states == {"well": 1, "failing": 1, "given_up": 1}


def test_batches_that_are_open_and_what_is_left_of_them(world: World) -> None:  # noqa: F811
    now = timezone.now()
    counts = {"matched": 10, "refused": 1, "done": 3, "cached": 2, "failed": 1}
    for kind, state, age in (
        ("batch", "running", 200),
        ("batch", "queued", 100),
        ("batch", "succeeded", 900),
        ("batch", "waiting", 900),  # it is being stored
        ("warm", "running", 900),
    ):
        columns = {"kind": kind, "state": state, "tenant": world.owner.tenant, **counts}
        action = CurationAction.objects.create(**columns)
        CurationAction.objects.filter(id=action.id).update(created_at=now - timedelta(seconds=age))
    told = count()
    assert value(told, "refrain_batches_open") == 2
    assert value(told, "refrain_batches_items_left") == 6
    assert 200 <= value(told, "refrain_batches_oldest_seconds") < 260
