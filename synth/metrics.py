"""What one process counts, for Prometheus. The doors, the service and the parts call the functions here.

Nothing here asks for a label on the way of a hit: its children are made once, and kept.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from time import perf_counter

from prometheus_client import Counter, Gauge, Histogram, disable_created_metrics

disable_created_metrics()  # type: ignore[no-untyped-call]  # twice the series, for the time of a restart

HIT_BUCKETS = (0.0005, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0)
MISS_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.5, 5.0, 10.0, 20.0, 40.0, 60.0)
REDIS_BUCKETS = (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)
WEBHOOK_BUCKETS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0)
RUN_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0)


class Outcome(StrEnum):
    """How a speech request ended. PENDING is a 202; REFUSED is the caller's fault, FAILED is ours or the work's."""

    HIT = "hit"
    MISS = "miss"
    PENDING = "pending"
    REFUSED = "refused"
    FAILED = "failed"


class Tier(StrEnum):
    """Where the sound of a hit came from."""

    L1 = "l1"
    L2 = "l2"
    L3 = "l3"
    NONE = "none"


class MissReason(StrEnum):
    """Why a request was no hit."""

    FIRST_SEEN = "first_seen"
    EXPIRED = "expired"
    EVICTED = "evicted"
    PURGED = "purged"
    REFRESHED = "refreshed"
    MODEL_CHANGED = "model_changed"
    NEAR_MISS = "near_miss"
    BYPASSED = "bypassed"
    DEGRADED = "degraded"
    UNKNOWN = "unknown"


class Join(StrEnum):
    """What a request followed in place of asking the engine: an equal request of its process, or an open row."""

    PROCESS = "process"
    RENDERING = "rendering"


class Repetition(StrEnum):
    """What a request with an `Idempotency-Key` was: carried out, or resumed where its process had died; answered as
    before; or refused, as the first one still ran or the key stood for another one.
    """

    FIRST = "first"
    RESUMED = "resumed"
    REPLAYED = "replayed"
    IN_PROGRESS = "in_progress"
    REUSED = "reused"


class RunEnd(StrEnum):
    """How a run of an engine ended. REFUSED is a sound that did not pass the check; LATE one whose claim was lost."""

    KEPT = "kept"
    REFUSED = "refused"
    FAILED = "failed"
    LATE = "late"


class SendingEnd(StrEnum):
    """How a try of a webhook delivery ended. GIVEN_UP is a failure that was the last one."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    GIVEN_UP = "given_up"


REQUESTS = Counter(
    "refrain_requests", "Speech requests, by how they ended and where a hit came from.", ["outcome", "tier"]
)
LIMITED = Counter(
    "refrain_requests_limited", "Speech requests that a limit of their tenant or key refused.", ["reason"]
)
HIT_SECONDS = Histogram("refrain_hit_seconds", "Time in which a hit was answered.", buckets=HIT_BUCKETS)
MISS_SECONDS = Histogram(
    "refrain_miss_seconds", "Time in which a miss was answered with its sound.", buckets=MISS_BUCKETS
)
HIT_CHARACTERS = Counter("refrain_hit_characters", "Characters of the texts of hits.", ["engine"])
JOINS = Counter("refrain_single_flight_joins", "Requests that joined work which was under way.", ["where"])
IDEMPOTENT_REQUESTS = Counter(
    "refrain_idempotent_requests", "Requests with an Idempotency-Key, by what became of them.", ["outcome"]
)
SEGMENTS_REUSED = Counter("refrain_segments_reused", "Sentences of misses that no engine had to speak.")
SEGMENTS_NEEDED = Counter("refrain_segments_needed", "Sentences of misses that an engine has to speak.")
REDIS_SECONDS = Histogram("refrain_redis_seconds", "Round trips of the cache to Redis.", buckets=REDIS_BUCKETS)
REDIS_ERRORS = Counter("refrain_redis_errors", "Round trips of the cache that failed.")
BREAKER_OPEN = Gauge("refrain_breaker_open", "1 while a part counts as away.", ["part"])
BREAKER_OPENED = Counter("refrain_breaker_opened", "How often a part went away.", ["part"])
RUNS = Counter("refrain_engine_runs", "Runs of an engine in this worker.", ["engine", "outcome"])
RUN_SECONDS = Histogram(
    "refrain_engine_run_seconds", "Time that one run of an engine took in this worker.", ["engine"], buckets=RUN_BUCKETS
)
WEBHOOK_TRIES = Counter("refrain_webhook_tries", "Webhook requests that this worker sent.", ["outcome"])
WEBHOOK_SECONDS = Histogram(
    "refrain_webhook_seconds", "Time in which receivers of webhooks answered.", buckets=WEBHOOK_BUCKETS
)
WEBHOOK_ENDPOINTS_DISABLED = Counter(
    "refrain_webhook_endpoints_disabled", "Webhook endpoints that this worker disabled.", ["reason"]
)

