"""Clients that ask again and again while something else happens: every row whose load goes on beside its faults."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

PATIENCE = 100.0  # for what a client has in hand when it is to end


@contextmanager
def at_work(clients: Sequence[Callable[[], object]], *, pause: float = 0.0) -> Iterator[None]:
    """Each is called again and again by a thread of its own, `pause` seconds after it has come back."""
    ended = threading.Event()

    def work(ask: Callable[[], object]) -> None:
        while not ended.wait(pause):
            ask()

    threads = [threading.Thread(target=work, args=(ask,), daemon=True) for ask in clients]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join(PATIENCE)
