"""Numbers that no process counts by itself: asked of the database and Redis when Prometheus looks at an API process.

Each part is asked at most every few seconds, however often Prometheus looks, and one that does not answer leaves the
others standing.
"""

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.db import DatabaseError, InterfaceError
from django.db.models import Count, F, Min, Sum
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from redis import RedisCluster, RedisError

from synth import engine_time, hits, metrics, wiring
from synth.conf import conf
from synth.engine_time import Use
from synth.models import (
    CurationAction,
    EngineCardRow,
    Entry,
    MissDay,
    Rendering,
    Synthesis,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEvent,
)
from synth.models.clock import database_now
from synth.models.states import OPEN, Priority, State

logger = logging.getLogger(__name__)

LONG_AGO = date(1970, 1, 1)
CLASSES = {Priority.INTERACTIVE: "interactive", Priority.BATCH: "batch", Priority.REWARM: "rewarm"}
# Values by their labels: tuples of as many strings as the family has names.
Labelled = Mapping[Any, float]


class Part:
    """One question, asked at most every `every` seconds; what it answered counts as long."""

    def __init__(self, name: str, ask: Callable[[], Iterable[Metric]], *, every: float) -> None:
        self.name = name
        self.well = True
        self._ask = ask
        self._every = every
        self._asked_at = -every
        self._answer: list[Metric] = []

    def answer(self) -> list[Metric]:
        if time.monotonic() - self._asked_at >= self._every:
            self._asked_at = time.monotonic()
            self._answer, self.well = [], False
            try:
                self._answer, self.well = list(self._ask()), True
            except (DatabaseError, InterfaceError, RedisError, OSError) as error:
                logger.warning("no metrics of the %s: %s", self.name, error)
        return self._answer


