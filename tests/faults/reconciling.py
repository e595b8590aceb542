"""What rows, objects and Redis say of each other once all is over: for rows of the scoreboard that mix faults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path
from uuid import UUID

import boto3

from synth.keys import Kind
from tests.faults.asking import comes_true, number, open_jobs, rows
from tests.faults.scoreboard import Figures
from tests.servers.nanio import NanioServer
from tests.servers.redis import RedisServer
from tests.stack import Stack

Objects = Mapping[str, str]
"""The digest in an object's name -> that of its bytes."""

SETTLES_WITHIN = 30.0
OPEN = "('waiting', 'queued', 'running')"
NAMED = (
    "SELECT digest FROM synth_entry WHERE purged_at IS NULL",
    "SELECT digest FROM synth_synthesis WHERE state = 'succeeded'",
    "SELECT digest FROM synth_rendering WHERE state = 'succeeded'",
)
NOTED = "SELECT digest FROM synth_discardedobject"
# What is not refreshed is made once; two refreshes, one after the other, are two results.
DOUBLES = (
    "SELECT count(*) - count(DISTINCT flight) FROM synth_rendering"
    " WHERE state = 'succeeded' AND flight NOT LIKE '%:refresh'",
    "SELECT count(*) - count(DISTINCT flight) FROM synth_synthesis WHERE state = 'succeeded' AND id NOT IN"
    " (SELECT synthesis_id FROM synth_renderingpart JOIN synth_rendering ON synth_rendering.id = rendering_id"
    " WHERE synthesis_id IS NOT NULL AND synth_rendering.flight LIKE '%:refresh')",
)
UNLIKE = (
    "SELECT count(*) FROM synth_job JOIN synth_rendering ON synth_rendering.id = synth_job.rendering_id WHERE"
    " synth_job.state <> synth_rendering.state OR synth_rendering.state = 'succeeded' AND synth_rendering.digest = ''"
)
ANCHOR = ".json"  # of the audit: an object that is named for its day
LIMITS = {
    "stuck": 0,
    "open_work": 0,
    "jobs_unlike_their_result": 0,
    "double_results": 0,
    "rows_without_object": 0,
    "broken_objects": 0,
    "cache_unlike_rows": 0,
    "runs_beyond_claims": 0,
}


def reconciled(stack: Stack, objects: Objects, *, cache: RedisServer) -> Figures:
    """To be asked once all jobs have ended; the sweeper has some rounds to end the rest.

    LIMITS are for rows that cancel and purge nothing.
    """
    open_work = _in_the_end(stack, partial(_open_work, stack))
    cache_unlike_rows = _in_the_end(stack, partial(_differences, stack, cache))
    named = {digest for query in NAMED for (digest,) in rows(stack, query)}
    noted = {digest for (digest,) in rows(stack, NOTED)}
    return {
        "stuck": open_jobs(stack),
        "open_work": open_work,
        "jobs_unlike_their_result": number(stack, UNLIKE),
        "double_results": sum(number(stack, query) for query in DOUBLES),
        "rows_without_object": len(named - objects.keys()),
        "broken_objects": sum(name != digest for name, digest in objects.items()),
        "objects_without_row": len(objects.keys() - named - noted),
        "cache_unlike_rows": cache_unlike_rows,
        "runs_beyond_claims": len(stack.runs()) - number(stack, "SELECT sum(attempt) FROM synth_synthesis"),
    }


def objects_in_folder(stack: Stack) -> Objects:
    files = (path for path in (stack.directory / "audio").rglob("*") if path.is_file())
    visible = (path for path in files if not any(part.startswith(".") for part in path.parts[-4:]))
    sounds = (path for path in visible if path.suffix != ANCHOR)
    return {path.stem: sha256(path.read_bytes()).hexdigest() for path in sounds}


def objects_in_bucket(server: NanioServer) -> Objects:
    options = server.options
    client = boto3.client(
        "s3",
        endpoint_url=options["endpoint"],
        region_name=options["region"],
        aws_access_key_id=options["access_key"],
        aws_secret_access_key=options["secret_key"],
    )
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=server.bucket)
    names = [item["Key"] for page in pages for item in page.get("Contents", []) if not item["Key"].endswith(ANCHOR)]
    return {
        Path(name).stem: sha256(client.get_object(Bucket=server.bucket, Key=name)["Body"].read()).hexdigest()
        for name in names
    }


def _in_the_end(stack: Stack, count: Callable[[], int]) -> int:
    """What is left of it after at most so long."""
    comes_true(stack, lambda: count() == 0, seconds=SETTLES_WITHIN)
    return count()


def _open_work(stack: Stack) -> int:
    """Also lines of batches, events without deliveries, and requests that nobody has answered."""
    tables = ("synth_synthesis", "synth_rendering", "synth_curationaction", "synth_webhookdelivery")
    conditions = {
        **dict.fromkeys(tables, f"state IN {OPEN}"),
        "synth_curationline": "outcome IN ('waiting', 'open')",
        "synth_webhookevent": "NOT routed",
        "synth_idempotentrequest": "status IS NULL",
    }
    return sum(number(stack, f"SELECT count(*) FROM {table} WHERE {where}") for table, where in conditions.items())


def _differences(stack: Stack, cache: RedisServer) -> int:
    """Renditions in Redis that are not what the catalogue says, and bytes that are not the ones beside them."""
    query = "SELECT tenant_id, key, digest FROM synth_entry WHERE kind = 'rendition' AND purged_at IS NULL"
    entries = {(UUID(str(tenant)).hex, key): digest for tenant, key, digest in rows(stack, query)}
    differences = 0
    with cache.client() as redis:
        for name in redis.scan_iter(f"*:{Kind.ENTRY}:*", count=1000):
            digest = (redis.hget(name, "digest") or b"").decode()
            tenant, _, key = name.decode().partition("{")[2].partition("/")
            differences += entries.get((tenant, key.rpartition(":")[2])) != digest
            audio = redis.get(name.replace(f":{Kind.ENTRY}:".encode(), f":{Kind.AUDIO}:".encode()))
            differences += audio is not None and sha256(audio).hexdigest() != digest
    return differences
