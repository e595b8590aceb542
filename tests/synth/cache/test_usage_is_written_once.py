"""Each request leaves one usage row, however it was answered, and whoever dies or is told twice on the way."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.utils import timezone

from synth import wiring
from synth.cache.usage_stream import UsageStreams
from synth.keys import Kind, object_name, redis_key
from synth.models import Entry, Job, Policy, Rendering
from synth.models.states import State
from synth.service import drain_usage, save_policy
from tenants.ids import parse_id
from tenants.models import Tenant, Usage
from tests.finished import Finished
from tests.renewals import renewals_done
from tests.servers.redis import RedisServer
from tests.world import World


class Killed(BaseException):
    """As far as rows and Redis can tell, the process ends here."""


@pytest.fixture
def streams(world: World) -> UsageStreams:
    """Those of the service, which take over at once what a dead reader had in hand."""
    made = wiring.usage_streams()
    made._abandoned_after = 0
    return made


def rows(**filters) -> list[tuple[str, int]]:
    return list(Usage.objects.filter(**filters).order_by("at", "id").values_list("outcome", "count"))


def end_jobs() -> None:
    now = timezone.now()
    Rendering.objects.filter(ended_at=None).update(state=State.SUCCEEDED, ended_at=now, duration=1.5)
    Job.objects.filter(ended_at=None).update(state=State.SUCCEEDED, ended_at=now)


def test_restored_hit_miss_refresh_and_bypass(ask, finished: Finished, world: World):
    drain_usage()
    Usage.objects.all().delete()
    requests = {ask(**body).headers["X-Request-Id"]: outcome for outcome, body in ASKED.items()}
    end_jobs()
    for _ in range(3):
        drain_usage()
    assert {row.request_id: row.outcome for row in Usage.objects.all()} == requests
    assert Usage.objects.count() == len(requests)


ASKED = {
    "restored": {},
    "hit": {"category": "the till", "delivery": "inline"},
    "miss": {"text": "Something else."},
    "refresh": {"cache": "refresh"},
    "bypass": {"cache": "bypass"},
}


def test_a_row_tells_who_asked_for_what(ask, finished: Finished, world: World):
    ask()
    request_id = ask(category="the till", delivery="inline").headers["X-Request-Id"]
    drain_usage()
    row = Usage.objects.get(outcome="hit")
    assert row.id == parse_id("req", request_id)
    assert (row.tenant_id, row.api_key_id) == (world.owner.tenant.id, world.owner.key.id)
    assert (row.category, row.delivery, row.characters) == ("the till", "inline", len("Hello there."))
    assert (row.engine, row.voice) == (finished.entry.engine, finished.entry.voice)
    assert (row.duration, row.state) == (1.25, "succeeded")
    assert abs(row.at - timezone.now()) < timedelta(minutes=1)


def test_an_old_sound_is_told_as_such(ask, finished: Finished, world: World):
    save_policy(Policy(tenant=world.owner.tenant, max_age=60, stale=3600))
    Entry.objects.filter(id=finished.entry.id).update(made_at=timezone.now() - timedelta(seconds=600))
    assert [ask().json()["cache"] for _ in range(2)] == ["stale", "stale"]
    renewals_done()
    drain_usage()
    assert rows(outcome="stale") == [("stale", 1)] * 2


def test_a_hit_whose_audio_is_lost_is_one_request(ask, finished: Finished):
    assert ask().json()["cache"] == "restored"
    wiring.object_store().delete(object_name(finished.entry.tenant.ref, finished.digest, "mp3"))
    request_id = ask(delivery="inline").headers["X-Request-Id"]
    end_jobs()
    drain_usage()
    assert rows(request_id=request_id) == [("hit", 1)]


def test_a_failed_job_says_so(ask, world: World):
    request_id = ask(text="Nobody can say this.").headers["X-Request-Id"]
    Job.objects.update(state=State.FAILED, ended_at=timezone.now())
    drain_usage()
    assert list(Usage.objects.filter(request_id=request_id).values_list("outcome", "state")) == [("miss", "failed")]


def test_a_job_is_written_down_when_it_has_ended(ask, world: World):
    ask(text="Something else.")
    drain_usage()
    assert rows() == []
    end_jobs()
    drain_usage()
    assert rows() == [("miss", 1)]
    assert not Job.objects.filter(accounted=False).exists()


def test_with_redis_away_the_row_is_written_at_once(ask, finished: Finished, redis_server: RedisServer):
    Usage.objects.all().delete()
    redis_server.stop()
    assert ask().json()["cache"] == "restored"
    assert rows() == [("restored", 1)]
    drain_usage()


def test_who_dies_after_the_commit_leaves_events_that_change_nothing(ask, finished, streams, monkeypatch):
    ask()
    for _ in range(5):
        assert ask().json()["cache"] == "hit"
    with monkeypatch.context() as patch:
        patch.setattr(streams, "taken", dies)
        with pytest.raises(Killed):
            drain_usage()
    assert rows(outcome="hit") == [("hit", 1)] * 5
    ask()
    drain_usage()
    assert rows(outcome="hit") == [("hit", 1)] * 6
    assert streams.waiting() == []


def dies(*_: object) -> None:
    raise Killed


def test_two_who_drain_at_once_write_each_hit_once(ask, finished, streams, world: World):
    ask()
    for _ in range(4):
        ask()
    tenant = world.owner.ref
    first = streams.read(tenant)
    assert len(streams.read(tenant)) == len(first) == 4  # the second takes the first for dead
    drain_usage()
    streams.taken(tenant, first)
    assert rows(outcome__in=["restored", "hit"]) == [("restored", 1), *[("hit", 1)] * 4]


def test_hits_that_redis_had_to_cut_are_told_as_a_gap(ask, finished, streams, settings, world: World):
    few = use_a_short_stream(settings)
    hits = 350
    ask()
    for _ in range(hits):
        assert ask().json()["cache"] == "hit"
    drain_usage()
    (gap,) = Usage.objects.filter(outcome="gap")
    assert Usage.objects.filter(outcome="hit").count() + gap.count == hits
    assert 0 < gap.count <= hits - few
    drain_usage()
    for _ in range(hits):
        ask()
    drain_usage()
    told = dict(rows(outcome="gap"))
    assert Usage.objects.filter(outcome="gap").count() == 2
    assert Usage.objects.filter(outcome="hit").count() + sum(count for _, count in rows(outcome="gap")) == 2 * hits
    assert told


def use_a_short_stream(settings) -> int:
    settings.REFRAIN = {**settings.REFRAIN, "USAGE_STREAM_LENGTH": 10}
    wiring.rendition_cache.cache_clear()
    return 10


def test_a_gap_is_told_once_though_who_found_it_dies(ask, finished, streams, settings, monkeypatch):
    use_a_short_stream(settings)
    ask()
    for _ in range(300):
        ask()
    with monkeypatch.context() as patch:
        patch.setattr(streams, "losses_told", dies)
        with pytest.raises(Killed):
            drain_usage()
    ask()
    drain_usage()
    assert Usage.objects.filter(outcome="gap").count() == 1
    assert sum(count for _, count in rows(outcome__in=["hit", "gap"])) == 301


def test_a_tenant_that_is_gone_blocks_nobody(ask, finished, streams, world: World, redis_server: RedisServer):
    ask()
    ask()
    with redis_server.client() as redis:  # the events of one whose rows are gone
        gone = world.stranger.ref
        events = redis.xrange(redis_key(world.owner.ref, Kind.USAGE))
        redis.xadd(redis_key(gone, Kind.USAGE), {**events[-1][1], b"r": events[-1][1][b"r"].replace(b"req_", b"xxx_")})
        redis.sadd("rf1:usage-tenants", gone.id.hex)
    Tenant.objects.filter(id=gone.id).delete()
    drain_usage()
    assert rows(tenant_id=world.owner.tenant.id, outcome="hit") == [("hit", 1)]
    assert rows(tenant_id=gone.id) == [("hit", 1)]
    assert streams.waiting() == []


def test_a_redis_that_came_back_empty_counts_on_from_the_rows(ask, finished, redis_server, world: World):
    for _ in range(4):
        ask()  # restored, hit, hit, hit
    drain_usage()
    known = Usage.objects.count()  # and the job that made it
    redis_server.flush()
    assert [ask().json()["cache"] for _ in range(2)] == ["restored", "hit"]
    with redis_server.client() as redis:
        account = redis.hgetall(redis_key(world.owner.ref, Kind.ACCOUNT))
    assert (int(account[b"requests"]), int(account[b"hits"])) == (known + 2, 3 + 1)
    drain_usage()
    assert Usage.objects.count() == known + 2


def test_ids_of_rows_sort_by_time(ask, finished):
    ids = [UUID(int=parse_id("req", ask().headers["X-Request-Id"]).int) for _ in range(3)]
    assert ids == sorted(ids)