class Census(Collector):
    """One per API process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._parts = (
            Part("queue", queue, every=5.0),
            Part("redis", redis, every=5.0),
            Part("webhooks", webhooks, every=5.0),
            Part("batches", batches, every=5.0),
            Part("savings", Saving().told, every=5.0),
            Part("misses", misses, every=30.0),
            Part("engines", engines, every=30.0),
            Part("tenants", tenants, every=60.0),
            Part("catalogue", catalogue, every=300.0),
        )

    def describe(self) -> Iterable[Metric]:
        """Nothing: what is registered before the database is there must not ask it."""
        return []

    def collect(self) -> Iterator[Metric]:
        with self._lock:
            found = [metric for part in self._parts for metric in part.answer()]
            well = {(part.name,): float(part.well) for part in self._parts}
        yield from found
        yield gauge("refrain_census_ok", "0 for a part that did not answer; its numbers are missing.", well, "part")
        yield gauge("refrain_l1_bytes", "Audio in the memory of this process.", {(): wiring.local_cache().size})


class Saving:
    """Engine seconds that the hits of this process saved: what was said since the last look, at the rate of today."""

    def __init__(self) -> None:
        self._seen: dict[str, float] = defaultdict(float)
        self._saved: dict[str, float] = defaultdict(float)

    def told(self) -> Iterator[Metric]:
        said = metrics.hit_characters()
        for engine, rate in _rates(said).items():
            self._saved[engine] += (said[engine] - self._seen[engine]) * (rate or 0.0)
            self._seen[engine] = said[engine]
        saved = {(engine,): seconds for engine, seconds in self._saved.items()}
        yield counter("refrain_engine_seconds_saved", "Engine time that hits of this process saved.", saved, "engine")


def queue() -> Iterator[Metric]:
    now = database_now()
    rows = Synthesis.objects.filter(state__in=[State.QUEUED, State.RUNNING]).order_by()
    found = rows.values_list("engine", "priority", "state").annotate(Count("id"), Min("created_at"))
    depth: dict[tuple[str, ...], float] = {(name, kind): 0 for name in _engine_names() for kind in CLASSES.values()}
    running, oldest = dict(depth), dict(depth)
    for engine, priority, state, count, since in found:
        where = engine, CLASSES.get(priority, "other")
        (depth if state == State.QUEUED else running)[where] = count
        if state == State.QUEUED:
            oldest[where] = max(0.0, (now - since).total_seconds())
    yield gauge("refrain_queue_depth", "Sentences that wait for an engine.", depth, "engine", "class")
    yield gauge("refrain_queue_running", "Sentences that an engine has in hand.", running, "engine", "class")
    yield gauge("refrain_queue_oldest_seconds", "How long the oldest one has waited.", oldest, "engine", "class")
    waiting = Rendering.objects.filter(state=State.QUEUED).aggregate(count=Count("id"), since=Min("created_at"))
    age = (now - waiting["since"]).total_seconds() if waiting["since"] else 0.0
    yield gauge("refrain_renderings_queued", "Renditions that wait to be joined and encoded.", {(): waiting["count"]})
    yield gauge("refrain_renderings_oldest_seconds", "How long ago the oldest was asked for.", {(): max(0.0, age)})


def webhooks() -> Iterator[Metric]:
    """What waits for endpoints that fail waits for them, and says nothing of how Refrain is."""
    now = database_now()
    well = WebhookDelivery.objects.filter(state__in=OPEN, not_before__lte=now, endpoint__failing_since=None)
    due = well.aggregate(count=Count("id"), since=Min("not_before"))
    new = WebhookEvent.objects.filter(routed=False).aggregate(count=Count("id"), since=Min("created_at"))
    oldest = min((found["since"] for found in (due, new) if found["since"]), default=now)
    count = due["count"] + new["count"]
    yield gauge("refrain_webhooks_due", "Webhooks that are due, to endpoints that do not fail.", {(): count})
    age = max(0.0, (now - oldest).total_seconds())
    yield gauge("refrain_webhooks_oldest_seconds", "For how long the oldest of them has been due.", {(): age})
    yield gauge("refrain_webhook_endpoints", "Webhook endpoints, by how they are.", _endpoints(), "state")


def _endpoints() -> Labelled:
    rows = WebhookEndpoint.objects
    enabled = rows.filter(status=WebhookEndpoint.Status.ENABLED)
    failing = enabled.filter(failing_since__isnull=False).count()
    disabled = rows.filter(disabled_reason__in=(WebhookEndpoint.Reason.GONE, WebhookEndpoint.Reason.FAILING))
    return {("well",): enabled.count() - failing, ("failing",): failing, ("given_up",): disabled.count()}


def batches() -> Iterator[Metric]:
    """Of all tenants; their sentences are counted in the queue."""
    now, left = database_now(), F("matched") - F("refused") - F("done") - F("cached") - F("failed")
    rows = CurationAction.objects.filter(kind=CurationAction.Kind.BATCH, state__in=(State.QUEUED, State.RUNNING))
    found = rows.aggregate(count=Count("id"), since=Min("created_at"), left=Sum(left))
    age = (now - (found["since"] or now)).total_seconds()
    yield gauge("refrain_batches_open", "Batches that have not ended.", {(): found["count"]})
    yield gauge("refrain_batches_oldest_seconds", "How long ago the oldest of them was sent.", {(): max(0.0, age)})
    yield gauge("refrain_batches_items_left", "Their items that have not ended.", {(): max(0, found["left"] or 0)})


def misses() -> Iterator[Metric]:
    """As they were judged, some seconds after the requests; ever, and of all tenants."""
    sums = MissDay.objects.aggregate(**{reason: Sum(reason) for reason in metrics.MissReason})
    by_reason = {(reason,): sums[reason] or 0 for reason in metrics.MissReason}
    yield counter("refrain_misses", "Speech requests that the cache did not answer, by reason.", by_reason, "reason")


def redis() -> Iterator[Metric]:
    servers = _servers()
    sums = {name: sum(float(server.get(name, 0)) for server in servers) for name in SERVER_NUMBERS}
    yield gauge("refrain_l2_bytes", "Memory that Redis uses.", {(): sums["used_memory"]})
    yield gauge("refrain_l2_max_bytes", "Memory that Redis may use; 0: all.", {(): sums["maxmemory"]})
    yield counter(
        "refrain_redis_evicted_keys", "Keys that Redis evicted for want of memory.", {(): sums["evicted_keys"]}
    )
    yield counter("refrain_redis_expired_keys", "Keys whose time was over.", {(): sums["expired_keys"]})


SERVER_NUMBERS = ("used_memory", "maxmemory", "evicted_keys", "expired_keys")


def _servers() -> list[Mapping[str, Any]]:
    """What the server tells of itself, or each master of a cluster."""
    client: Any = wiring.redis_unless_away()
    if isinstance(client, RedisCluster):
        return list(client.info(target_nodes=RedisCluster.PRIMARIES).values())
    return [client.info()]


def engines() -> Iterator[Metric]:
    ever, week = engine_time.totals(LONG_AGO), engine_time.totals(_today() - timedelta(days=6))
    for name, help_text, of in (
        ("refrain_engine_seconds", "Engine time of runs whose sound was kept.", lambda use: use.engine_seconds),
        ("refrain_engine_audio_seconds", "Sound that these runs gave.", lambda use: use.audio_seconds),
        ("refrain_engine_characters", "Characters that these runs spoke.", lambda use: float(use.characters)),
        ("refrain_engine_sentences", "Runs whose sound was kept.", lambda use: float(use.runs)),
    ):
        yield counter(name, help_text, _by_engine(ever, of), "engine")
    real_time = _by_engine(week, lambda use: use.engine_seconds / use.audio_seconds if use.audio_seconds else 0.0)
    yield gauge(
        "refrain_engine_real_time_factor", "Engine time per time of sound, over seven days.", real_time, "engine"
    )
    rates = {(engine,): rate for engine, rate in _rates(ever).items() if rate is not None}
    help_text = "What a character takes, as savings reckon with."
    yield gauge("refrain_engine_seconds_per_character", help_text, rates, "engine")


def _by_engine(uses: Mapping[str, Use], of: Callable[[Use], float]) -> Labelled:
    return {(engine,): of(use) for engine, use in uses.items()}


def tenants() -> Iterator[Metric]:
    """Of the tenants with the most requests of the day; all others are one."""
    limit = conf().metrics_tenants
    if not limit:
        return
    counted = hits.requests_by_tenant(_today())
    busiest = sorted(counted, key=lambda slug: -sum(counted[slug].values()))[:limit]
    told: dict[tuple[str, ...], float] = defaultdict(float)
    for slug, outcomes in counted.items():
        for outcome, count in outcomes.items():
            told[slug if slug in busiest else "other", outcome] += count
    yield gauge("refrain_tenant_requests_today", "Requests since midnight UTC.", told, "tenant", "outcome")


def catalogue() -> Iterator[Metric]:
    kinds = Entry.objects.order_by().values_list("kind").annotate(Sum("size"), Count("id"))
    sizes, counts = ({(kind,): 0.0 for kind in Entry.Kind.values} for _ in range(2))
    for kind, size, count in kinds:
        sizes[kind,], counts[kind,] = size, count
    yield gauge("refrain_l3_bytes", "Audio that the catalogue lists, by kind.", sizes, "kind")
    yield gauge("refrain_l3_entries", "Entries of the catalogue, by kind.", counts, "kind")


def _rates(names: Iterable[str]) -> dict[str, float | None]:
    rates = engine_time.rates(names, first=_today(), last=_today())
    return {engine: rates.of(engine, _today()) for engine in names}


def _engine_names() -> list[str]:
    return list(EngineCardRow.objects.order_by().values_list("name", flat=True).distinct())


def _today() -> date:
    return datetime.now(UTC).date()


def gauge(name: str, text: str, values: Labelled, *labels: str) -> Metric:
    return _filled(GaugeMetricFamily(name, text, labels=labels), values)


def counter(name: str, text: str, values: Labelled, *labels: str) -> Metric:
    return _filled(CounterMetricFamily(name, text, labels=labels), values)


def _filled(family: Any, values: Labelled) -> Metric:
    for labels, value in values.items():
        family.add_metric(labels, value)
    metric: Metric = family
    return metric
