"""Read-only queries for API and admin. The tenant is always an argument."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Left

from synth import codec, health
from synth.cards import current_cards, is_away, preference
from synth.models import (
    ClonedVoice,
    CurationAction,
    CurationLine,
    EngineCardRow,
    EngineWorker,
    Entry,
    Job,
    LexiconWord,
    Policy,
    Rendering,
    RenderingPart,
    Synthesis,
    WebhookDelivery,
    WebhookEndpoint,
)
from synth.models.clock import database_now
from synth.models.states import State
from synth.stored import of_entry, of_job
from synth.types import EngineCard, StoredAudio
from tenants.ids import parse_id
from tenants.types import TenantRef

JOB_FILTERS = {
    "status": "state",
    "engine": "engine",
    "voice": "voice",
    "category": "category",
    "created_after": "created_at__gt",
    "created_before": "created_at__lt",
}

ACTION_FILTERS = {"kind": "kind", "status": "state"}
DELIVERY_FILTERS = {"status": "state", "type": "event__type", "event_id": "event_id", "since": "created_at__gte"}
# Of a text in a list.
MOST_TEXT = 500


def jobs(tenant: TenantRef, **filters: object) -> QuerySet[Job]:
    """The tenant's jobs with their renderings, the newest first; `filters` are the names of JOB_FILTERS."""
    wanted = {JOB_FILTERS[name]: value for name, value in filters.items()}
    rows = Job.objects.filter(tenant_id=tenant.id, **wanted)
    return rows.select_related("rendering").order_by("-created_at", "-id")


def job(tenant: TenantRef, text: str) -> Job | None:
    """The tenant's job with this public id."""
    job_id = parse_id("job", text)
    return jobs(tenant).filter(id=job_id).first() if job_id else None


def entry(tenant: TenantRef, text: str) -> Entry | None:
    """The tenant's rendition with this public id."""
    entry_id: UUID | None = parse_id("ent", text)
    if entry_id is None:
        return None
    return Entry.objects.filter(tenant_id=tenant.id, id=entry_id, kind=Entry.Kind.RENDITION).first()


def audio(tenant: TenantRef, text: str) -> StoredAudio | None:
    """The finished audio behind a job's or an entry's public id."""
    found_job = job(tenant, text)
    if found_job is not None:
        return of_job(found_job) if found_job.state == State.SUCCEEDED and found_job.rendering.digest else None
    found_entry = entry(tenant, text)
    return of_entry(found_entry) if found_entry else None


def entries(tenant: TenantRef, conditions: Mapping[str, object]) -> QuerySet[Entry]:
    """What the tenant's cache holds, the newest first; `text_beginning` stands for the text."""
    rows = Entry.objects.filter(tenant_id=tenant.id, **conditions).defer("text", "spec", "provenance")
    return rows.annotate(text_beginning=Left("text", MOST_TEXT)).order_by("-created_at", "-id")


def lexicon(tenant: TenantRef) -> QuerySet[LexiconWord]:
    return LexiconWord.objects.filter(tenant_id=tenant.id).order_by("text", "language")


def own_voices(tenant: TenantRef) -> QuerySet[ClonedVoice]:
    """The tenant's own voices, the newest first: those that are ready, that wait, and that were refused."""
    rows = ClonedVoice.objects.filter(tenant_id=tenant.id, same_as=None)
    return rows.exclude(state__in=[State.WAITING, State.CANCELED]).order_by("-created_at", "-id")


def own_voice(tenant: TenantRef, text: str) -> ClonedVoice | None:
    """The tenant's own voice with this public id."""
    return ClonedVoice.of(tenant.id, text)


def actions(tenant: TenantRef, **filters: object) -> QuerySet[CurationAction]:
    """What was done to the tenant's cache, the newest first; `filters` are the names of ACTION_FILTERS."""
    wanted = {ACTION_FILTERS[name]: value for name, value in filters.items()}
    rows = CurationAction.objects.filter(tenant_id=tenant.id, **wanted).exclude(kind=CurationAction.Kind.BATCH)
    return rows.order_by("-created_at", "-id")


def action(tenant: TenantRef, text: str) -> CurationAction | None:
    """The tenant's action with this public id."""
    action_id = parse_id("act", text)
    return actions(tenant).filter(id=action_id).first() if action_id else None


def batches(tenant: TenantRef, **filters: object) -> QuerySet[CurationAction]:
    """The tenant's batches, the newest first, but one whose items are still being stored: it is not accepted yet."""
    rows = CurationAction.objects.filter(tenant_id=tenant.id, kind=CurationAction.Kind.BATCH)
    wanted = {ACTION_FILTERS[name]: value for name, value in filters.items()}
    return rows.exclude(state=State.WAITING).filter(**wanted).order_by("-created_at", "-id")


def batch(tenant: TenantRef, text: str) -> CurationAction | None:
    """The tenant's batch with this public id."""
    batch_id = parse_id("bat", text)
    return batches(tenant).filter(id=batch_id).first() if batch_id else None


