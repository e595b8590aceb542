"""How long operators wait for the first page, the entries and a search, with a full PostgreSQL behind them.

Run: python -m benchmarks.dashboard [--quick] [--entries 200000] [--usage 1000000] [--times 15]
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlencode

from tests.plugin import SECRET_KEY
from tests.servers.postgres import PostgresServer
from tests.servers.redis import RedisServer

TENANTS = 50
DAYS = 30
SAMPLES = 24 * 60
ENTRIES = """
INSERT INTO synth_entry (id, tenant_id, kind, key, engine, model_version, voice, category, text, digest, format,
  media_type, size, duration, sample_rate, made_at, pinned, "references", provenance, created_at)
SELECT gen_random_uuid(), tenants.ids[1 + n %% array_length(tenants.ids, 1)],
  CASE WHEN n %% 2 = 0 THEN 'rendition' ELSE 'segment' END, md5(n::text) || md5((-n)::text),
  CASE WHEN n %% 3 = 0 THEN 'kokoro' ELSE 'hibari' END, 'model-1', 'voice_' || n %% 8,
  CASE WHEN n %% 5 = 0 THEN 'menus' ELSE '' END,
  CASE WHEN n %% 2 = 0 THEN '您好，您的第' || n || '号订单已经发货，预计明天下午送到，请注意查收，谢谢您的支持。'
    ELSE 'Hello, your order number ' || n || ' is on its way and will arrive tomorrow afternoon, thank you.' END,
  md5('d' || n) || md5('e' || n), 'mp3', 'audio/mpeg', 24000 + n %% 9000, 3.5, 24000,
  now() - n * interval '13 seconds', n %% 1000 = 0, '', '{}', now() - n * interval '13 seconds'
FROM generate_series(1, %(entries)s) AS n, (SELECT array_agg(id) AS ids FROM tenants_tenant) AS tenants
"""
USAGE = """
INSERT INTO tenants_usage (id, tenant_id, at, outcome, state, count, engine, voice, language, category, delivery,
  characters, duration, request_id)
SELECT gen_random_uuid(), tenants.ids[1 + ((n %% 1000) * (n %% 1000)) %% array_length(tenants.ids, 1)],
  now() - n * (interval '%(days)s days' / %(usage)s),
  CASE WHEN n %% 20 < 13 THEN 'hit' WHEN n %% 20 < 19 THEN 'miss' ELSE 'refresh' END,
  CASE WHEN n %% 97 = 0 THEN 'failed' ELSE 'succeeded' END, 1, CASE WHEN n %% 3 = 0 THEN 'kokoro' ELSE 'hibari' END,
  'voice_' || n %% 8, 'zh', '', 'url', 40, 3.5, ''
FROM generate_series(1, %(usage)s) AS n, (SELECT array_agg(id) AS ids FROM tenants_tenant) AS tenants
"""
AUDIT = """
INSERT INTO tenants_auditevent (id, chain, tenant_id, sequence, at, actor_kind, actor_id, actor_name, action, object,
  status, outcome, cache, characters, count, request_id, address, text_kind, text, detail, mac)
SELECT gen_random_uuid(), tenant_id, tenant_id, row_number() OVER (PARTITION BY tenant_id ORDER BY at), at, 'key',
  md5(tenant_id::text), 'a key', 'POST /v1/speech', '', 200,
  CASE WHEN state = 'failed' THEN 'speech_failed' ELSE 'ok' END, CASE WHEN outcome = 'hit' THEN 'hit' ELSE '' END,
  characters, 1, md5(id::text), '192.0.2.' || characters %% 9, 'hash', md5(id::text), '', md5(id::text) || md5(at::text)
FROM tenants_usage
"""
DAYS_OF_USAGE = """
INSERT INTO tenants_usageday (day, tenant_id, api_key_id, engine, voice, outcome, state, requests, characters,
  synthesised, seconds)
