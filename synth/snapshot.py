"""A tenant's settings in an API process's memory, by version: what a hit needs to know without SQL."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from threading import Lock
from uuid import UUID

from cachetools import LRUCache
from django.db.models import Q, QuerySet

from synth.cache.policy import Retention, Rule, Subject, retention
from synth.cards import current_cards, preference, previous_cards
from synth.conf import conf
from synth.keys import rendition_key, spoken_by
from synth.lexicon import Word
from synth.models import ClonedVoice, LexiconWord, Policy, VoiceSettings
from synth.models.states import State
from synth.types import EngineCard, Spec, Voice
from tenants.keys import KeyRecord, ParsedKey
from tenants.limits import limit_of
from tenants.models import ApiKey, Tenant
from tenants.quotas import NO_QUOTAS, Quotas, quotas_of
from tenants.sealing import current_key_id, own_key_ids
from tenants.types import Limit, TenantRef

MAX_TENANTS = 5_000


@dataclass(frozen=True)
class Snapshot:
    """`version` is the tenant's at the time of reading; a later one means: read again.

    `rules` are the enabled TTL rules, the tenant's own and those for all; `previous` are earlier versions of engines
    whose sounds are still being made anew, the newest first; `own_voices` are the tenant's, by their ids;
    `time_stretch`: it has speech stretched where an engine keeps no time; `key_id` is the platform's key that its
    sounds are sealed with, `own_keys` are those it has registered, None where it does not seal with its own.
    `audit_text`: how its audit keeps texts.
    """

    tenant: TenantRef
    version: int
    keys: Mapping[str, KeyRecord]
    cards: Mapping[str, EngineCard]
    rules: tuple[Rule, ...] = ()
    limit: Limit | None = None
    quotas: Quotas = NO_QUOTAS
    previous: Mapping[str, Sequence[EngineCard]] = field(default_factory=dict)
    own_voices: Mapping[str, Voice] = field(default_factory=dict)
    lexicon: tuple[Word, ...] = ()
    time_stretch: bool = False
    key_id: str | None = None
    own_keys: frozenset[str] | None = None
    audit_text: str = Tenant.AuditText.HASH

    @cached_property
    def voices(self) -> Mapping[str, Voice]:
        """By `engine/name`, by the bare name, and the tenant's own by their ids, too. Of two with one name its own

        counts, which was there first; of two engines with one name the preferred engine's.
        """
        found: dict[str, Voice] = dict(self.own_voices)
        own = sorted(self.own_voices.values(), key=lambda voice: preference(self.cards[voice.engine]))
        for voice in (*own, *(voice for card in self.by_preference for voice in card.voices)):
            found.setdefault(f"{voice.engine}/{voice.name}", voice)
            found.setdefault(voice.name, voice)
        return found

    @cached_property
    def by_preference(self) -> tuple[EngineCard, ...]:
        return tuple(sorted(self.cards.values(), key=preference))

    def retention_of(self, spec: Spec, category: str) -> Retention:
        """What the TTL rules say about a request."""
        return self.retention_for(subject_of(spec, category))

    def retention_for(self, subject: Subject) -> Retention:
        return retention(self.rules, subject, conf().cache_ttl)

    def keys_of(self, spec: Spec, kept: Retention) -> tuple[str, ...]:
        """The rendition's key; after it, where the rules let them be served, those by earlier versions of the model."""
        older = self.previous.get(spec.manner.engine, ()) if kept.serve_old else ()
        said = (spoken_by(card, spec) for card in older)
        return (rendition_key(spec), *(rendition_key(other) for other in said if other is not None))


def subject_of(spec: Spec, category: str) -> Subject:
    manner = spec.manner
    return Subject(category=category, engine=manner.engine, voice=manner.voice, characters=len(spec.text))


def load(tenant_id: UUID) -> Snapshot | None:
    """Read a tenant's settings. The version first: what changes meanwhile makes the snapshot stale, not wrong."""
    tenant = Tenant.objects.filter(id=tenant_id).first()
    if tenant is None:
        return None
    keys = ApiKey.objects.filter(tenant=tenant).select_related("tenant").order_by()
    cards = {card.name: card for card in current_cards()}
    return Snapshot(
        tenant=tenant.ref,
        version=tenant.snapshot_version,
        keys={key.lookup: key.record for key in keys},
        cards=cards,
        rules=tuple(rule_of(row) for row in policies_of(tenant.ref).filter(enabled=True)),
        limit=limit_of(tenant.rate_limit, tenant.rate_burst, default=conf().default_limit),
        quotas=quotas_of(tenant, conf().default_quotas),
        previous=previous_cards(),
        own_voices=_own_voices(tenant.ref, cards),
        lexicon=_lexicon(tenant.ref),
        time_stretch=VoiceSettings.objects.filter(tenant=tenant, time_stretch=True).exists(),
        key_id=current_key_id(tenant) or None,
        own_keys=own_key_ids(tenant.ref) if tenant.encryption == Tenant.Encryption.OWN else None,
        audit_text=_audit_text(tenant),
    )


