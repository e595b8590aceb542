"""What a worker process does at its start, at a bell and at its end: load its engines, publish their cards, let them
speak, heed a shutdown.

`REFRAIN_ENGINES` names the engines. They are loaded in the child of a prefork pool, never in its parent: a GPU
must not be touched before the fork.
"""

import logging
import os
import socket
import threading
import time
from typing import Any

from celery.signals import worker_process_init, worker_process_shutdown, worker_ready, worker_shutting_down
from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection
from prometheus_client import start_http_server

from synth import cards, engine_time, health, paces, service, wiring
from synth.audio.encoding import warm_up
from synth.conf import conf
from synth.errors import EngineUnavailable
from synth.held import HeldEngine
from synth.memory import resident, set_aside
from synth.queue.claim import Worker, has_work
from synth.queue.doorbell import IO_QUEUE, engine_queue
from synth.queue.shutdown import stopping
from synth.types import EngineCard

logger = logging.getLogger(__name__)

PUBLISH_AGAIN_AFTER = 2.0
_held: dict[str, HeldEngine] = {}


def this_worker() -> Worker:
    return Worker(f"{socket.gethostname()}:{os.getpid()}", conf().lease)


def load_engines() -> None:
    """Load every engine that this worker is for. One that fails is told of on its card, and the others go on."""
    for name in settings.REFRAIN_ENGINES:
        held = HeldEngine(name)
        if _load(held):
            _held[name] = held
            wiring.doorbell().ring_engine(name)
    if 0 < conf().worker_max_memory < (taken := resident()):
        logger.warning(
            "engines alone take %d bytes, beyond REFRAIN_WORKER_MAX_MEMORY: each task ends its process", taken
        )


def _load(held: HeldEngine) -> bool:
    if held.is_loaded:
        return True
    try:
        card = held.load()
    except Exception as error:
        reason = str(error) if isinstance(error, EngineUnavailable) else f"{type(error).__name__}: {error}"
        logger.exception("engine %s cannot be loaded", held.name)
        cards.publish_problem(held.name, reason)
        return False
    _publish(card)
    logger.info("engine %s %s is ready", held.name, card.model_version)
    return True


def _publish(card: EngineCard) -> None:
    """Until the database takes it: without a card nobody would ever ask for this engine."""
    while True:
        try:
            return cards.publish(card)
        except OperationalError as error:
            logger.warning("the card of %s is not published yet: %s", card.name, error)
            connection.close()
            time.sleep(PUBLISH_AGAIN_AFTER)


def answer_bell(name: str) -> None:
    """Let the engine speak what waits for it. One that was dropped is loaded first, before anything is claimed."""
    held = _held.get(name)
    if held is None or held.card is None:
        logger.error("this worker hears the bell of %s but has not loaded it", name)
        return
    if not held.is_loaded and not has_work(name, held.card.model_version):
        wiring.doorbell().answered(engine_queue(name))
        _tell_unloaded(held.card)
    elif held.is_loadable and _load(held):
        with held.in_hand() as engine:
            if service.drain_engine(engine, this_worker()):
                held.was_used()


def _tell_unloaded(card: EngineCard) -> None:
    cards.seen(card.name, card.model_version)
    health.tell_unloaded(this_worker().name, card.name)


def _drop_idle_engines(after: float) -> None:
    """The work of a thread of its own."""
    while True:
        time.sleep(min(after / 4, 60.0))
        for held in list(_held.values()):
            if not held.drop_if_idle(after):
                continue
            logger.info("engine %s had no work for %g s, and is dropped until there is some", held.name, after)
            try:
                health.tell_unloaded(this_worker().name, held.name)
            except (DatabaseError, InterfaceError) as error:
                logger.warning("nobody is told that %s is dropped: %s", held.name, error)
            finally:
                connection.close()


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
    set_aside()  # before the models, which may be dropped
    load_engines()
    if after := conf().engine_unload_after:
        threading.Thread(target=_drop_idle_engines, args=[after], name="idle-engines", daemon=True).start()


@worker_process_shutdown.connect
def _end(**_: Any) -> None:
    engine_time.flush()
    paces.flush()
    try:
        health.tell_gone(this_worker().name)
    except (DatabaseError, InterfaceError) as error:
        logger.warning("nobody is told that this worker ends: %s", error)


@worker_ready.connect
def _warm_up(sender: Any, **_: Any) -> None:
    """An io worker loads its codecs before the first rendition, not while a request waits for it."""
    if IO_QUEUE in sender.app.amqp.queues.consume_from:
        warm_up()
        show_metrics()
        set_aside()


@worker_shutting_down.connect
def _stop(**_: Any) -> None:
    stopping.set()
