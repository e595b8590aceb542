"""The one place that builds parts from settings. Tests replace parts here."""

from functools import cache

from django_redis import get_redis_connection
from redis import ConnectionError as RedisConnectionError
from redis import Redis

from synth.breaker import Breaker
from synth.cache.audit_stream import AuditStreams
from synth.cache.handover import Handover
from synth.cache.incarnation import incarnation
from synth.cache.local import LocalCache
from synth.cache.store import RenditionCache
from synth.cache.usage_stream import UsageStreams
from synth.conf import conf, sealing_keys
from synth.engines.base import NO_OPTIONS, Engine, EngineFactory
from synth.errors import EngineUnavailable
from synth.extensions import Broken, ExtensionPoint
from synth.queue.doorbell import Doorbell
from synth.queue.turns import Turns
from synth.queue.wakeup import Listener
from synth.sealing.tickets import TicketOffice
from synth.snapshot import Snapshots
from synth.spec import House
from synth.storage._guarded import GuardedStore
from synth.storage.base import ObjectStore
from synth.webhooks.addresses import Policy
from synth.webhooks.http import Sender
from synth.webhooks.signing import Seal
from tenants.limits import LocalBuckets
from tenants.local_quotas import LocalQuotas

STORES = ExtensionPoint("synth.storage")
PROBE = "rf1:probe"


def redis() -> Redis:
    """A client of the bounded pool."""
    client: Redis = get_redis_connection("default")
    return client


def redis_unless_away() -> Redis:
    """For what may be left out. Raises redis-py's ConnectionError while Redis is known to be away."""
    if redis_breaker().is_open:
        raise RedisConnectionError("Redis is away")
    return redis()


@cache
def redis_breaker() -> Breaker:
    """One for all that this process asks of Redis: who finds it away spares the others the time-out."""
    return Breaker("the cache", probe=_write_to_redis)


def _write_to_redis() -> None:
    """What shows that Redis is back: a replica and a full one would answer a question."""
    redis().set(PROBE, 1, px=1000)


@cache
def rendition_cache() -> RenditionCache:
    return RenditionCache(
        redis,
        audio_limit=conf().l2_audio_limit,
        expiry=conf().l2_expiry,
        incarnation=incarnation,
        stream_length=conf().usage_stream_length,
        breaker=redis_breaker(),
    )


@cache
def usage_streams() -> UsageStreams:
    return UsageStreams(redis)


@cache
def audit_streams() -> AuditStreams:
    return AuditStreams(redis, length=conf().audit_stream_length)


@cache
def local_buckets() -> LocalBuckets:
    return LocalBuckets(processes=conf().api_processes)


@cache
def local_quotas() -> LocalQuotas:
    return LocalQuotas(processes=conf().api_processes)


@cache
def local_cache() -> LocalCache:
    return LocalCache(max_bytes=conf().l1_bytes)


@cache
def object_store() -> ObjectStore:
    name = conf().storage
    module = STORES.load(name)
    store: ObjectStore = module.open_store(conf().storage_options[name])
    if getattr(module, "REMOTE", False):
        return GuardedStore(store)
    return store


def make_bucket() -> bool:
    """Whether the S3 bucket of the settings had to be made."""
    made: bool = STORES.load("s3").make_bucket(conf().storage_options["s3"])
    return made


@cache
def handover() -> Handover:
    """Beside a store of this machine it would save nothing."""
    remote = isinstance(object_store(), GuardedStore)
    return Handover(redis, limit=conf().handover_limit if remote else 0, breaker=redis_breaker())


@cache
def snapshots() -> Snapshots:
    return Snapshots()


@cache
def house() -> House:
    return House(loudness=conf().loudness, pause_ms=conf().pause_ms)


@cache
def doorbell() -> Doorbell:
    return Doorbell(redis, breaker=redis_breaker())


@cache
def listener() -> Listener:
    return Listener(redis, max_seats=conf().max_waiters)


def load_engine(name: str) -> Engine:
    """Load an engine into this process. Raises EngineUnavailable with the reason."""
    try:
        module = ExtensionPoint(*conf().engine_packages).load_or_broken(name)
    except LookupError as error:
        raise EngineUnavailable(str(error)) from error
    if isinstance(module, Broken):
        raise EngineUnavailable(module.reason)
    make: EngineFactory = module.ENGINE
    return make(threads=conf().engine_threads, options=conf().engine_options.get(name, NO_OPTIONS))


def webhook_policy() -> Policy:
    """Where webhooks may go."""
    return Policy(
        https_only=not conf().webhook_http,
        ports=frozenset(conf().webhook_ports),
        networks=conf().webhook_networks,
    )


def webhook_sender() -> Sender:
    """One for each round of sending, which closes it."""
    return Sender(webhook_policy(), timeout=conf().webhook_timeout)


def webhook_seal() -> Seal:
    """Seals and opens the secrets that sign webhooks."""
    return Seal(sealing_keys())


@cache
def ticket_office() -> TicketOffice:
    return TicketOffice(sealing_keys())


@cache
def turns() -> Turns:
    # More than one, since a turn spans waits for Redis and the database; at a calm rate no hit waits for one.
    return Turns(4, patience=0.25, deference=0.25)


def forget_parts() -> None:
    """Build everything anew at its next use: after a fork, or when a test changed settings."""
    parts = (
        redis_breaker,
        rendition_cache,
        usage_streams,
        local_buckets,
        local_quotas,
        local_cache,
        object_store,
        handover,
    )
    for part in (*parts, audit_streams, snapshots, house, doorbell, listener, ticket_office):
        part.cache_clear()
