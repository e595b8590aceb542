"""The controls of a request: one vocabulary over all engines. What an engine lacks is refused, never dropped."""

from collections.abc import Mapping, Sequence
from typing import Any

from synth.fields import Fields
from synth.keys import voice_on
from synth.text.normalise import normalise
from synth.text.pinyin import canonical_pinyin
from synth.text.scripts import characters_outside
from synth.types import Emotion, EngineCard, Pronunciation, Spec, Voice
from tenants.errors import untranslated as _

SLOWEST, FASTEST = 0.5, 2.0
MAX_SEED = 2**32 - 1
MAX_PRONUNCIATIONS = 100
MAX_PRONOUNCED = 200
INSTRUCTION = "instruction"
KINDS = ("pinyin", "ipa", "alias")
MAX_INSTRUCTION = 500
OPTIONAL = ("duration", "emotion", "pronunciations", "seed", "options")
WAYS = ("name", "vector", "text", "reference")
NEUTRAL_EMOTIONS = frozenset({"neutral", "default"})


def read_controls(
    fields: Fields,
    card: EngineCard,
    cards: Sequence[EngineCard],
    voices: Mapping[str, Voice],
    *,
    keeps_time: bool = True,
) -> dict[str, Any]:
    """The keyword arguments of a Manner. Neutral values are as good as absent ones, so that they give one key.

    `voices` are those that the caller may name as the reference of an emotion. Unless the engine `keeps_time`, the
    duration is no matter of how it speaks.
    """
    controls: dict[str, Any] = {
        "speed": round(fields.number("speed", default=1.0, minimum=SLOWEST, maximum=FASTEST), 3),
        "duration": read_duration(fields) if keeps_time else None,
        "emotion": _emotion(fields, voices),
        "pronunciations": _pronunciations(fields),
        "seed": fields.integer("seed", minimum=0, maximum=MAX_SEED),
        "options": _options(fields),
    }
    _check_speed(fields, controls["speed"], card, cards)
    _check_controls(fields, controls, card, cards)
    return controls


def lacking(card: EngineCard, spec: Spec) -> str:
    """What keeps a version of an engine from speaking what another one has spoken: a code, or ''."""
    manner = spec.manner
    voice = voice_on(card, manner)
    if voice is None:
        return "voice_gone"
    if manner.language not in voice.languages:
        return "unsupported_language"
    if characters_outside(spec.text, card.scripts):
        return "unspeakable_characters"
    # Asked as a request would be: one place says what an engine can do.
    fields = Fields({})
    _check_speed(fields, manner.speed, card, ())
    _check_controls(fields, {name: getattr(manner, name) for name in OPTIONAL}, card, ())
    return "unsupported_control" if fields.refused else ""


def _check_controls(fields: Fields, controls: dict[str, Any], card: EngineCard, cards: Sequence[EngineCard]) -> None:
    asked = [name for name in OPTIONAL if controls[name] not in (None, ())]
    for name in (INSTRUCTION if name == "options" else name for name in asked):
        if name not in card.controls:
            _refuse_control(fields, name, card, cards)
    _check_emotion(fields, controls["emotion"], card)
    _check_pronunciations(fields, controls["pronunciations"], card)


def _check_speed(fields: Fields, speed: float, card: EngineCard, cards: Sequence[EngineCard]) -> None:
    if speed == 1.0:
        return
    if card.speed is None:
        able = ", ".join(other.name for other in cards if other.speed) or "-"
        message = _("The engine %(engine)s has no control of speed. Engines that have it: %(engines)s.")
        fields.refuse("speed", "unsupported_control", message, engine=card.name, engines=able)
    elif not card.speed.minimum <= speed <= card.speed.maximum:
        bounds = {"minimum": card.speed.minimum, "maximum": card.speed.maximum}
        message = _("The engine %(engine)s speaks at a speed from %(minimum)s to %(maximum)s.")
        fields.refuse("speed", "out_of_range", message, allowed=bounds, engine=card.name, **bounds)


