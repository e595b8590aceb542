"""The sweeper: repairs what has no bell, no heartbeat, no end. Two at once do no harm."""

import logging
from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from synth import cards, wiring
from synth.models import EngineCardRow, Rendering, RenderingPart, Synthesis
from synth.models.clock import database_now
from synth.models.states import ENDED, State
from synth.queue.claim import claimable, open_engines, renderings_wait, voices_wait
from synth.queue.deliveries import deliveries_due
from synth.queue.wakeup import announce
from synth.service.curation import actions_wait
from synth.service.endings import Failure, fail_renderings, hand_on
from synth.service.model_change import follow_model_changes
from synth.service.purging import follow_recent_purges
from synth.service.voices import give_up_unstored
from synth.service.warming import fail_unloaded
from tenants.models import Tenant

logger = logging.getLogger(__name__)

CANARY_AFTER = timedelta(seconds=30)
STUCK_AFTER = timedelta(seconds=10)
BATCH = 200


def sweep() -> None:
    """One round. Each step is bounded, and leaves the rest to the next round."""
    _ring()
    _hand_on_complete()
    _fail_stranded()
    _fail_gone_versions()
    follow_recent_purges()
    fail_unloaded()
    give_up_unstored()
    cards.reelect()
    follow_model_changes()
    _publish_versions()


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


@transaction.atomic
def _hand_on_complete() -> None:
    """Renderings whose sentences came in without their being told."""
    old = Rendering.objects.filter(state=State.WAITING, created_at__lt=timezone.now() - STUCK_AFTER)
    ids = old.exclude(parts__digest="").order_by("created_at").values_list("id", flat=True)[:BATCH]
    if hand_on(ids):
        transaction.on_commit(wiring.doorbell().ring_io)


@transaction.atomic
def _fail_stranded() -> None:
    """Renderings that wait for sentences which nobody will speak: rows that ended without their being told."""
    nobody = Q(synthesis=None) | Q(synthesis__state__in=ENDED)
    waiting = Q(rendering__state=State.WAITING, rendering__created_at__lt=timezone.now() - STUCK_AFTER)
    parts = RenderingPart.objects.filter(nobody, waiting, digest="").order_by("rendering_id")
    stranded = Rendering.objects.filter(id__in=list(parts.values_list("rendering_id", flat=True)[:BATCH]))
    ended = fail_renderings(stranded, Failure(code="sentences_lost"), database_now())
    transaction.on_commit(lambda: announce(wiring.redis_unless_away, ended))


def _fail_gone_versions() -> None:
    """Sentences for a model version that no worker speaks any more, and that is no longer current."""
    current = EngineCardRow.objects.filter(current=True).values_list("name", "model_version")
    now = database_now()
    gone = Synthesis.objects.filter(claimable(now), created_at__lt=now - cards.GONE_AFTER)
    for name, version in current:
        gone = gone.exclude(engine=name, model_version=version)
    for row in gone.order_by("created_at")[:BATCH]:
        alive = EngineCardRow.objects.filter(
            name=row.engine, model_version=row.model_version, seen_at__gte=now - cards.GONE_AFTER
        )
        if not alive.exists():
            _fail_unclaimed(row, Failure(code="engine_version_gone"))


@transaction.atomic
def _fail_unclaimed(row: Synthesis, failure: Failure) -> None:
    now = database_now()
    if Synthesis.objects.filter(claimable(now), id=row.id).update(
        state=State.FAILED, ended_at=now, lease_until=None, error_code=failure.code
    ):
        ended = fail_renderings(Rendering.objects.filter(parts__synthesis=row), failure, now)
        transaction.on_commit(lambda: announce(wiring.redis_unless_away, ended))


def _publish_versions() -> None:
    """Tell Redis every tenant's version: it may have been away, or have lost its last second."""
    versions = dict(Tenant.objects.order_by().values_list("id", "snapshot_version"))
    wiring.rendition_cache().publish_versions(versions)
