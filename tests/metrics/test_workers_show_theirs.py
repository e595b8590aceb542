"""Real processes: workers show their metrics on a port of their own, and one that finds it taken works all the same."""

import httpx
import pytest

from tests.metrics.scraping import Samples, parse, value
from tests.servers.ports import free_port
from tests.stack import Stack

pytestmark = [pytest.mark.stack, pytest.mark.any_database]
TEXT = "One sentence. And another one."


def read(url: str) -> Samples:
    answer = httpx.get(f"{url}/metrics", timeout=10, trust_env=False)
    assert answer.status_code == 200
    return parse(answer.text)


def test_engine_time_is_told_by_the_worker_and_reaches_the_api(stack: Stack) -> None:
    engine_port, io_port = free_port(), free_port()
    (api,) = stack.api()
    stack.beat()
    stack.io_worker(env={"REFRAIN_METRICS_PORT": str(io_port)})
    stack.engine_worker(env={"REFRAIN_METRICS_PORT": str(engine_port)})
    late = stack.engine_worker(env={"REFRAIN_METRICS_PORT": str(engine_port)})[0]
    stack.wait_until(lambda: f"no metrics on 127.0.0.1:{engine_port}" in late.output(), what="the port is taken")
    stack.wait_for_engines()
    with stack.client() as client:
        assert [client.post("/v1/speech", json={"text": TEXT}).json()["cache"] for _ in range(2)] == ["miss", "hit"]
    runs = len(stack.runs())
    assert runs == 2

    def spoken_here() -> float:
        return value(
            read(f"http://127.0.0.1:{engine_port}"), "refrain_engine_runs_total", engine="counting", outcome="kept"
        )

    assert spoken_here() <= runs
    assert value(read(f"http://127.0.0.1:{io_port}"), "refrain_redis_seconds_count") >= 1
    told = read(api.url)
    assert value(told, "refrain_requests_total", outcome="miss", tier="none") == 1
    assert value(told, "refrain_requests_total", outcome="hit", tier="l2") == 1
    assert value(told, "refrain_miss_seconds_count") == 1
    assert value(told, "refrain_segments_needed_total") == 2
    stack.terminate(late)

    def counted() -> dict[str, float]:
        with stack.client() as client:
            total = client.get("/v1/savings").json()["total"]
        return total if total["engine_seconds_spent"] and total["hits"] else {}

    total = stack.wait_until(counted, seconds=60, what="engine time and hits in the database")
    assert total["hits"] == 1
    assert total["engine_seconds"] > 0


def test_metrics_of_the_api_need_the_token_where_one_is_set(stack: Stack) -> None:
    (api,) = stack.api(env={"REFRAIN_METRICS_TOKEN": "of-the-monitor"})
    asked = [{}, {"Authorization": "Bearer of-nobody"}, {"Authorization": "Bearer of-the-monitor"}]
    told = [httpx.get(f"{api.url}/metrics", headers=headers, timeout=10, trust_env=False) for headers in asked]
    assert [answer.status_code for answer in told] == [401, 401, 200]
    forwarded = httpx.get(f"{api.url}/metrics", headers={"X-Forwarded-For": "1.2.3.4", **asked[2]}, trust_env=False)
    assert forwarded.status_code == 200
