"""Anchors the heads of audit chains in the object store, and verifies chains against them."""

import logging
import time
from collections.abc import Iterable
from datetime import timedelta
from uuid import UUID

from django.db.models import F, Q
from django.utils import timezone

from synth import wiring
from synth.conf import conf
from synth.errors import StorageUnavailable
from synth.keys import scoped
from tenants.audit.anchors import Anchor
from tenants.audit.retention import drop_old
from tenants.audit.verifying import Report, verify
from tenants.models import AuditChain, Tenant
from tenants.models.audit import PLATFORM
from tenants.types import TenantRef

logger = logging.getLogger("refrain.audit")

FOLDER = "audit"
ANCHORED_AT_ONCE = 200
VERIFY_EVERY = timedelta(days=1)
ROUND_SECONDS = 45.0


def anchor_heads() -> None:
    """Each head that has moved on, at most once in the time that the settings name; one object a tenant and day.

    While the store is away the anchors before it still prove what they proved.
    """
    now = timezone.now()
    due = Q(anchored_at=None) | Q(anchored_at__lte=now - timedelta(seconds=conf().audit_anchor_seconds))
    moved = AuditChain.objects.filter(due, last__gt=F("anchored_last")).order_by("anchored_at")
    for head in moved[:ANCHORED_AT_ONCE]:
        anchor = Anchor.of(head)
        try:
            wiring.object_store().put(_name(head.id, f"{now:%Y-%m-%d}.json"), anchor.packed(), "application/json")
        except StorageUnavailable as error:
            logger.warning("audit chains are not anchored: %s", error)
            return
        AuditChain.objects.filter(id=head.id).update(anchored_at=now, anchored_last=head.last)
        logger.info("audit of %s anchored: %d events, head %s, key %d", head.id, head.last, head.mac, anchor.key_id)


def anchors_of(chain: UUID) -> list[Anchor | None]:
    """Those in the store; None for one that nothing vouches for. Raises StorageUnavailable."""
    store = wiring.object_store()
    return [Anchor.read(store.get(item.name)) for item in store.walk(_name(chain))]


def verify_chain(chain: UUID) -> Report:
    """What the verification found is noted with the chain. Raises StorageUnavailable."""
    report = verify(chain, anchors_of(chain))
    told = {"verified_events": report.events, "findings": [str(finding) for finding in report.findings]}
    AuditChain.objects.filter(id=chain).update(verified_at=timezone.now(), **told)
    for finding in report.findings:
        logger.error("audit of %s: %s", chain, finding)
    return report


def verify_audit(chains: Iterable[UUID] | None = None) -> list[Report]:
    """All chains, without those that have neither events nor anchors."""
    if chains is not None:
        return [verify_chain(chain) for chain in chains]
    known = {PLATFORM, *AuditChain.objects.values_list("id", flat=True), *Tenant.objects.values_list("id", flat=True)}
    reports = [verify_chain(chain) for chain in sorted(known)]
    return [report for report in reports if report.events or report.anchors or report.findings]


def ask_for_verification(chains: Iterable[UUID]) -> None:
    """By an io worker, within a minute or as soon as those before are done."""
    AuditChain.objects.filter(id__in=list(chains)).update(verify_asked_at=timezone.now())


def verify_due() -> None:
    """What was asked for, and what was not verified for a day, as far as a round goes."""
    ends_at = time.monotonic() + ROUND_SECONDS
    old = timezone.now() - VERIFY_EVERY
    due = Q(verify_asked_at__gt=F("verified_at")) | Q(verified_at=None) | Q(verified_at__lt=old)
    for chain in AuditChain.objects.filter(due).order_by("verified_at").values_list("id", flat=True):
        if time.monotonic() > ends_at:
            return
        try:
            verify_chain(chain)
        except StorageUnavailable as error:
            logger.warning("audit chains are not verified: %s", error)
            return


def drop_old_audit() -> int:
    return drop_old()


def _name(chain: UUID, *parts: str) -> str:
    return scoped(TenantRef(chain), FOLDER, *parts)