def _audit_text(tenant: Tenant) -> str:
    """Texts of a tenant with a key of its own are kept nowhere in clear, nor as a hash that a guess can be held to."""
    return Tenant.AuditText.NONE if tenant.encryption == Tenant.Encryption.OWN else tenant.audit_text


def _lexicon(tenant: TenantRef) -> tuple[Word, ...]:
    words = LexiconWord.objects.filter(tenant_id=tenant.id).order_by()
    return tuple(Word(*row) for row in words.values_list("text", "kind", "value", "language"))


def _own_voices(tenant: TenantRef, cards: Mapping[str, EngineCard]) -> dict[str, Voice]:
    """By id, those that are ready and whose engine is here, each with its own language first."""
    found: dict[str, Voice] = {}
    for row in ClonedVoice.objects.filter(tenant_id=tenant.id, state=State.SUCCEEDED).order_by():
        card = cards.get(row.engine)
        spoken = card.cloning.languages if card and card.cloning else ()
        if row.language in spoken:
            languages = (row.language, *(language for language in spoken if language != row.language))
            found[row.public_id] = Voice(row.name, row.engine, row.fingerprint, languages, label=row.name)
    return found


def policies_of(tenant: TenantRef) -> QuerySet[Policy]:
    """The rules that concern a tenant, switched off ones too."""
    return Policy.objects.filter(Q(tenant_id=tenant.id) | Q(tenant=None))


def rule_of(row: Policy) -> Rule:
    return _shared(
        Rule(
            id=row.public_id,
            own=row.tenant_id is not None,
            priority=row.priority,
            enabled=row.enabled,
            category=row.category or None,
            engine=row.engine or None,
            voice=row.voice or None,
            min_characters=row.min_characters,
            max_characters=row.max_characters,
            max_age=row.max_age,
            hot_hits=row.hot_hits or 0,
            hot_window=row.hot_window or 0.0,
            hot_factor=row.hot_factor or 1.0,
            hot_ceiling=row.hot_ceiling or 0.0,
            stale=row.stale,
            store=not row.never_cache,
            pinned=row.pinned,
            serve_old=row.model_change == Policy.ModelChange.SERVE_OLD,
        )
    )


@lru_cache(maxsize=4_000)
def _shared(rule: Rule) -> Rule:
    """One value for equal rules: those for all tenants would fill the memory, once in each snapshot."""
    return rule


class Snapshots:
    """The snapshots of one process, the most recently used ones."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._by_tenant: LRUCache[UUID, Snapshot] = LRUCache(MAX_TENANTS)
        self._tenant_of: LRUCache[str, UUID] = LRUCache(MAX_TENANTS * 4)

    def of_key(self, key: ParsedKey) -> Snapshot | None:
        """The snapshot of the tenant that owns this key; SQL only at the key's first use in this process."""
        with self._lock:
            tenant_id = self._tenant_of.get(key.lookup)
            snapshot = self._by_tenant.get(tenant_id) if tenant_id else None
        if snapshot is not None:
            return snapshot
        tenant_id = ApiKey.objects.filter(lookup=key.lookup).values_list("tenant_id", flat=True).first()
        return self.reload(tenant_id) if tenant_id else None

    def holds(self, snapshot: Snapshot) -> bool:
        """Whether this is what the process knows of its tenant."""
        with self._lock:
            return self._by_tenant.get(snapshot.tenant.id) is snapshot

    def reload(self, tenant_id: UUID) -> Snapshot | None:
        """Read the tenant anew, and forget it when it is gone."""
        snapshot = load(tenant_id)
        with self._lock:
            if snapshot is None:
                self._by_tenant.pop(tenant_id, None)
                return None
            self._by_tenant[tenant_id] = snapshot
            for lookup in snapshot.keys:
                self._tenant_of[lookup] = tenant_id
        return snapshot