def _check_emotion(fields: Fields, emotion: Emotion | None, card: EngineCard) -> None:
    """What an engine says nothing about, it takes."""
    if emotion is None or "emotion" not in card.controls:
        return
    way = next(way for way in WAYS if getattr(emotion, way) is not None)
    if card.emotion_ways and way not in card.emotion_ways:
        message = _("The engine %(engine)s takes no emotion by %(way)s; it takes it by: %(ways)s.")
        params = {"engine": card.name, "way": way, "ways": ", ".join(card.emotion_ways)}
        fields.refuse("emotion", "unsupported_control", message, allowed=list(card.emotion_ways), **params)
    elif emotion.name is not None and card.emotions and emotion.name not in card.emotions:
        message = _("The engine %(engine)s has no emotion %(emotion)s; it has: %(emotions)s.")
        params = {"engine": card.name, "emotion": emotion.name, "emotions": ", ".join(card.emotions)}
        fields.refuse("emotion", "not_allowed", message, allowed=list(card.emotions), **params)
    elif emotion.vector is not None and card.emotion_values and len(emotion.vector) != card.emotion_values:
        message = _("The engine %(engine)s takes a vector of %(values)s numbers.")
        fields.refuse("emotion.vector", "not_a_vector", message, engine=card.name, values=card.emotion_values)
    elif emotion.vector is not None and _too_strong(emotion, most := float(card.limits.get("emotion_sum", "inf"))):
        message = _("For the engine %(engine)s the numbers, times the strength, add up to at most %(maximum)s.")
        allowed = {"maximum": most}
        fields.refuse("emotion.vector", "out_of_range", message, allowed=allowed, engine=card.name, maximum=most)


def _too_strong(emotion: Emotion, most: float) -> bool:
    return sum(emotion.vector or ()) * emotion.strength > most + 1e-6


def _check_pronunciations(fields: Fields, pronunciations: Sequence[Pronunciation], card: EngineCard) -> None:
    if "pronunciations" not in card.controls:
        return
    for position, item in enumerate(pronunciations):
        name = f"pronunciations[{position}]"
        if card.pronunciation_kinds and item.kind not in card.pronunciation_kinds:
            message = _("The engine %(engine)s takes no %(kind)s; it takes: %(kinds)s.")
            kinds = ", ".join(card.pronunciation_kinds)
            fields.refuse(name, "unsupported_control", message, engine=card.name, kind=item.kind, kinds=kinds)
        elif item.kind == "pinyin" and (unknown := _unknown_syllables(item.value, card)):
            message = _("The engine %(engine)s cannot say %(syllables)s.")
            fields.refuse(name, "unknown_syllable", message, engine=card.name, syllables=", ".join(unknown))


def _unknown_syllables(pinyin: str, card: EngineCard) -> list[str]:
    return [syllable for syllable in pinyin.split() if syllable not in card.syllables] if card.syllables else []


def _refuse_control(fields: Fields, name: str, card: EngineCard, cards: Sequence[EngineCard]) -> None:
    able = ", ".join(other.name for other in cards if name in other.controls) or "-"
    message = _("The engine %(engine)s has no control of %(control)s. Engines that have it: %(engines)s.")
    fields.refuse(name, "unsupported_control", message, engine=card.name, control=name, engines=able)


def read_duration(fields: Fields) -> float | None:
    """Seconds of the whole."""
    if not fields.given("duration"):
        return None
    return round(fields.number("duration", default=1.0, minimum=0.1, maximum=600), 3)


def _options(fields: Fields) -> tuple[tuple[str, str], ...]:
    instruction = normalise(fields.text(INSTRUCTION, default="", maximum=MAX_INSTRUCTION, controls=True))
    return ((INSTRUCTION, instruction),) if instruction else ()


