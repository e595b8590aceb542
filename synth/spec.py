"""Input -> Spec: normalise, fill in, refuse. Pure: knows JSON values and a snapshot, no request and no row."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from synth.audio.formats import Format, format_names, get_format
from synth.controls import read_controls, read_duration
from synth.errors import ServiceUnavailable
from synth.fields import Fields, refusal
from synth.lexicon import said_as
from synth.snapshot import Snapshot
from synth.text.normalise import NORMALISER_VERSION, is_speakable, normalise
from synth.text.scripts import characters_outside, detect_language
from synth.text.split import SPLITTER_VERSION
from synth.types import CacheMode, Delivery, EngineCard, Manner, Output, Spec, Voice
from tenants.encryption import EncryptionKeyRequired
from tenants.errors import untranslated as _

MAX_CHARACTERS = 100_000
MAX_WAITING_CHARACTERS = 5_000
MAX_WAIT = 60.0
DEFAULT_WAIT = 30.0
DEFAULT_FORMAT = "mp3"
MAX_METADATA = 4096
MAX_CALLBACK = 2000
FIELDS = frozenset(
    {"text", "voice", "language", "speed", "duration", "emotion", "pronunciations", "seed", "instruction"}
    | {"format", "sample_rate", "bitrate", "category", "cache", "wait", "delivery", "metadata", "callback"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechRequest:
    """A request that can be spoken. Only `spec` goes into keys. With a `callback` nobody waits for it."""

    spec: Spec
    cache: CacheMode = CacheMode.USE
    wait: float = DEFAULT_WAIT
    delivery: Delivery = Delivery.URL
    category: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    callback: str = ""

    @property
    def characters(self) -> int:
        return len(self.spec.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """What the operator sets for every rendition: LUFS, and ms of silence between sentences."""

    loudness: float
    pause_ms: int


def read_request(payload: Any, snapshot: Snapshot, *, house: House, own_key: str | None = None) -> SpeechRequest:
    """Turn a JSON body into a request. `own_key` is the id of the tenant's own key that came with it.

    Raises InvalidSpeech with every field that is wrong, ServiceUnavailable while no engine has published a card,
    EncryptionKeyRequired where the tenant keeps its speech under a key of its own and none came.
    """
    if snapshot.own_keys is not None and own_key is None:
        raise EncryptionKeyRequired
    fields = Fields(payload)
    fields.refuse_unknown(FIELDS)
    text = _text(fields)
    if not snapshot.cards:
        raise ServiceUnavailable(_("No speech engine has started yet."), code="no_engine", retry_after=5)
    card, voice, language = _who_speaks(fields, text, snapshot)
    stretched = snapshot.time_stretch and "duration" not in card.controls
    controls = read_controls(fields, card, snapshot.by_preference, snapshot.voices, keeps_time=not stretched)
    said: dict[str, Any] = {"language": language, "card": card}
    text, controls["pronunciations"] = said_as(text, controls["pronunciations"], snapshot.lexicon, **said)
    if len(text) > MAX_CHARACTERS:
        message = _("With your lexicon's aliases in it this has more than %(maximum)s characters.")
        fields.refuse("text", "too_long", message, maximum=MAX_CHARACTERS, allowed={"maximum": MAX_CHARACTERS})
    output = _output(fields, house, duration=read_duration(fields) if stretched else None)
    wait = fields.number("wait", default=DEFAULT_WAIT, minimum=0, maximum=MAX_WAIT)
    request = SpeechRequest(
        spec=Spec(
            manner=Manner(
                engine=card.name,
                model_version=card.model_version,
                voice=voice.name,
                voice_fingerprint=voice.fingerprint,
                language=language,
                normaliser=NORMALISER_VERSION,
                splitter=SPLITTER_VERSION,
                encryption_key_id=own_key or snapshot.key_id,
                **controls,
            ),
            text=text,
            output=output,
        ),
        cache=CacheMode(fields.choice("cache", tuple(CacheMode), default=CacheMode.USE)),
        wait=wait if len(text) <= MAX_WAITING_CHARACTERS else 0,
        delivery=Delivery(fields.choice("delivery", tuple(Delivery), default=Delivery.URL)),
        category=fields.text("category", default="", maximum=64),
        metadata=fields.json_object("metadata", maximum_bytes=MAX_METADATA),
        callback=fields.text("callback", default="", maximum=MAX_CALLBACK),
    )
    fields.raise_if_wrong()
    return request


def _text(fields: Fields) -> str:
    raw = fields.text("text", maximum=MAX_CHARACTERS, controls=True)
    fields.raise_if_wrong()  # nothing below makes sense without the text
    text = normalise(raw)
    if not is_speakable(text):
        fields.refuse("text", "nothing_to_say", _("The text holds no letter and no digit: there is nothing to say."))
        fields.raise_if_wrong()
    return text


def _who_speaks(fields: Fields, text: str, snapshot: Snapshot) -> tuple[EngineCard, Voice, str]:
    """The engine, its voice and the language, from what the caller named and, where nothing was, from the text."""
    asked = fields.text("language", default="", maximum=35)
    name = fields.text("voice", default="", maximum=128)
    fields.raise_if_wrong()
    if name:
        voice = snapshot.voices.get(name)
        if voice is None:
            raise refusal(
                "voice", "unknown_voice", _("There is no voice %(voice)s. GET /v1/voices lists them."), voice=name
            )
        card = snapshot.cards[voice.engine]
        language = _language_of_voice(asked, text, voice)
    else:
        card, language = _card_for(asked, text, snapshot)
        voice = _voice_named(card, card.default_voices[language])
    _refuse_unspeakable(text, card, snapshot)
    return card, voice, language


def _language_of_voice(asked: str, text: str, voice: Voice) -> str:
    if asked:
        language = _matching(asked, voice.languages)
        if language is None:
            message = _("The voice %(voice)s does not speak %(language)s; it speaks: %(languages)s.")
            params = {"voice": voice.name, "language": asked, "languages": ", ".join(voice.languages)}
            raise refusal("language", "unsupported_language", message, allowed=list(voice.languages), **params)
        return language
    return _matching(detect_language(text), voice.languages) or voice.languages[0]


def _card_for(asked: str, text: str, snapshot: Snapshot) -> tuple[EngineCard, str]:
    """The preferred engine that has a voice for the language, and of these the first whose scripts cover the text."""
    wanted = asked or detect_language(text)
    able = [(card, language) for card in snapshot.by_preference if (language := _matching(wanted, card.default_voices))]
    if not able:
        spoken = sorted({language for card in snapshot.by_preference for language in card.default_voices})
        message = _("No engine here speaks %(language)s by default; there are: %(languages)s.")
        params = {"language": wanted, "languages": ", ".join(spoken)}
        raise refusal("language", "unsupported_language", message, allowed=spoken, **params)
    covering = (pair for pair in able if not characters_outside(text, pair[0].scripts))
    return next(covering, able[0])


def _refuse_unspeakable(text: str, card: EngineCard, snapshot: Snapshot) -> None:
    outside = characters_outside(text, card.scripts)
    if not outside:
        return
    able = [other.name for other in snapshot.by_preference if not characters_outside(text, other.scripts)]
    message = _("The engine %(engine)s cannot speak: %(characters)s. Engines that can: %(engines)s.")
    params = {"engine": card.name, "characters": " ".join(outside), "engines": ", ".join(able) or "-"}
    raise refusal("text", "unspeakable_characters", message, **params)


def _output(fields: Fields, house: House, *, duration: float | None) -> Output:
    name = fields.choice("format", format_names(), default=DEFAULT_FORMAT)
    chosen = get_format(name)
    rate = fields.integer_choice("sample_rate", chosen.sample_rates, default=chosen.default_sample_rate)
    return Output(
        format=name,
        sample_rate=rate,
        bitrate=_bitrate(fields, chosen, rate),
        loudness=house.loudness,
        pause_ms=house.pause_ms,
        duration=duration,
    )


def _bitrate(fields: Fields, chosen: Format, rate: int) -> int | None:
    allowed = chosen.bitrates_for(rate)
    if not allowed:
        if fields.given("bitrate"):
            fields.refuse("bitrate", "not_for_this_format", _("%(format)s has no bitrate."), format=chosen.name)
        return None
    return fields.integer_choice("bitrate", allowed, default=chosen.default_bitrate_for(rate))


def _matching(wanted: str, languages: Any) -> str | None:
    """The language of an engine that a BCP 47 tag asks for: itself, or its primary language."""
    by_tag = {language.lower(): language for language in languages}
    tag = wanted.lower().replace("_", "-")
    found: str | None = by_tag.get(tag) or by_tag.get(tag.partition("-")[0])
    return found


def _voice_named(card: EngineCard, name: str) -> Voice:
    return next(voice for voice in card.voices if voice.name == name)
