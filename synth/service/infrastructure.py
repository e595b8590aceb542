"""Whether the parts that Refrain stands on are there, and set up as they must be. Doctor asks; a sentence a fault."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from celery import current_app
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from redis import Redis

from synth import cards, wiring
from synth.conf import conf
from synth.keys import SWEPT
from synth.models import EngineCardRow
from synth.models.clock import database_now
from synth.service.inspection import Check

SWEPT_WITHIN = 60.0
MOST_SKEW = 2.0
LEAST_FREE_BYTES = 2**30
LEAST_FREE_SHARE = 0.05
BROKER_SECONDS = 3.0
# Beside all tenants' folders, and no tenant's id.
PROBE = "doctor"


def _migrations() -> list[str]:
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [f"{migration.app_label}.{migration.name} is not applied" for migration, _ in plan]


def _cache() -> list[str]:
    redis = wiring.redis()
    return _of_redis(redis.info("memory"), redis.info("persistence"), keeps="volatile")


def _of_redis(memory: Any, persistence: Any, *, keeps: str) -> list[str]:
    found = []
    policy, bound = str(memory.get("maxmemory_policy", "")), int(memory.get("maxmemory", 0))
    if bound and not policy.startswith(keeps):
        found.append(f"maxmemory-policy is {policy}, not {'noeviction' if keeps == 'noeviction' else 'volatile-lfu'}")
    if not int(persistence.get("aof_enabled", 0)):
        found.append("appendonly is no: what it holds is lost at its restart")
    return found


def _broker() -> list[str]:
    """Of Redis also how it is set up; any other broker has to answer."""
    with current_app.connection_for_write() as broker:
        broker.ensure_connection(max_retries=1, timeout=BROKER_SECONDS)
        client = getattr(broker.default_channel, "client", None)
        if not isinstance(client, Redis):
            return []
        shared = client.info("server").get("run_id") == wiring.redis().info("server").get("run_id")
        keeps = "volatile" if shared else "noeviction"
        return _of_redis(client.info("memory"), client.info("persistence"), keeps=keeps)


def _storage() -> list[str]:
    store, name, data = wiring.object_store(), f"{PROBE}/{uuid4().hex}.json", b'"from manage.py doctor"'
    store.put(name, data, "application/json")
    try:
        read = store.get(name)
        listed = [item.name for item in store.walk(PROBE)]
    finally:
        store.delete(name)
    found = [] if read == data else ["it gives back other bytes than were put"]
    return found if name in listed else [*found, "it does not list what was put"]


def _engines() -> list[str]:
    rows = list(EngineCardRow.objects.filter(current=True))
    now = database_now()
    away = [f"no worker of {row.name} was heard of lately" for row in rows if cards.is_away(row.seen_at, now)]
    broken = [f"{row.name} cannot be loaded: {row.problem}" for row in EngineCardRow.objects.exclude(problem="")]
    return [*away, *broken] if rows or broken else ["no engine has told of itself"]


def _scheduler() -> list[str]:
    told = wiring.redis().get(SWEPT)
    if told is None:
        return ["the sweeper has not run since Redis started"]
    ago = database_now().timestamp() - float(told)
    return [f"the sweeper ran {ago:.0f} s ago, not every 3 s"] if ago > SWEPT_WITHIN else []


def _disks() -> list[str]:
    found = []
    for path in _paths():
        usage = shutil.disk_usage(path)
        if usage.free < max(LEAST_FREE_BYTES, LEAST_FREE_SHARE * usage.total):
            found.append(f"{path} has {usage.free / 2**30:.1f} GiB left of {usage.total / 2**30:.0f}")
    return found


def _paths() -> list[Path]:
    """Where this machine keeps rows and objects; remote ones are for their own operators to watch."""
    paths = []
    if connection.vendor == "sqlite":
        paths.append(Path(str(connection.settings_dict["NAME"])).parent)
    if conf().storage == "files":
        paths.append(Path(conf().storage_options["files"]["root"]))
    return [path for path in paths if path.is_dir()]


def _clocks() -> list[str]:
    """Of the machine and the database: leases go by the one, TTLs by both."""
    before = datetime.now(UTC)
    there = database_now()
    here = before + (datetime.now(UTC) - before) / 2
    skew = abs(there - here)
    if skew <= timedelta(seconds=MOST_SKEW):
        return []
    return [f"this machine and the database differ by {skew.total_seconds():.1f} s"]


INFRASTRUCTURE = (
    Check(
        name="migrations",
        says="The database is not that of this version.",
        find=_migrations,
        advice="manage.py migrate",
    ),
    Check(name="cache", says="The Redis of REDIS_URL.", find=_cache, advice="See Redis in docs/operating.md."),
    Check(name="broker", says="What CELERY_BROKER_URL names.", find=_broker, advice="See Redis in docs/operating.md."),
    Check(name="object store", says="Put, get, list and delete.", find=_storage),
    Check(name="engines", says="Workers that speak.", find=_engines, advice="Start an engine worker."),
    Check(
        name="scheduler",
        says="The sweeper repairs only while it runs.",
        find=_scheduler,
        advice="Start celery beat and an io worker.",
    ),
    Check(name="disks", says="Less than 5 % or 1 GiB is free.", find=_disks),
    Check(name="clocks", says="They differ by more than 2 s.", find=_clocks, advice="Let NTP set both."),
)
