"""Any OpenAI-compatible speech server as an engine: `POST /v1/audio/speech`. Loaded by the engine worker.

Options are in _speech_options.py, the wire in _speech_server.py, the audio in _speech_bodies.py; docs/engines.md is for
operators. The model's version is a digest of what the operator states and of what the server says of the model.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import regex

from synth.engines._requests import check, version_digest
from synth.engines._scripts import Unspeakable
from synth.engines._speech_bodies import Wanted, decoded
from synth.engines._speech_options import Options, read_options, variable
from synth.engines._speech_server import BUSY, FAILED, MODELS, TIMEOUT, UNREACHABLE, VOICES, SpeechServer
from synth.engines.base import NO_OPTIONS, References
from synth.errors import EngineUnavailable, Retryable
from synth.types import EngineCard, Pcm, Segment, Voice

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NAME = "openai_http"
# Raise it with every change here or in the modules of this folder that changes the sound of any text.
ADAPTER_VERSION = "1"
# Of what a server says about its model, all that stays the same until the model changes.
STEADY = ("id", "root", "version", "revision")
MOST_VOICES, LONGEST_NAME = 1000, 100
LEAST_PIECE = 0.2
ASK_AGAIN_AFTER = 1.0
_NOT_YET = frozenset({BUSY, FAILED, TIMEOUT, UNREACHABLE})
# Latin letters stand in texts of every language. Languages that are not here are written in them.
_SCRIPTS = {"zh": ("Hani",), "yue": ("Hani",), "ja": ("Hani", "Hira", "Kana"), "ko": ("Hang",)} | (
    dict.fromkeys(("ru", "uk", "bg", "kk"), ("Cyrl",)) | dict.fromkeys(("ar", "fa", "ur"), ("Arab",))
    | {"hi": ("Deva",), "el": ("Grek",), "he": ("Hebr",), "th": ("Thai",)}
)  # fmt: skip


class OpenAiHttp:
    """A server that speaks elsewhere: one request at a time for each process of the worker."""

    def __init__(self, *, threads: int = 1, options: Mapping[str, str] = NO_OPTIONS) -> None:  # noqa: ARG002 - not ours
        self._options = read_options(options)
        self._server = SpeechServer(self._options.base, key=self._options.key, patience=self._options.patience)
        try:
            self._card = _card(self._options, _Probe(self._server, self._options.start_wait))
        except BaseException:
            self.close()
            raise
        scripts = "".join(rf"\p{{scx={script}}}" for script in self._card.scripts)
        self._readable = regex.compile(rf"[{scripts}\p{{sc=Zyyy}}\p{{sc=Zinh}}]")

    @property
    def card(self) -> EngineCard:
        return self._card

    def close(self) -> None:
        self._server.close()

    def synthesize(self, segment: Segment) -> Pcm:
        """Raises Permanent for what the card lacks and for what the server refuses, else Retryable."""
        import numpy as np

        return Pcm(np.concatenate(list(self._sound(segment, whole=True))), self._options.sample_rate)

    def stream(self, segment: Segment, references: References) -> Iterator[Pcm]:  # noqa: ARG002 - it clones nothing
        """As the server sends it, in pieces of a fifth of a second or more; compressed answers in one."""
        import numpy as np

        held: list[NDArray[np.float32]] = []
        for block in self._sound(segment, whole=False):
            held.append(block)
            if sum(map(len, held)) >= LEAST_PIECE * self._options.sample_rate:
                yield Pcm(np.concatenate(held), self._options.sample_rate)
                held = []
        if sum(map(len, held)):
            yield Pcm(np.concatenate(held), self._options.sample_rate)

    def _sound(self, segment: Segment, *, whole: bool) -> Iterator[NDArray[np.float32]]:
        check(segment, self._card)
        self._check_letters(segment.text)
        wanted = Wanted(self._options.form, self._options.sample_rate, self._options.most_seconds)
        return self._server.speak(self._body(segment), partial(decoded, wanted=wanted), whole=whole)

    def _check_letters(self, text: str) -> None:
        """Servers drop what they cannot read, without a word."""
        if not any(char.isalnum() for char in text):
            raise Unspeakable("nothing in it has a sound")
        outside = sum(char.isalpha() and not self._readable.match(char) for char in text)
        if outside:
            raise Unspeakable(f"{outside} letters of a script that this engine cannot read")

    def _body(self, segment: Segment) -> dict[str, Any]:
        manner, options = segment.manner, self._options
        body = {**options.extra, "model": options.model, "input": segment.text, "voice": manner.voice}
        body["response_format"] = options.form
        if options.speed:
            body["speed"] = manner.speed
        if instruction := dict(manner.options).get("instruction"):
            body["instructions"] = instruction
        return body


ENGINE = OpenAiHttp


class _Probe:
    """What the server says of itself when the worker starts; waits for one that is still loading its model."""

    def __init__(self, server: SpeechServer, patience: float) -> None:
        self._server = server
        self._ends_at = time.monotonic() + patience

    def model(self, name: str) -> dict[str, Any]:
        """Its steady facts, none where the server tells nothing of it."""
        page = self._look(MODELS)
        listed = page.get("data") if isinstance(page, dict) else None
        entries = listed if isinstance(listed, list) else []
        known = [entry for entry in entries if isinstance(entry, dict) and entry.get("id") == name]
        return {key: known[0][key] for key in STEADY if key in known[0]} if known else {}

    def voices(self) -> tuple[str, ...]:
        """`{"voices": [...]}` or the list alone, of names or of objects with an id or a name."""
        page = self._look(VOICES)
        listed = page.get("voices") if isinstance(page, dict) else page
        names = [_name_of(entry) for entry in listed] if isinstance(listed, list) else []
        return tuple(dict.fromkeys(name for name in names if 0 < len(name) <= LONGEST_NAME))[:MOST_VOICES]

    def _look(self, path: str) -> Any:
        while True:
            try:
                return self._server.look(path)
            except Retryable as error:
                if error.code not in _NOT_YET or time.monotonic() + ASK_AGAIN_AFTER > self._ends_at:
                    raise EngineUnavailable(f"{error.detail}, asked for {path} at {variable('base_url')}") from error
            time.sleep(ASK_AGAIN_AFTER)


def _name_of(entry: object) -> str:
    if isinstance(entry, dict):
        entry = next((entry[key] for key in ("id", "voice_id", "name") if entry.get(key)), "")
    return entry if isinstance(entry, str) else ""


def _card(options: Options, probe: _Probe) -> EngineCard:
    facts = json.dumps([dict(options.extra), probe.model(options.model)], sort_keys=True)
    stated = (options.version, options.model, options.base, options.form, str(options.sample_rate))
    named = options.voices or dict.fromkeys(probe.voices(), ())
    if not named:
        raise EngineUnavailable(f"the speech server lists no voices: name them in {variable('voices')}.")
    voices = tuple(_voice(options, name, stated=stated) for name, stated in named.items())
    return EngineCard(
        name=NAME,
        model_version=version_digest(ADAPTER_VERSION, *stated, facts, packages=()),
        sample_rate=options.sample_rate,
        languages=options.languages,
        scripts=tuple(dict.fromkeys([*(code for tag in options.languages for code in _scripts(tag)), "Latn"])),
        voices=voices,
        default_voices={language: _default_voice(options, voices, language) for language in options.languages},
        priority=options.priority,
        max_units=options.max_units,
        speed=options.speed,
        controls=frozenset({"instruction"} if options.instructions else ()),
        limits={"max_seconds": options.most_seconds},
    )


def _scripts(language: str) -> tuple[str, ...]:
    return _SCRIPTS.get(language.split("-", 1)[0].lower(), ("Latn",))


def _voice(options: Options, name: str, *, stated: tuple[str, ...]) -> Voice:
    sound = "\n".join((options.base, options.model, name)).encode()
    return Voice(name, NAME, f"sha256:{hashlib.sha256(sound).hexdigest()[:16]}", stated or options.languages, name)


def _default_voice(options: Options, voices: tuple[Voice, ...], language: str) -> str:
    speakers = [voice.name for voice in voices if language in voice.languages]
    wanted = options.default_voices.get(language)
    if not speakers or wanted not in {None, *speakers}:
        lacking = f"the voice {wanted}" if speakers else "no voice"
        raise EngineUnavailable(f"{language} has {lacking}: see {variable('voices')} and {variable('default_voices')}.")
    return wanted or speakers[0]