SELECT (at AT TIME ZONE 'UTC')::date, tenant_id, '00000000-0000-0000-0000-000000000000', engine, voice, outcome, state,
  sum(count), sum(characters), 0, sum(duration)
FROM tenants_usage GROUP BY 1, 2, 4, 5, 6, 7
"""
PHRASES = """
INSERT INTO synth_phraseday (id, tenant_id, day, key, answers)
SELECT gen_random_uuid(), tenants.id, current_date - day, md5(n::text) || md5((-n)::text), 1000 / n + day
FROM tenants_tenant AS tenants, generate_series(0, %(days)s - 1) AS day, generate_series(2, 40, 2) AS n
"""
MISSES = """
INSERT INTO synth_missday (id, tenant_id, day, first_seen, near_miss, expired, evicted, purged, refreshed,
  model_changed, bypassed, degraded, unknown)
SELECT gen_random_uuid(), tenants.id, current_date - day, 200, 5, 40, 10, 1, 5, 0, 3, 0, 0
FROM tenants_tenant AS tenants, generate_series(0, %(days)s - 1) AS day
"""
FAILURES = """
INSERT INTO synth_failureday (id, tenant_id, day, engine, code, failures)
SELECT gen_random_uuid(), tenants.id, current_date - day, 'kokoro', code, 3 + day
FROM tenants_tenant AS tenants, generate_series(0, %(days)s - 1) AS day,
  (VALUES ('engine_error'), ('engine_timeout'), ('bad_audio')) AS codes (code)
"""
ENGINE_DAYS = """
INSERT INTO synth_engineday (id, tenant_id, engine, day, runs, characters, engine_seconds, audio_seconds,
  reused_characters, hits, hit_characters)
SELECT gen_random_uuid(), tenants.id, engine, current_date - day, 300, 12000, 240, 900, 3000, 0, 0
FROM tenants_tenant AS tenants, generate_series(0, %(days)s - 1) AS day,
  (VALUES ('kokoro'), ('hibari')) AS engines (engine)
"""
LATENCIES = """
INSERT INTO synth_latencyday (id, day, what, bound, answers)
SELECT gen_random_uuid(), current_date - day, what, bound, (1000 * random())::int
FROM generate_series(0, %(days)s - 1) AS day, (VALUES ('hit'), ('miss'), ('redis')) AS kinds (what),
  (VALUES (0.001), (0.002), (0.005), (0.01), (0.05), (0.1), (0.25), (0.5), (1.0)) AS bounds (bound)
"""
ALL_SAMPLES = """
INSERT INTO synth_sample (id, at, values)
SELECT gen_random_uuid(), now() - n * interval '1 minute',
  json_build_object('queues', json_build_object('kokoro', json_build_object('waiting', n %% 30, 'oldest', 3)),
    'redis', json_build_object('used', 400000000 + n * 1000, 'round_trip', 0.0004),
    'webhooks', json_build_object('due', 1),
    'storage', json_build_object('bytes', 5000000000, 'entries', %(entries)s, 'discarded', 12))