def failed_lines(action: CurationAction) -> QuerySet[CurationLine]:
    return CurationLine.objects.filter(action=action, outcome=CurationLine.Outcome.FAILED).order_by("number")


def own_policies(tenant: TenantRef) -> QuerySet[Policy]:
    """The rules of this tenant, whoever made them, in the order in which they are tried."""
    return Policy.objects.filter(tenant_id=tenant.id).order_by("priority", "id")


def own_policy(tenant: TenantRef, text: str) -> Policy | None:
    """The tenant's rule with this public id."""
    policy_id = parse_id("pol", text)
    return own_policies(tenant).filter(id=policy_id).first() if policy_id else None


def webhooks(tenant: TenantRef) -> QuerySet[WebhookEndpoint]:
    return WebhookEndpoint.objects.filter(tenant_id=tenant.id).order_by("-created_at", "-id")


def webhook(tenant: TenantRef, text: str) -> WebhookEndpoint | None:
    """The tenant's endpoint with this public id."""
    endpoint_id = parse_id("whk", text)
    return webhooks(tenant).filter(id=endpoint_id).first() if endpoint_id else None


def deliveries(endpoint: WebhookEndpoint, **filters: object) -> QuerySet[WebhookDelivery]:
    """With their events, the newest first; `filters` are the names of DELIVERY_FILTERS."""
    wanted = {DELIVERY_FILTERS[name]: value for name, value in filters.items()}
    rows = WebhookDelivery.objects.filter(endpoint=endpoint, **wanted).select_related("event")
    return rows.order_by("-created_at", "-id")


def delivery(endpoint: WebhookEndpoint, text: str) -> WebhookDelivery | None:
    """The endpoint's delivery with this public id."""
    delivery_id = parse_id("dlv", text)
    return deliveries(endpoint).filter(id=delivery_id).first() if delivery_id else None


def lines_with_problems(batch: CurationAction) -> QuerySet[CurationLine]:
    """Items that were refused, or failed."""
    outcomes = (CurationLine.Outcome.REFUSED, CurationLine.Outcome.FAILED)
    return CurationLine.objects.filter(action_id=batch.id, outcome__in=outcomes).order_by("number")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a rendering. Without a synthesis it was stored before; without an entry it is not kept."""

    position: int
    text: str
    synthesis: Synthesis | None
    entry: Entry | None


def sentences(rendering: Rendering, *, limit: int) -> list[Sentence]:
    """The first sentences of a rendering, in order, in two queries."""
    parts = list(rendering.parts.select_related("synthesis").order_by("position")[:limit])
    kept = Entry.objects.filter(
        tenant_id=rendering.tenant_id, kind=Entry.Kind.SEGMENT, key__in={part.key for part in parts}
    )
    entries = {entry.key: entry for entry in kept}
    return [_sentence(part, entries.get(part.key)) for part in parts]


def _sentence(part: RenderingPart, entry: Entry | None) -> Sentence:
    text = part.synthesis.segment["text"] if part.synthesis else entry.text if entry else ""
    heard = entry if entry and entry.digest == part.digest else None
    return Sentence(part.position, text, part.synthesis, heard)


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """`state` is available, away (no worker was heard of lately) or broken (`problem` says why).

    `real_time_factor` is engine time per time of sound over the last days; None where nobody spoke, or nobody asks.
    """

    row: EngineCardRow
    state: str
    card: EngineCard | None
    real_time_factor: float | None = None


def engines() -> list[EngineStatus]:
    """Every engine by its current card, and those that could not be loaded."""
    rows = EngineCardRow.objects.order_by("name", "-current", "-created_at")
    latest: dict[str, EngineCardRow] = {}
    for row in rows:
        latest.setdefault(row.name, row)
    now = database_now()
    factors = health.lately(now)
    return [replace(engine_status(row, now), real_time_factor=factors.get(row.name)) for row in latest.values()]


def engine_status(row: EngineCardRow, now: datetime | None = None) -> EngineStatus:
    """How one version of an engine is, by the database's clock."""
    away = is_away(row.seen_at, now or database_now())
    card = codec.from_json(EngineCard, row.card) if row.card else None
    return EngineStatus(row, _state(row, away=away), card)


def engine_workers(row: EngineCardRow) -> QuerySet[EngineWorker]:
    """The processes that run this version of an engine, the one heard of last first."""
    return health.workers(row.name, row.model_version)


def cards() -> tuple[EngineCard, ...]:
    """The current card of every engine, by name."""
    return current_cards()


def cards_by_preference() -> tuple[EngineCard, ...]:
    """The same, the preferred engine first."""
    return tuple(sorted(current_cards(), key=preference))


def _state(row: EngineCardRow, *, away: bool) -> str:
    if row.problem:
        return "broken"
    return "away" if away else "available"
