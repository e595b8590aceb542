"""References as IndexTTS wants them: a file while it is read, and then what upstream has worked out of it.

Upstream keeps the features of one file, by its path: another sound at the same path would speak with the old voice.
So files are named by their samples, live only while they are read, and the features of several voices are kept here.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from synth.types import Pcm, Reference

SECONDS = 15.0  # upstream cuts there
KEPT = 16
_SPEAKER = "cache_spk_audio_prompt"
_FEELING = "cache_emo_audio_prompt"
# The attributes in which upstream keeps what it has worked out, under the one that names the file.
_FEATURES = {
    _SPEAKER: ("cache_spk_cond", "cache_s2mel_style", "cache_s2mel_prompt", "cache_mel"),
    _FEELING: ("cache_emo_cond",),
}


class Voices:
    """What one loaded model knows of references: bounded, the least recently used go first."""

    def __init__(self, model: Any, *, kept: int = KEPT) -> None:
        self._model = model
        self._most = kept
        self._features: OrderedDict[tuple[str, str], tuple[Any, ...]] = OrderedDict()
        self._folder = tempfile.TemporaryDirectory(prefix="refrain-indextts-")  # for nobody else to read

    @contextmanager
    def ready(self, speaker: Reference, feeling: Reference | None) -> Iterator[tuple[str, str | None]]:
        """The paths to hand to `infer`: of the speaker, and of the emotion where that is another sound.

        A file is there only where upstream has yet to read it.
        """
        paths = {_SPEAKER: self._path(speaker), _FEELING: self._path(feeling or speaker)}
        sounds = {_SPEAKER: speaker, _FEELING: feeling or speaker}
        try:
            for name, path in paths.items():
                if not self._recall(name, str(path)):
                    _write(path, sounds[name].pcm)
            yield str(paths[_SPEAKER]), str(paths[_FEELING]) if feeling else None
            for name, path in paths.items():
                self._keep(name, str(path))
        except BaseException:
            self.forget_current()  # upstream may have stopped between two of them
            raise
        finally:
            for path in paths.values():
                path.unlink(missing_ok=True)

    def forget_current(self) -> None:
        """Take from upstream what it keeps of the last references."""
        for name, features in _FEATURES.items():
            for attribute in (name, *features):
                setattr(self._model, attribute, None)

    def forget_all(self) -> None:
        """Also what is kept here: after an out-of-memory error."""
        self.forget_current()
        self._features.clear()

    def _path(self, reference: Reference) -> Path:
        pcm = _cut(reference.pcm)
        digest = hashlib.sha256(str(pcm.sample_rate).encode() + b"\n" + pcm.samples.tobytes()).hexdigest()
        return Path(self._folder.name) / f"{digest}.wav"

    def _recall(self, name: str, path: str) -> bool:
        """Put back what was worked out of a file; False, and nothing left of another file's, where nothing was."""
        features = self._features.get((name, path))
        given = features or (None,) * len(_FEATURES[name])
        setattr(self._model, name, path if features else None)
        for attribute, value in zip(_FEATURES[name], given, strict=True):
            setattr(self._model, attribute, value)
        return features is not None

    def _keep(self, name: str, path: str) -> None:
        if getattr(self._model, name) != path:
            return
        self._features[name, path] = tuple(getattr(self._model, attribute) for attribute in _FEATURES[name])
        self._features.move_to_end((name, path))
        while len(self._features) > self._most * len(_FEATURES):
            self._features.popitem(last=False)


def _cut(pcm: Pcm) -> Pcm:
    return Pcm(pcm.samples[: int(SECONDS * pcm.sample_rate)], pcm.sample_rate)


def _write(path: Path, pcm: Pcm) -> None:
    import soundfile

    cut = _cut(pcm)
    soundfile.write(path, cut.samples, cut.sample_rate, format="WAV", subtype="FLOAT")