def _emotion(fields: Fields, voices: Mapping[str, Voice]) -> Emotion | None:
    """A name, or an object with exactly one of name, vector, text and reference, and a strength of 0 to 1."""
    value = fields.value("emotion")
    if value is None:
        return None
    if isinstance(value, str):
        value = {"name": value}
    if not isinstance(value, dict):
        fields.refuse("emotion", "not_an_emotion", _("This must be a name or an object."))
        return None
    inner = fields.inner("emotion", value)
    inner.refuse_unknown({*WAYS, "strength"})
    emotion = Emotion(
        name=normalise(inner.text("name", default="", maximum=64)).lower() or None,
        vector=_vector(inner),
        text=normalise(inner.text("text", default="", maximum=500, controls=True)) or None,
        reference=_reference(inner, voices),
        strength=round(inner.number("strength", default=1.0, minimum=0, maximum=1), 3),
    )
    if inner.refused:
        return None
    if [getattr(emotion, way) for way in WAYS].count(None) != len(WAYS) - 1:
        fields.refuse("emotion", "not_an_emotion", _("Give exactly one of name, vector, text and reference."))
        return None
    return None if emotion.name in NEUTRAL_EMOTIONS or emotion.strength == 0 else emotion


def _reference(fields: Fields, voices: Mapping[str, Voice]) -> str | None:
    """The fingerprint of the voice that is named: its name may come to mean another sound."""
    name = fields.text("reference", default="", maximum=128)
    if not name:
        return None
    voice = voices.get(name)
    if voice is None or not voice.cloned:
        message = _("There is no uploaded voice %(voice)s to take the emotion from.")
        fields.refuse("reference", "unknown_voice", message, voice=name)
        return None
    return voice.fingerprint


def _vector(fields: Fields) -> tuple[float, ...] | None:
    value = fields.value("vector")
    if value is None:
        return None
    numbers = isinstance(value, list) and all(
        isinstance(item, (int, float)) and not isinstance(item, bool) for item in value
    )
    if not numbers or not 1 <= len(value) <= 64 or not all(0 <= item <= 1 for item in value):
        fields.refuse("vector", "not_a_vector", _("This must be a list of numbers from 0 to 1."))
        return None
    return tuple(round(float(item), 3) for item in value)


def _pronunciations(fields: Fields) -> tuple[Pronunciation, ...]:
    value = fields.value("pronunciations")
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > MAX_PRONUNCIATIONS:
        message = _("This must be a list of at most %(maximum)s objects.")
        fields.refuse("pronunciations", "not_a_list", message, maximum=MAX_PRONUNCIATIONS)
        return ()
    found = [_pronunciation(fields, position, item) for position, item in enumerate(value)]
    return tuple(item for item in found if item is not None)


def _pronunciation(fields: Fields, position: int, item: Any) -> Pronunciation | None:
    name = f"pronunciations[{position}]"
    inner = fields.inner(name, item if isinstance(item, dict) else {})
    inner.refuse_unknown({"text", *KINDS})
    return pronunciation_of(inner, name, told=fields)


def pronunciation_of(fields: Fields, name: str, *, told: Fields | None = None) -> Pronunciation | None:
    """The text and its one reading among these fields; what is wrong with both is told as of `name`."""
    told = told or fields
    kinds = [kind for kind in KINDS if fields.given(kind)]
    if len(kinds) != 1 or not fields.given("text"):
        message = _("Give text and exactly one of pinyin, ipa and alias, as strings.")
        told.refuse(name, "not_a_pronunciation", message)
        return None
    kind = kinds[0]
    text = normalise(fields.text("text", maximum=MAX_PRONOUNCED, controls=True))
    given = fields.text(kind, maximum=MAX_PRONOUNCED, controls=True)
    if fields.refused:
        return None
    value = canonical_pinyin(given) if kind == "pinyin" else normalise(given)
    if not value or not text:
        message = _("%(value)s is no %(kind)s.")
        told.refuse(name, "not_a_pronunciation", message, value=given if text else "text", kind=kind)
        return None
    return Pronunciation(text, kind, value)
