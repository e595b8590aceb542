"""The options of openai_http: strings from the environment to one typed value, or a sentence on what is wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from synth.engines._flags import flag
from synth.engines._speech_server import Patience
from synth.errors import EngineUnavailable
from synth.types import SpeedRange

FORMATS = ("wav", "pcm", "flac", "mp3", "opus")
# The body's own fields: no extra may take their place.
OWN_FIELDS = frozenset({"model", "input", "voice", "response_format", "speed", "instructions"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """`voices` maps names to the languages stated with them, none where the voice speaks all."""

    base: str
    key: str
    model: str
    version: str
    voices: Mapping[str, tuple[str, ...]]
    default_voices: Mapping[str, str]
    languages: tuple[str, ...]
    speed: SpeedRange | None
    sample_rate: int
    form: str
    instructions: bool
    extra: Mapping[str, Any]
    priority: int
    max_units: int
    most_seconds: float
    start_wait: float
    patience: Patience


def read_options(given: Mapping[str, str]) -> Options:
    """Raises EngineUnavailable."""
    spoken = _words(_text(given, "languages", "zh,en"))
    languages = tuple(dict.fromkeys(tag.split("-", 1)[0].lower() for tag in spoken))
    return Options(
        base=_base(_text(given, "base_url")),
        key=_key(_text(given, "api_key")),
        model=_text(given, "model", "tts-1"),
        version=_text(given, "version"),
        voices=dict(_voice(word, languages) for word in _words(_text(given, "voices"))),
        default_voices=_pairs(_text(given, "default_voices")),
        languages=languages,
        speed=_speed(_text(given, "speed", "0.5-2.0")),
        sample_rate=int(_number(given, "sample_rate", 24_000)),
        form=_form(_text(given, "response_format", "wav")),
        instructions=flag(given, "instructions", variable=variable("instructions")),
        extra=_extra(_text(given, "extra_body")),
        priority=int(_number(given, "priority", 40)),
        max_units=int(_number(given, "max_units", 400)),
        most_seconds=_number(given, "max_seconds", 300),
        start_wait=_number(given, "start_wait", 60),
        patience=Patience(
            connect=_number(given, "connect_timeout", 3),
            read=_number(given, "read_timeout", 20),
            whole=_number(given, "timeout", 50),
            tries=int(_number(given, "tries", 3)),
            most_bytes=int(_number(given, "max_bytes", 32 * 2**20)),
        ),
    )


def variable(option: str) -> str:
    """The environment variable that sets it, for sentences to the operator."""
    return f"REFRAIN_OPENAI_{option.upper()}"


def _text(given: Mapping[str, str], option: str, default: str = "") -> str:
    return given.get(option, "").strip() or default


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _wrong(option: str, takes: str) -> EngineUnavailable:
    return EngineUnavailable(f"{variable(option)} takes {takes}.")


def _number(given: Mapping[str, str], option: str, default: float) -> float:
    try:
        return float(_text(given, option, str(default)))
    except ValueError as error:
        raise _wrong(option, "a number") from error


def _base(text: str) -> str:
    """Without a trailing `/v1`, which the path of each request has."""
    if not text:
        raise EngineUnavailable(f"{variable('base_url')} is not set: the address of the speech server.")
    try:
        url = urlsplit(text)
        port = url.port
    except ValueError as error:
        raise _wrong("base_url", "an address such as http://speech.internal:8000") from error
    if url.scheme not in {"http", "https"} or not url.hostname:
        raise _wrong("base_url", "an address such as http://speech.internal:8000")
    if url.username or url.password or url.query or url.fragment:
        raise _wrong("base_url", f"an address without a login or a query; the key goes to {variable('api_key')}")
    host = f"[{url.hostname}]" if ":" in url.hostname else url.hostname
    place = f"{host}:{port}" if port else host
    return urlunsplit((url.scheme, place, url.path.rstrip("/").removesuffix("/v1"), "", ""))


def _key(text: str) -> str:
    if not (text.isascii() and text.isprintable()):
        raise _wrong("api_key", "printable ASCII")
    return text


def _voice(word: str, languages: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """`zf_xiaobei:zh` and `alloy:zh/en` state languages; a colon before anything else is part of the name."""
    name, _, stated = word.rpartition(":")
    spoken = tuple(stated.split("/"))
    if name and set(spoken) <= set(languages):
        return name, spoken
    return word, ()


def _pairs(text: str) -> dict[str, str]:
    """`zh=zf_xiaobei,en=alloy`."""
    pairs = {}
    for word in _words(text):
        language, parted, voice = word.partition("=")
        if not parted:
            raise _wrong("default_voices", "pairs such as zh=zf_xiaobei,en=alloy")
        pairs[language.strip()] = voice.strip()
    return pairs


def _speed(text: str) -> SpeedRange | None:
    """`0.5-2.0`; `1` or `1-1` for a server that has one speed."""
    least, _, most = text.partition("-")
    try:
        speed = SpeedRange(float(least), float(most or least))
    except ValueError as error:
        raise _wrong("speed", "a range such as 0.5-2.0") from error
    if not 0 < speed.minimum <= 1 <= speed.maximum:
        raise _wrong("speed", "a range around 1 such as 0.5-2.0")
    return speed if speed.minimum < speed.maximum else None


def _form(text: str) -> str:
    if text not in FORMATS:
        raise _wrong("response_format", f"one of {', '.join(FORMATS)}")
    return text


def _extra(text: str) -> dict[str, Any]:
    try:
        extra = json.loads(text or "{}")
    except ValueError as error:
        raise _wrong("extra_body", "a JSON object") from error
    if not isinstance(extra, dict) or OWN_FIELDS & extra.keys():
        raise _wrong("extra_body", f"a JSON object without {', '.join(sorted(OWN_FIELDS))}")
    return extra
