"""Brings what happened into the audit: doors note it in Redis before they answer, an io worker writes and seals it.

With Redis away a row in the database stands in for the stream. Ids of events are known beforehand, so that what is
brought twice is written once.
"""

import logging
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from uuid import UUID, uuid5

from django.db import DatabaseError
from redis import RedisError

from synth import wiring
from synth.cache.usage_stream import Event as Hit
from synth.cache.usage_stream import Losses
from tenants.audit.events import GAP, KEY, SYSTEM, Event
from tenants.audit.writing import NOTES, append, append_notes, chain_of, note
from tenants.ids import parse_id
from tenants.types import TenantRef

logger = logging.getLogger("refrain.audit")

DRAIN_SECONDS = 5.0  # of one tenant at a time
SPEAK = "POST /v1/speech"
CACHE = {"hit": "hit", "stale_hit": "stale"}


def note_audit(tenant_id: UUID | None, event: Event) -> None:
    """Have it in the audit, whatever becomes of this process. Never raises: no answer waits for the audit."""
    chain = chain_of(tenant_id)
    breaker = wiring.redis_breaker()
    if breaker.allows():
        try:
            wiring.audit_streams().add(TenantRef(chain), event.packed())
        except (RedisError, OSError) as error:
            breaker.failed(error)
        else:
            breaker.succeeded()
            return
    try:
        note(chain, event)
    except DatabaseError as error:
        logger.error("this line alone tells of an audit event (%s): %s", error, event.packed().decode())  # noqa: TRY400


def append_hits(tenant: TenantRef, hits: Iterable[Hit]) -> None:
    """In the transaction that writes their usage."""
    append(tenant.id, [_of_hit(tenant, hit) for hit in hits])


def append_gap(tenant: TenantRef, losses: Losses, *, what: str) -> None:
    """So many events were lost. Found again, and grown meanwhile, it is told again: rather too many than too few."""
    name = f"audit {what} {losses.account} {losses.told} {losses.count}"
    gap = Event(id=uuid5(tenant.id, name), action=what, actor_kind=SYSTEM, outcome=GAP, count=losses.count)
    append(tenant.id, [gap])


def drain_audit() -> None:
    """What waits in Redis and in the database, into the chains."""
    while append_notes() == NOTES:
        pass
    streams = wiring.audit_streams()
    if not streams.breaker.allows():
        return
    try:
        for tenant in streams.waiting():
            _drain(tenant)
    except (RedisError, OSError) as error:
        streams.breaker.failed(error)
    else:
        streams.breaker.succeeded()


def _drain(tenant: TenantRef) -> None:
    streams = wiring.audit_streams()
    ends_at = time.monotonic() + DRAIN_SECONDS
    while (noted := streams.read(tenant)) and time.monotonic() < ends_at:
        append(tenant.id, [Event.unpacked(one.event) for one in noted])
        losses = streams.taken(tenant, noted)
        if losses.count:
            logger.error("%d audit events of %s were cut before they were written", losses.count, tenant.id)
            append_gap(tenant, losses, what="audit events")
            streams.losses_told(tenant, losses)


def _of_hit(tenant: TenantRef, hit: Hit) -> Event:
    request = hit.request
    return Event(
        id=parse_id("req", request.request_id) or uuid5(tenant.id, hit.stream_id),
        at=datetime.fromtimestamp(hit.at, UTC),
        action=SPEAK,
        actor_kind=KEY,
        actor_id=str(UUID(hex=request.key_id)),
        object=hit.entry_id,
        status=200,
        cache=CACHE.get(hit.outcome, hit.outcome),
        characters=request.characters,
        request_id=request.request_id,
        address=hit.audit.address,
        text_kind=hit.audit.text_kind,
        text=hit.audit.text,
    )
