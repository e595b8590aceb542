"""The upload of a voice, read from its form: what is wrong with each field, and which engine is to clone it."""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from typing import Any

import orjson
from django.core.files.uploadedfile import UploadedFile
from django.utils import timezone
from django.utils.dateparse import parse_date

from synth.errors import ConsentRequired
from synth.fields import Fields, moment_of
from synth.service import Consent, VoiceOrder
from synth.text.normalise import normalise
from synth.types import EngineCard
from tenants.errors import untranslated as _

FIELDS = frozenset({"file", "name", "language", "engine", "transcript", "consent"})
MOST_NAME = 64
MOST_TRANSCRIPT = 1_000
MOST_WORDING = 10_000
# What has a meaning in an address or an id.
NAME = re.compile(r"(?!vox_)[^/\x00-\x1f\x7f]+")


def read_voice(payload: Any, cards: Sequence[EngineCard]) -> tuple[VoiceOrder, Any]:
    """What is wanted, and the file. `cards` are those of all engines, the preferred ones first.

    Raises InvalidSpeech and ConsentRequired.
    """
    fields = Fields(dict(payload.items()))
    fields.refuse_unknown(FIELDS)
    upload = _file(fields)
    name = _name(fields, cards)
    language = fields.text("language", maximum=35)
    said = fields.text("transcript", default="", maximum=MOST_TRANSCRIPT, controls=True)
    transcript = " ".join(normalise(said).split())
    engine = fields.text("engine", default="", maximum=64)
    fields.raise_if_wrong()
    card, spoken = _who_clones(fields, engine, language, cards)
    if card.cloning and card.cloning.needs_transcript and not transcript:
        message = _("The engine %(engine)s has to know what is said in the file.")
        fields.refuse("transcript", "required", message, engine=card.name)
    fields.raise_if_wrong()
    order = VoiceOrder(
        name=name, engine=card.name, language=spoken, transcript=transcript, consent=_consent(fields.value("consent"))
    )
    return order, upload


def digest_of(form: Any) -> bytes:
    """Of what a form says: its boundary, the order of its fields and the name of the file do not matter."""
    digest = sha256()
    for name, values in sorted(form.lists()):
        for value in values:
            digest.update(sha256(name.encode(errors="surrogatepass")).digest())
            digest.update(_digest_of_value(value))
    return digest.digest()


def _digest_of_value(value: Any) -> bytes:
    if not isinstance(value, UploadedFile):
        return sha256(str(value).encode(errors="surrogatepass")).digest()
    digest = sha256(b"file\0")
    for chunk in value.chunks():
        digest.update(chunk)
    return digest.digest()


def _file(fields: Fields) -> Any:
    upload = fields.value("file")
    if upload is None:
        fields.refuse("file", "required", _("This field is required."))
    elif not isinstance(upload, UploadedFile):
        fields.refuse("file", "not_a_file", _("This must be a file."))
    elif not upload.size:
        fields.refuse("file", "empty_file", _("The file is empty."))
    return upload


def _name(fields: Fields, cards: Sequence[EngineCard]) -> str:
    given = fields.text("name", maximum=MOST_NAME)
    name = normalise(given)
    if given and not NAME.fullmatch(name):
        message = _("A name holds no slash and does not begin with vox_.")
        fields.refuse("name", "not_allowed", message)
    elif any(voice.name == name for card in cards for voice in card.voices):
        fields.refuse("name", "name_taken", _("There is a voice %(voice)s that everyone has."), voice=name)
    return name


def _who_clones(fields: Fields, engine: str, language: str, cards: Sequence[EngineCard]) -> tuple[EngineCard, str]:
    """The engine, and the language as it names it."""
    able = [card for card in cards if card.cloning]
    chosen = [card for card in able if not engine or card.name == engine]
    names = ", ".join(card.name for card in able) or "-"
    if not chosen:
        message = _("The engine %(engine)s clones no voices. Engines that do: %(engines)s.")
        fields.refuse("engine", "cannot_clone", message, engine=engine or "-", engines=names)
        fields.raise_if_wrong()
    for card in chosen:
        spoken = _matching(language, card)
        if spoken:
            return card, spoken
    languages = sorted({tag for card in chosen for tag in (card.cloning.languages if card.cloning else ())})
    message = _("No voice is cloned in %(language)s by %(engines)s; languages: %(languages)s.")
    told = {"language": language, "engines": engine or names, "languages": ", ".join(languages)}
    fields.refuse("language", "unsupported_language", message, allowed=languages, **told)
    raise fields.problem()


def _matching(wanted: str, card: EngineCard) -> str | None:
    by_tag = {tag.lower(): tag for tag in (card.cloning.languages if card.cloning else ())}
    asked = wanted.lower().replace("_", "-")
    return by_tag.get(asked) or by_tag.get(asked.partition("-")[0])


def _consent(given: Any) -> Consent:
    """A JSON object in a field of the form: who, when, wording. All of it, or no voice."""
    try:
        told = orjson.loads(given) if isinstance(given, str) else None
    except orjson.JSONDecodeError:
        told = None
    if not isinstance(told, dict) or not all(told.get(part) for part in ("who", "when", "wording")):
        raise ConsentRequired
    fields = Fields({}).inner("consent", told)
    fields.refuse_unknown({"who", "when", "wording"})
    consent = Consent(
        who=fields.text("who", maximum=200).strip(),
        when=_when(fields),
        wording=fields.text("wording", maximum=MOST_WORDING).strip(),
    )
    fields.raise_if_wrong()
    if not consent.who or not consent.wording:
        raise ConsentRequired
    return consent


def _when(fields: Fields) -> str:
    """A day, or a time with its offset from UTC, that is not yet to come."""
    text = fields.text("when", maximum=40).strip()
    if fields.refused:
        return text
    moment = _moment(text)
    if moment is None:
        fields.refuse("when", "invalid", _("This must be a day or a time with its offset from UTC, in ISO 8601."))
    elif moment > timezone.now() + timedelta(days=1):  # the day has begun elsewhere
        fields.refuse("when", "out_of_range", _("This lies in the future."))
    return text


def _moment(text: str) -> datetime | None:
    try:
        day: date | None = parse_date(text) if len(text) == 10 else None
    except ValueError:
        return None
    return datetime(day.year, day.month, day.day, tzinfo=UTC) if day else moment_of(text)
