"""The sweeper: repairs what has no bell, no heartbeat, no end. Two at once do no harm."""

import logging
from collections.abc import Iterable
from datetime import timedelta

from django.db import InterfaceError, OperationalError
from redis import RedisError

from synth import cards, wiring
from synth.keys import SWEPT
from synth.models.clock import database_now
from synth.queue.claim import open_engines, renderings_wait, voices_wait
from synth.queue.deliveries import deliveries_due
from synth.service.curation import actions_wait
from synth.service.inspection import Check
from synth.service.model_change import follow_model_changes
from synth.service.purging import follow_recent_purges
from synth.service.stuck import EVERY_ROUND
from tenants.models import Tenant

logger = logging.getLogger(__name__)

CANARY_AFTER = timedelta(seconds=30)


def sweep() -> None:
    """One round. Each step is bounded, and leaves the rest to the next round."""
    _ring()
    put_right(EVERY_ROUND)
    follow_recent_purges()
    cards.reelect()
    follow_model_changes()
    _publish_versions()
    _note_round()


def put_right(checks: Iterable[Check]) -> None:
    """Repair what these find. One that breaks, by a row that nobody reckoned with, does not keep the others from it."""
    for check in checks:
        try:
            check.put_right()
        except (OperationalError, InterfaceError):  # the database is away, for all of them
            raise
        except Exception:
            logger.exception("not repaired: %s", check.name)


def _ring() -> None:
    """Ring for what may be claimed, and now and then for engines that were not heard of: do they live?"""
    for engine in {*open_engines(), *cards.canaries_due(CANARY_AFTER)}:
        wiring.doorbell().ring_engine(engine)
    if renderings_wait():
        wiring.doorbell().ring_io()
    if actions_wait():
        wiring.doorbell().ring_curation()
    if voices_wait():
        wiring.doorbell().ring_voices()
    if deliveries_due():
        wiring.doorbell().ring_webhooks()


def _publish_versions() -> None:
    """Tell Redis every tenant's version: it may have been away, or have lost its last second."""
    versions = dict(Tenant.objects.order_by().values_list("id", "snapshot_version"))
    wiring.rendition_cache().publish_versions(versions)


def _note_round() -> None:
    """So that doctor can tell whether there is a scheduler."""
    try:
        wiring.redis_unless_away().set(SWEPT, database_now().timestamp())
    except (RedisError, OSError) as error:
        logger.debug("nobody is told of this round: %s", error)
