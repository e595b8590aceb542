"""The command line of each of Refrain's processes; `make run` and the tests' stack start these."""

import sys
from collections.abc import Sequence

CELERY = (sys.executable, "-m", "celery", "-A", "ttsproject", "--quiet")
# Nothing here needs to know the other workers; without these a worker is up sooner and the broker stays quiet.
ALONE = ("--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "INFO")


def api(port: int, *, threads: int, workers: int = 1, host: str = "127.0.0.1") -> list[str]:
    """`threads` per process: one for each request that may wait, and enough besides that hits never queue."""
    return [
        *(sys.executable, "-m", "granian", "--interface", "wsgi", "ttsproject.wsgi:application"),
        *("--host", host, "--port", str(port)),
        *("--workers", str(workers), "--blocking-threads", str(threads), "--backlog", "1024"),
        *("--backpressure", str(4 * threads), "--no-ws", "--workers-kill-timeout", "5"),
        *("--respawn-failed-workers", "--respawn-interval", "1"),
        # It warns of more threads than two a core, which here is what is wanted: most of them only wait.
        *("--log-level", "error"),
    ]


def engine_worker(name: str, engines: Sequence[str]) -> list[str]:
    """One child, which loads the engines that REFRAIN_ENGINES names, and one synthesis at a time."""
    queues = ",".join(f"engine.{engine}" for engine in engines)
    pool = ("--pool", "prefork", "--concurrency", "1", "--prefetch-multiplier", "1")
    return [*CELERY, "worker", "--queues", queues, "--hostname", f"{name}@%h", *pool, *ALONE]


def io_worker(name: str, *, threads: int = 4) -> list[str]:
    pool = ("--pool", "threads", "--concurrency", str(threads), "--prefetch-multiplier", "1")
    return [*CELERY, "worker", "--queues", "io", "--hostname", f"{name}@%h", *pool, *ALONE]


def beat() -> list[str]:
    return [*CELERY, "beat", "--pidfile="]
