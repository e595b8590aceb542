"""Says which TTL rule applies to a request, why the others do not, and what is stored of it. For the admin."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from synth import wiring
from synth.audio.formats import format_names
from synth.cache.policy import Retention, Subject, Verdict, explain
from synth.keys import segment_key
from synth.models import Entry, Policy
from synth.service.catalogue import LONG_AGO
from synth.service.orders import segments_of
from synth.snapshot import Snapshot, load, policies_of, rule_of, subject_of
from synth.spec import SpeechRequest, read_request
from synth.text.normalise import normalise
from synth.text.scripts import detect_language
from tenants.errors import NotFound
from tenants.types import TenantRef

SERVED = ("fresh", "stale")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A request as far as rules look at it. Without an engine or a voice the API's own choice counts."""

    text: str
    voice: str = ""
    engine: str = ""
    category: str = ""


@dataclass(frozen=True, slots=True)
class StoredForm:
    """What is stored in one format. `state` is fresh, stale, expired or absent; `age` is seconds."""

    format: str
    state: str
    entry: Entry | None = None
    age: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """`verdicts` are in the order in which the rules are tried; `rows` are the rules by public id."""

    subject: Subject
    retention: Retention
    verdicts: list[Verdict]
    rows: Mapping[str, Policy]
    forms: list[StoredForm]
    sentences: int
    stored_sentences: int


def explain_request(tenant: TenantRef, question: Question) -> Explanation:
    """Raises InvalidSpeech for what the API would refuse too, NotFound, and ServiceUnavailable without an engine."""
    snapshot = load(tenant.id)
    if snapshot is None:
        raise NotFound
    payload = _payload(question, snapshot)
    requests = {
        name: read_request({**payload, "format": name}, snapshot, house=wiring.house()) for name in format_names()
    }
    request = next(iter(requests.values()))
    subject = subject_of(request.spec, request.category)
    retention = snapshot.retention_of(request.spec, request.category)
    rows = {row.public_id: row for row in policies_of(tenant).select_related("tenant")}
    keys = _sentence_keys(request, snapshot)
    stored = Entry.objects.filter(tenant_id=tenant.id, kind=Entry.Kind.SEGMENT, key__in=keys)
    return Explanation(
        subject=subject,
        retention=retention,
        verdicts=explain((rule_of(row) for row in rows.values()), subject),
        rows=rows,
        forms=_forms(
            tenant, {name: snapshot.keys_of(asked.spec, retention) for name, asked in requests.items()}, retention
        ),
        sentences=len(keys),
        stored_sentences=sum(_state(entry, retention) == "fresh" for entry in stored.defer("text")),
    )


def _payload(question: Question, snapshot: Snapshot) -> dict[str, str]:
    payload = {"text": question.text, "category": question.category}
    voice = question.voice or _default_voice(question, snapshot)
    if voice:
        payload["voice"] = f"{question.engine}/{voice}" if question.engine and "/" not in voice else voice
    return payload


def _default_voice(question: Question, snapshot: Snapshot) -> str:
    """What the named engine takes for the text's language."""
    card = snapshot.cards.get(question.engine)
    if card is None or not card.voices:
        return ""
    return card.default_voices.get(detect_language(normalise(question.text)), card.voices[0].name)


def _sentence_keys(request: SpeechRequest, snapshot: Snapshot) -> set[str]:
    max_units = snapshot.cards[request.spec.manner.engine].max_units
    return {segment_key(segment) for segment in segments_of(request.spec, max_units=max_units)}


def _forms(tenant: TenantRef, keys: Mapping[str, Sequence[str]], retention: Retention) -> list[StoredForm]:
    """Of each format what would be served: an earlier model's, where there is nothing newer that may be."""
    every = [key for names in keys.values() for key in names]
    rows = Entry.objects.filter(tenant_id=tenant.id, kind=Entry.Kind.RENDITION, key__in=every)
    entries = {entry.key: entry for entry in rows.defer("text")}
    found = {name: [_form(name, entries.get(key), retention) for key in names] for name, names in keys.items()}
    return [_first_served(forms) for forms in found.values()]


def _first_served(forms: Sequence[StoredForm]) -> StoredForm:
    own, older = forms[0], forms[1:]
    if own.state in SERVED:
        return own
    return next((replace(form, state="stale") for form in older if form.state in SERVED), own)


def _form(name: str, entry: Entry | None, retention: Retention) -> StoredForm:
    if entry is None or entry.made_at <= LONG_AGO:  # its audio is lost
        return StoredForm(name, "absent")
    return StoredForm(name, _state(entry, retention), entry, _age(entry))


def _state(entry: Entry, retention: Retention) -> str:
    age = _age(entry)
    if age <= retention.max_age or entry.pinned:
        return "fresh"
    return "stale" if age <= retention.last_age else "expired"


def _age(entry: Entry) -> float:
    return max(0.0, time.time() - entry.made_at.timestamp())