FROM generate_series(1, %(samples)s) AS n
"""
SEEDS = (ENTRIES, USAGE, AUDIT, DAYS_OF_USAGE, PHRASES, MISSES, FAILURES, ENGINE_DAYS, LATENCIES, ALL_SAMPLES)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=200_000)
    parser.add_argument("--usage", type=int, default=1_000_000)
    parser.add_argument("--times", type=int, default=15)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    entries, usage = (2_000, 10_000) if arguments.quick else (arguments.entries, arguments.usage)
    with _database():
        _seed(entries, usage)
        print(
            f"{entries:,} entries, {usage:,} rows each of usage and audit, {TENANTS} tenants, {arguments.times} times\n"
        )
        print("| page | median ms | CPU of it, ms | worst ms |")
        print("|---|---|---|---|")
        for name, address in _pages():
            _measure(name, address, arguments.times)


@contextmanager
def _database() -> Iterator[None]:
    """A PostgreSQL and a Redis of its own, and Django on them."""
    with tempfile.TemporaryDirectory(prefix="refrain-bench-") as name, ExitStack() as stopping:
        postgres = stopping.enter_context(PostgresServer())
        redis = RedisServer(Path(name) / "redis")
        redis.start()
        stopping.callback(redis.stop)
        os.environ.update(
            {
                "REFRAIN_SECRET_KEY": SECRET_KEY,
                "REFRAIN_VAR_DIR": name,
                "REDIS_URL": redis.url,
                "DATABASE_URL": postgres.create_database("bench"),
                "DJANGO_SETTINGS_MODULE": "ttsproject.settings",
                "REFRAIN_ALLOWED_HOSTS": "testserver",
                "REFRAIN_GPU_PRICE_PER_HOUR": "1.8",
                "REFRAIN_ENGINE_WATTS": "300",
                "REFRAIN_LOG_LEVEL": "ERROR",
            }
        )
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        yield


def _seed(entries: int, usage: int) -> None:
    from django.contrib.auth.models import User
    from django.db import connection

    from synth.models import Policy
    from tenants.service import create_tenant

    for number in range(TENANTS):
        create_tenant(f"Tenant {number}", f"tenant-{number}")
    User.objects.create_superuser("root")
    for number in range(20):
        Policy.objects.create(voice=f"voice_{number}", max_age=3600 * (number + 1), stale=60)
    values = {"entries": entries, "usage": usage, "days": DAYS, "samples": SAMPLES}
    with connection.cursor() as cursor:
        for statement in SEEDS:
            cursor.execute(statement, values)
        cursor.execute("ANALYZE")


def _pages() -> list[tuple[str, str]]:
    from django.urls import reverse

    entries = reverse("admin:synth_entry_changelist")
    audit = reverse("admin:tenants_auditevent_changelist")

    def asked(**query: str) -> str:
        return f"{entries}?{urlencode(query)}"

    return [
        ("the dashboard", reverse("admin:index")),
        ("entries", entries),
        ("search: an English word that two have", asked(q="number 19998")),
        ("search: Chinese, four characters in half of all", asked(q="预计明天")),
        ("search: Chinese, found once", asked(q="第19998号订单")),
        ("search: two characters in half of all", asked(q="订单")),
        ("search: two characters that none has", asked(q="苹果")),
        ("search: a word that none has", asked(q="pineapple")),
        ("entries of a voice", asked(voice="voice_3")),
        ("entries that have expired", asked(standing="expired")),
        ("entries that are served old: few", asked(standing="stale")),
        ("pinned entries", asked(standing="pinned")),
        ("usage by request", reverse("admin:tenants_usage_changelist")),
        ("the audit", audit),
        ("the audit: what was refused", f"{audit}?outcome=refused"),
        ("the audit: an id that none has", f"{audit}?q=job_{'0' * 32}"),
        ("usage by day", reverse("admin:tenants_usageday_changelist")),
    ]


def _measure(name: str, address: str, times: int) -> None:
    from django.contrib.auth.models import User
    from django.test import Client

    browser = Client()
    browser.force_login(User.objects.get(username="root"))
    _open(browser, address)  # warm
    taken = [_timed(lambda: _open(browser, address)) for _ in range(times)]
    wall, cpu = [pair[0] for pair in taken], [pair[1] for pair in taken]
    print(f"| {name} | {median(wall):.0f} | {median(cpu):.0f} | {max(wall):.0f} |", flush=True)


def _open(browser: Any, address: str) -> None:
    answer = browser.get(address)
    if answer.status_code != 200:
        raise AssertionError(f"{address}: {answer.status_code}")


def _timed(call: Callable[[], None]) -> tuple[float, float]:
    """Milliseconds of the wall, and of this process's CPU."""
    started, cpu = time.perf_counter(), time.process_time()
    call()
    return 1000 * (time.perf_counter() - started), 1000 * (time.process_time() - cpu)


if __name__ == "__main__":
    main()
