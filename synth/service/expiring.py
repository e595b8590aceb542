"""Lets the catalogue, and with it storage, forget what expired long ago. The scheduler rings once a minute."""

from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Length

from synth.cache.policy import Subject, retention
from synth.conf import conf
from synth.models import CurationAction, CurationLine, Entry, WebhookDelivery, WebhookEvent
from synth.models.chunks import chunks
from synth.models.clock import database_now
from synth.models.states import ENDED, OPEN, State
from synth.service.catalogue import LONG_AGO
from synth.service.idempotency import forget_requests
from synth.service.object_sweep import discard, sweep_objects
from synth.service.stuck import EVERY_MINUTE
from synth.service.sweeping import put_right
from synth.service.work_keys import forget_lent
from synth.snapshot import Snapshot, load
from tenants.ids import first_id_at
from tenants.types import TenantRef

BATCH = 500
ACTIONS_KEPT = timedelta(days=90)
EVENTS_KEPT = timedelta(days=30)
# With a delivery that was given up: it may be wanted still.
GIVEN_UP_KEPT = timedelta(days=90)
BATCHES_KEPT = timedelta(days=30)
LINES = 5_000


class _Place:
    """How far this process has looked through the entries, the oldest first; then it begins again."""

    looked_at: datetime = LONG_AGO


def sweep_storage() -> None:
    """One bounded run of each. Two at once do no harm."""
    expire_entries()
    forget_purged()
    forget_actions()
    forget_events()
    forget_batches()
    forget_requests()
    forget_lent()
    put_right(EVERY_MINUTE)
    sweep_objects()


def expire_entries() -> int:
    """Delete entries that their rule lets nobody have any more, and that had their grace; how many.

    Pinned ones stay, whether by themselves or by a rule.
    """
    now, grace = database_now(), _grace()
    old = Entry.objects.filter(pinned=False, made_at__gt=_Place.looked_at, made_at__lt=now - grace)
    rows = list(_columns(old.order_by("made_at")[:BATCH]))
    _Place.looked_at = rows[-1].made_at if len(rows) == BATCH else LONG_AGO
    by_tenant: dict[UUID, list[Entry]] = {}
    for row in rows:
        by_tenant.setdefault(row.tenant_id, []).append(row)
    return sum(_expire(tenant_id, by_tenant[tenant_id], until=now - grace) for tenant_id in by_tenant)


def forget_purged() -> int:
    """Delete what stays of purged entries, once no copy in any Redis can be as old."""
    gone = Entry.with_purged.filter(purged_at__lt=database_now() - _grace(), purge_number__isnull=False)
    ids = list(gone.order_by().values_list("id", flat=True)[:BATCH])
    return Entry.with_purged.filter(id__in=ids, purged_at__isnull=False).delete()[0]


def forget_actions() -> int:
    old = CurationAction.objects.filter(state__in=ENDED, ended_at__lt=database_now() - ACTIONS_KEPT)
    old = old.exclude(kind=CurationAction.Kind.BATCH)
    return CurationAction.objects.filter(id__in=list(old.values_list("id", flat=True)[:20])).delete()[0]


def forget_events() -> int:
    """Delete events of webhooks, and their deliveries with every try, that nothing is open of; how many rows."""
    now = database_now()
    # By their ids, which begin with the time they were made at.
    old = WebhookEvent.objects.filter(id__lt=first_id_at(now - EVENTS_KEPT), routed=True)
    given_up = Q(state=State.FAILED, ended_at__gt=now - GIVEN_UP_KEPT)
    wanted = WebhookDelivery.objects.filter(Q(state__in=OPEN) | given_up, event_id=OuterRef("id"))
    ids = list(old.exclude(Exists(wanted)).order_by("id").values_list("id", flat=True)[:BATCH])
    return WebhookEvent.objects.filter(id__in=ids).delete()[0]


def forget_batches() -> int:
    """Delete ended batches with their lines, which are many: a part of them at a time."""
    old = CurationAction.objects.filter(
        kind=CurationAction.Kind.BATCH, state__in=ENDED, ended_at__lt=database_now() - BATCHES_KEPT
    )
    ids = list(old.values_list("id", flat=True)[:20])
    lines = list(CurationLine.objects.filter(action__in=ids).order_by().values_list("id", flat=True)[:LINES])
    deleted = sum(CurationLine.objects.filter(id__in=chunk).delete()[0] for chunk in chunks(lines))
    if len(lines) < LINES:
        deleted += CurationAction.objects.filter(id__in=ids).delete()[0]
    return deleted


def _columns(rows: QuerySet[Entry]) -> QuerySet[Entry]:
    names = ("id", "tenant_id", "category", "engine", "voice", "digest", "format", "made_at")
    return rows.only(*names).annotate(characters=Length("text"))


def _expire(tenant_id: UUID, rows: list[Entry], *, until: datetime) -> int:
    snapshot = load(tenant_id)
    if snapshot is None:
        return 0
    expired = [row for row in rows if _is_expired(row, snapshot, until)]
    with transaction.atomic():
        # Asked again: one that was made anew, or pinned, meanwhile stays. That its old audio is noted does no harm.
        ids = [row.id for row in expired]
        deleted = Entry.objects.filter(id__in=ids, made_at__lt=until, pinned=False).delete()[0]
        discard(TenantRef(tenant_id), [(row.digest, row.format) for row in expired])
    return deleted


def _is_expired(row: Entry, snapshot: Snapshot, until: datetime) -> bool:
    characters: int = getattr(row, "characters", 0)
    subject = Subject(category=row.category, engine=row.engine, voice=row.voice, characters=characters)
    kept = retention(snapshot.rules, subject, conf().cache_ttl)
    longest = max(kept.max_age, kept.hot_max_age) + kept.stale
    return not kept.pinned and row.made_at < until - timedelta(seconds=longest)


def _grace() -> timedelta:
    """Never less than Redis keeps a copy, which a longer rule would bring to life again."""
    return timedelta(seconds=max(conf().expired_kept, conf().l2_expiry))
