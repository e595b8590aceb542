"""Keeps a claim alive while its work runs: a thread renews the lease over a connection of its own."""

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache

from django.db import DatabaseError, connection

from synth.queue.claim import Claimed, renew

logger = logging.getLogger(__name__)

MOST_THREADS = 4096  # two for each claim that runs, and no process runs so many


def end_this_process() -> None:
    """A hung engine does not live for ever: nothing but its own death stops it."""
    os.kill(os.getpid(), signal.SIGKILL)


def let_the_lease_run_out() -> None:
    """For work in threads, whose process others share: stop renewing, another worker takes over."""


@contextmanager
def kept_alive(
    claim: Claimed, *, lease: float, interval: float, deadline: float, at_deadline: Callable[[], None]
) -> Iterator[None]:
    """Renew the claim's lease every `interval` seconds, until the body ends or `deadline` seconds have passed.

    The deadline has a thread of its own: it holds also when the lease is lost, or the database does not answer.
    """
    done = threading.Event()
    ends_at = time.monotonic() + deadline

    def renew_until_done() -> None:
        try:
            while not done.wait(interval) and time.monotonic() < ends_at and _renewed(claim, lease):
                pass
        finally:
            connection.close()

    def end_at_deadline() -> None:
        if not done.wait(deadline):
            logger.error("%s %s ran past its deadline", type(claim).__name__, claim.id)
            at_deadline()

    for work in (renew_until_done, end_at_deadline):
        _threads().submit(work).add_done_callback(_tell_if_broken)
    try:
        yield
    finally:
        done.set()


@cache
def _threads() -> ThreadPoolExecutor:
    """Kept from claim to claim: who starts a thread waits until it runs, while somebody waits for the sound."""
    return ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="heartbeat")


def _tell_if_broken(ended: Future[None]) -> None:
    if error := ended.exception():
        logger.error("a heartbeat broke", exc_info=error)


os.register_at_fork(after_in_child=_threads.cache_clear)


def _renewed(claim: Claimed, lease: float) -> bool:
    """False when the claim is lost; a database that does not answer is asked again at the next beat."""
    try:
        held = renew(claim, lease)
    except DatabaseError as error:
        logger.warning("lease of %s not renewed: %s", claim.id, error)
        return True
    if not held:
        logger.warning("%s %s is another worker's now", type(claim).__name__, claim.id)
    return held