_requests: dict[tuple[Outcome, Tier], Callable[[], None]] = {
    (outcome, tier): REQUESTS.labels(outcome, tier).inc
    for outcome in Outcome
    for tier in Tier
    if (tier is Tier.NONE) is not (outcome is Outcome.HIT)
}
_joins: dict[Join, Callable[[], None]] = {where: JOINS.labels(where).inc for where in Join}
_hit_characters: dict[str, Callable[[float], None]] = {}


def hit(tier: Tier, *, engine: str, characters: int, seconds: float) -> None:
    """A request was answered from the cache."""
    _requests[Outcome.HIT, tier]()
    HIT_SECONDS.observe(seconds)
    count = _hit_characters.get(engine)
    if count is None:  # engines are few: they are those that published a card
        count = _hit_characters.setdefault(engine, HIT_CHARACTERS.labels(engine).inc)
    count(characters)


def hit_characters() -> dict[str, float]:
    """What was counted so far, by engine."""
    samples = [sample for metric in HIT_CHARACTERS.collect() for sample in metric.samples]
    return {sample.labels["engine"]: sample.value for sample in samples}


def made(*, seconds: float) -> None:
    """A request waited for its sound and got it."""
    _requests[Outcome.MISS, Tier.NONE]()
    MISS_SECONDS.observe(seconds)


def ended(outcome: Outcome) -> None:
    """A request ended without a sound."""
    _requests[outcome, Tier.NONE]()


def limited(reason: str) -> None:
    """A limit refused a request; `reason` is the code of the refusal."""
    LIMITED.labels(reason).inc()


def joined(where: Join) -> None:
    _joins[where]()


def repetition(outcome: Repetition) -> None:
    """A request with an `Idempotency-Key` came."""
    IDEMPOTENT_REQUESTS.labels(outcome).inc()


def planned(*, spoken: int, reused: int) -> None:
    """A miss needs so many sentences of an engine, and takes so many from storage."""
    SEGMENTS_NEEDED.inc(spoken)
    SEGMENTS_REUSED.inc(reused)


def breaker(part: str, *, is_open: bool) -> None:
    """A circuit breaker changed its state."""
    BREAKER_OPEN.labels(part).set(int(is_open))
    if is_open:
        BREAKER_OPENED.labels(part).inc()


def engine_run(engine: str, end: RunEnd, *, seconds: float | None = None) -> None:
    """A run of an engine is over; `seconds` is what the engine itself took, where that is known."""
    RUNS.labels(engine, end).inc()
    if seconds is not None:
        RUN_SECONDS.labels(engine).observe(seconds)


def webhook_try(end: SendingEnd, *, seconds: float) -> None:
    WEBHOOK_TRIES.labels(end).inc()
    WEBHOOK_SECONDS.observe(seconds)


def webhook_endpoint_disabled(reason: str) -> None:
    """Not by hand: its receiver is gone, or has failed for days."""
    WEBHOOK_ENDPOINTS_DISABLED.labels(reason).inc()


@contextmanager
def redis_round_trip() -> Iterator[None]:
    """Around one round trip; what fails counts as an error, and as no time."""
    started = perf_counter()
    try:
        yield
    except BaseException:
        REDIS_ERRORS.inc()
        raise
    REDIS_SECONDS.observe(perf_counter() - started)
