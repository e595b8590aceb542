"""What a worker process does at its start and end: load its engines, publish their cards, heed a shutdown.

`REFRAIN_ENGINES` names the engines. They are loaded in the child of a prefork pool, never in its parent: a GPU
must not be touched before the fork.
"""

import logging
import os
import socket
import time
from typing import Any

from celery.signals import worker_process_init, worker_process_shutdown, worker_ready, worker_shutting_down
from django.conf import settings
from django.db import OperationalError, connection
from prometheus_client import start_http_server

from synth import cards, engine_time, wiring
from synth.audio.encoding import warm_up
from synth.conf import conf
from synth.engines.base import Engine
from synth.errors import EngineUnavailable
from synth.queue.claim import Worker
from synth.queue.doorbell import IO_QUEUE
from synth.queue.shutdown import stopping
from synth.types import EngineCard

logger = logging.getLogger(__name__)

PUBLISH_AGAIN_AFTER = 2.0
_engines: dict[str, Engine] = {}


def this_worker() -> Worker:
    return Worker(f"{socket.gethostname()}:{os.getpid()}", conf().lease)


def engine(name: str) -> Engine | None:
    """The engine that this process has loaded under this name."""
    return _engines.get(name)


def load_engines() -> None:
    """Load every engine that this worker is for. One that fails is told of on its card, and the others go on."""
    for name in settings.REFRAIN_ENGINES:
        try:
            loaded = wiring.load_engine(name)
        except Exception as error:
            reason = str(error) if isinstance(error, EngineUnavailable) else f"{type(error).__name__}: {error}"
            logger.exception("engine %s cannot be loaded", name)
            cards.publish_problem(name, reason)
        else:
            _engines[name] = loaded
            _publish(loaded.card)
            wiring.doorbell().ring_engine(name)
            logger.info("engine %s %s is ready", name, loaded.card.model_version)


def _publish(card: EngineCard) -> None:
    """Until the database takes it: without a card nobody would ever ask for this engine."""
    while True:
        try:
            return cards.publish(card)
        except OperationalError as error:
            logger.warning("the card of %s is not published yet: %s", card.name, error)
            connection.close()
            time.sleep(PUBLISH_AGAIN_AFTER)


def show_metrics() -> None:
    """Answer Prometheus on a port of this worker's own, where one is set. One that is taken keeps no worker down."""
    if not conf().metrics_port:
        return
    try:
        start_http_server(conf().metrics_port, addr=conf().metrics_host)
    except OSError as error:
        logger.warning("no metrics on %s:%d: %s", conf().metrics_host, conf().metrics_port, error)


@worker_process_init.connect
def _start(**_: Any) -> None:
    wiring.forget_parts()
    show_metrics()
    load_engines()


@worker_process_shutdown.connect
def _end(**_: Any) -> None:
    engine_time.flush()


@worker_ready.connect
def _warm_up(sender: Any, **_: Any) -> None:
    """An io worker loads its codecs before the first rendition, not while a request waits for it."""
    if IO_QUEUE in sender.app.amqp.queues.consume_from:
        warm_up()
        show_metrics()


@worker_shutting_down.connect
def _stop(**_: Any) -> None:
    stopping.set()
