"""Rings workers by Celery. A bell carries no work: the rows do. Errors are swallowed: the sweeper rings again."""

import logging
from collections.abc import Callable

from celery import current_app
from redis import Redis, RedisError

from synth.breaker import Breaker

logger = logging.getLogger(__name__)

IO_QUEUE = "io"
CURATION = "curation"  # bells of their own on the same queue
WEBHOOKS = "webhooks"
VOICES = "voices"
BELL_TTL_MS = 5_000  # a bell that was lost is rung anew after this
BELL_EXPIRES = 30  # a worker that was busy for longer than this throws old bells away


def engine_queue(engine: str) -> str:
    return f"engine.{engine}"


class Doorbell:
    """Coalesces: while a bell of a queue waits to be heard, no other one is rung."""

    def __init__(self, connect: Callable[[], Redis], *, breaker: Breaker | None = None) -> None:
        """`breaker` is that of the Redis which keeps the flags: a miss has paid its time-out already."""
        self._connect = connect
        self._broker = Breaker("the broker", pause=3.0)
        self._flags = breaker or Breaker("the Redis of the bells", pause=3.0)

    def ring_engine(self, engine: str) -> None:
        self._ring(engine_queue(engine), "synth.drain_engine", [engine])

    def ring_io(self) -> None:
        self._ring(IO_QUEUE, "synth.drain_renderings", [])

    def ring_curation(self) -> None:
        self._ring(IO_QUEUE, "synth.drain_actions", [], bell=CURATION)

    def ring_voices(self) -> None:
        self._ring(IO_QUEUE, "synth.drain_voices", [], bell=VOICES)

    def ring_webhooks(self) -> None:
        self._ring(IO_QUEUE, "synth.drain_deliveries", [], bell=WEBHOOKS)

    def answered(self, queue: str) -> None:
        """A worker heard the bell and is about to look for work: from here on a new bell is worth ringing."""
        if self._flags.is_open:
            return
        try:
            self._connect().delete(_flag(queue))
        except (RedisError, OSError) as error:
            logger.debug("bell of %s not taken down: %s", queue, error)

    def _ring(self, queue: str, task: str, arguments: list[str], *, bell: str = "") -> None:
        if not self._broker.allows() or self._is_ringing(bell or queue):
            return
        try:
            current_app.signature(task, args=arguments).apply_async(
                queue=queue, expires=BELL_EXPIRES, retry=False, ignore_result=True
            )
        except Exception as error:  # noqa: BLE001 - brokers raise what they like; rows and sweeper keep the work
            self._broker.failed(error)
        else:
            self._broker.succeeded()

    def _is_ringing(self, queue: str) -> bool:
        """False when nobody can tell: one message too many is better than none.

        In times of trouble a flag may be left from a bell that was heard long ago: its hearer could not take it down.
        """
        in_trouble = self._flags.in_trouble
        if not self._flags.allows():
            return False
        try:
            ringing = not self._connect().set(_flag(queue), 1, nx=True, px=BELL_TTL_MS)
        except (RedisError, OSError) as error:
            self._flags.failed(error)
            return False
        self._flags.succeeded()
        return ringing and not in_trouble


def _flag(queue: str) -> str:
    return f"rf1:bell:{queue}"
