"""Each speech request is counted once: how it ended, from which tier, in what time, why it missed."""

from collections.abc import Callable

import pytest
from prometheus_client import generate_latest

from synth import wiring
from synth.errors import SpeechFailed
from synth.keys import object_name
from synth.metrics import MissReason
from synth.stored import of_entry
from tenants import service as tenants
from tests.finished import Finished
from tests.metrics.scraping import Samples, labels_of, parse, scrape, value
from tests.synth.cache.conftest import BODY, Speaker, ask, finished, fresh_parts, world  # noqa: F401 - fixtures


@pytest.fixture
def counted() -> Callable[..., float]:
    """How much a sample has grown since the test began."""
    before = scrape_counters()

    def since(name: str, **labels: str) -> float:
        return value(scrape_counters(), name, **labels) - value(before, name, **labels)

    return since


def scrape_counters() -> Samples:
    return parse(generate_latest().decode())


def requests(counted: Callable[..., float], outcome: str, tier: str = "none") -> float:
    return counted("refrain_requests_total", outcome=outcome, tier=tier)


def test_a_hit_by_url_comes_from_redis(ask: Speaker, finished: Finished, counted) -> None:  # noqa: F811
    assert [ask().json()["cache"] for _ in range(3)] == ["restored", "hit", "hit"]
    assert (requests(counted, "hit", "l3"), requests(counted, "hit", "l2")) == (1, 2)
    assert counted("refrain_hit_seconds_count") == 3
    assert counted("refrain_hit_characters_total", engine="counting") == 3 * len(BODY["text"])


def test_a_hit_by_bytes_says_where_they_were(ask: Speaker, finished: Finished, counted) -> None:  # noqa: F811
    ask()
    entry = finished.entry
    wiring.rendition_cache().fill(entry.tenant.ref, entry.key, of_entry(entry), finished.data)
    assert ask(delivery="binary").status_code == 200
    assert (requests(counted, "hit", "l2"), requests(counted, "hit", "l1")) == (1, 0)
    assert ask(delivery="binary").status_code == 200
    assert (requests(counted, "hit", "l2"), requests(counted, "hit", "l1")) == (1, 1)


def test_what_is_not_done_yet_is_pending(ask: Speaker, finished: Finished, counted) -> None:  # noqa: F811
    assert ask(text="Something else.").status_code == 202
    assert ask(cache="refresh").status_code == 202
    assert ask(cache="bypass").status_code == 202
    assert requests(counted, "pending") == 3
    told = scrape()
    assert {labels["reason"] for labels in labels_of(told, "refrain_misses_total")} == set(MissReason)


def test_refusals_are_the_callers_and_failures_are_not(ask: Speaker, world, counted, monkeypatch) -> None:  # noqa: F811
    assert ask(speed="fast").status_code == 422
    assert Speaker({})().status_code == 401
    assert (requests(counted, "refused"), requests(counted, "failed")) == (2, 0)

    def fail(*_: object, **__: object) -> None:
        raise SpeechFailed.of("told_to_fail", repeats=True)

    monkeypatch.setattr("synth.service.speak", fail)
    assert ask().status_code == 422
    assert (requests(counted, "refused"), requests(counted, "failed")) == (2, 1)


def test_what_a_limit_refused_is_counted_by_limit(ask: Speaker, world, counted) -> None:  # noqa: F811
    tenants.limit_work(world.owner.tenant, max_open_jobs=1, max_running=None)
    assert [ask(text=text).status_code for text in ("One.", "Two.", "Three.")] == [202, 429, 429]
    tenants.limit_tenant(world.owner.tenant, rate=0.01, burst=1)
    assert [ask(speed="fast").status_code for _ in range(2)] == [422, 429]
    assert counted("refrain_requests_limited_total", reason="too_many_jobs") == 2
    assert counted("refrain_requests_limited_total", reason="rate_limited") == 1


def test_round_trips_and_breakers_are_counted(ask: Speaker, finished: Finished, redis_server, counted) -> None:  # noqa: F811
    ask()
    before = counted("refrain_redis_seconds_count")
    ask()
    assert counted("refrain_redis_seconds_count") == before + 1
    redis_server.stop()
    assert ask().status_code == 200
    assert counted("refrain_redis_errors_total") >= 1
    assert counted("refrain_breaker_opened_total", part="cache") == 1
    assert value(scrape_counters(), "refrain_breaker_open", part="cache") == 1
    assert value(scrape(), "refrain_census_ok", part="redis") == 0


def test_lost_bytes_of_a_hit_are_no_hit(ask: Speaker, finished: Finished, counted) -> None:  # noqa: F811
    ask()
    wiring.object_store().delete(object_name(finished.entry.tenant.ref, finished.digest, "mp3"))
    assert ask(delivery="binary").status_code == 202
    assert (requests(counted, "hit", "l2"), requests(counted, "pending")) == (0, 1)


def test_labels_are_bounded(ask: Speaker, world) -> None:  # noqa: F811
    for number in range(5):
        ask(text=f"Text number {number}.", category=f"category {number}")
    for samples in (scrape_counters(), scrape()):
        told = {(name, value) for _, labels in samples for name, value in labels if name != "le"}
        known = {
            "outcome",
            "tier",
            "reason",
            "where",
            "part",
            "engine",
            "class",
            "kind",
            "state",
            "generation",
            "version",
        }
        assert {name for name, _ in told} <= known | {"implementation", "major", "minor", "patchlevel"}
