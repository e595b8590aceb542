"""Wakes requests that wait for a rendering: one subscription per API process, a bounded number of seats."""

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from uuid import UUID

from redis import ConnectionError as RedisConnectionError
from redis import Redis, RedisError

logger = logging.getLogger(__name__)

CHANNEL = "rf1:ended"
RECONNECT_SECONDS = 1.0
SUBSCRIBE_SECONDS = 0.5
LOOK_SECONDS = 5.0
SILENT_SECONDS = 15.0  # a Redis that hangs keeps the connection, and answers no ping


def announce(connect: Callable[[], Redis], rendering_ids: Iterable[UUID]) -> None:
    """Wake whoever waits for these renderings. At most once, by Redis' nature: waiters also look by themselves."""
    try:
        redis = connect()
        for rendering_id in rendering_ids:
            redis.publish(CHANNEL, rendering_id.hex)
    except (RedisError, OSError) as error:
        logger.debug("nobody was woken: %s", error)


class Listener:
    """Hears of ended renderings and wakes those who hold a seat for them."""

    def __init__(self, connect: Callable[[], Redis], *, max_seats: int) -> None:
        """`connect` gives a client of the pool, of which one connection is taken for good."""
        self._connect = connect
        self._free = threading.BoundedSemaphore(max_seats) if max_seats else None
        self._lock = threading.Lock()
        self._seats: dict[str, set[threading.Event]] = defaultdict(set)
        # Set once it is known whether Redis tells: subscribed, or away.
        self._settled = threading.Event()
        self._thread: threading.Thread | None = None
        self.dismissed = False

    def dismiss(self) -> None:
        """This process ends: wake all who wait, whatever has become of their renderings."""
        self.dismissed = True
        with self._lock:
            for events in self._seats.values():
                for event in events:
                    event.set()

    @contextmanager
    def seat(self, rendering_id: UUID) -> Iterator[threading.Event | None]:
        """An event that is set once the rendering has ended; None when every seat is taken.

        Look at the row after taking the seat: what ended before is not told again.
        """
        with self.any_seat() as seated:
            if not seated:
                yield None
                return
            event = threading.Event()
            try:
                with self._lock:
                    self._seats[rendering_id.hex].add(event)
                self._start()
                yield event
            finally:
                with self._lock:
                    self._seats[rendering_id.hex].discard(event)
                    if not self._seats[rendering_id.hex]:
                        del self._seats[rendering_id.hex]

    @contextmanager
    def any_seat(self) -> Iterator[bool]:
        """A place among those that may wait; False when every one is taken."""
        seated = self._free is not None and self._free.acquire(blocking=False)
        try:
            yield seated
        finally:
            if seated and self._free is not None:
                self._free.release()

    def _start(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._listen_for_ever, name="wake-up", daemon=True)
                self._thread.start()
        self._settled.wait(SUBSCRIBE_SECONDS)

    def _listen_for_ever(self) -> None:
        away = False
        while True:
            try:
                for _ in self._listen():
                    away = False
            except (RedisError, OSError) as error:
                self._settled.set()
                if not away:
                    logger.warning("wake-up listener lost Redis, waiters look once a second: %s", error)
                away = True
                time.sleep(RECONNECT_SECONDS)

    def _listen(self) -> Iterator[None]:
        """Subscribe, and wake those whose rendering has ended; comes back whenever Redis has said something."""
        with self._connect().pubsub() as subscription:  # type: ignore[no-untyped-call]
            subscription.subscribe(CHANNEL)
            heard_at = time.monotonic()
            while True:
                message = subscription.get_message(timeout=LOOK_SECONDS)
                if message is None:
                    if time.monotonic() > heard_at + SILENT_SECONDS:
                        raise RedisConnectionError("it answers no ping")
                    subscription.ping()
                    continue
                heard_at = time.monotonic()
                if message["type"] == "subscribe":
                    self._settled.set()
                elif message["type"] == "message":
                    self._wake(message["data"].decode())
                yield

    def _wake(self, rendering: str) -> None:
        with self._lock:
            for event in self._seats.get(rendering, ()):
                event.set()
