"""Upstream's own CosyVoice on tiny random checkpoints, one of each version, for the tests of this folder."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
import soundfile

from synth.engines.cosyvoice import CosyVoice
from synth.types import Manner, Pcm, Reference, Segment
from tests.engines_torch.conftest import Checkouts
from tests.engines_torch.cosyvoice_checkpoint import write_checkpoint

VERSIONS = (1, 2, 3)
_OPENING = "You are a helpful assistant.<|endofprompt|>"


class Tiny:
    """Loads engines from tiny models; `folder` lasts as long as the test run."""

    def __init__(self, checkouts: Checkouts) -> None:
        self.code = checkouts.of("REFRAIN_COSYVOICE_CODE")
        self._folder = TemporaryDirectory(prefix="refrain-tiny-cosyvoice-")
        self.options = {"code": str(self.code)}
        if matcha := checkouts.named("REFRAIN_COSYVOICE_MATCHA"):
            self.options["matcha"] = matcha
        self._loaded = cache(self._load)
        self.model_dir = cache(self._model_dir)

    def _model_dir(self, version: int) -> Path:
        _on_path(self.options)
        directory = write_checkpoint(Path(self._folder.name) / f"version{version}", self.code, version)
        if version > 1:
            self._save_a_clone(directory)
        return directory

    def engine(self, version: int, *, stream: str = "no") -> CosyVoice:
        """One of several in this process, which upstream does not foresee: its windows and filters are global."""
        self.model_dir(version)
        self._forget_windows()
        return self._loaded(version, stream)

    def _forget_windows(self) -> None:
        from matcha.utils import audio

        audio.mel_basis.clear()
        audio.hann_window.clear()

    def _load(self, version: int, stream: str) -> CosyVoice:
        options = {**self.options, "model_dir": str(self.model_dir(version)), "stream": stream}
        return CosyVoice(threads=1, options=options)

    def _save_a_clone(self, directory: Path) -> None:
        """As an operator saves a voice with upstream's own code: for the second and third model the only way."""
        import torch

        self._forget_windows()
        upstream = CosyVoice(threads=1, options={**self.options, "model_dir": str(directory)})._upstream.cosyvoice
        path = directory / "prompt.wav"
        pcm = reference(3.0).pcm
        soundfile.write(path, pcm.samples, pcm.sample_rate)
        opening = _OPENING if directory.name.endswith("3") else ""
        upstream.add_zero_shot_spk(f"{opening}希望你好。", str(path), "saved")
        known = {name: entry for name, entry in upstream.frontend.spk2info.items() if name == "saved"}
        torch.save(known, directory / "spk2info.pt")


def _on_path(options: dict[str, str]) -> None:
    import sys

    code = options["code"]
    for path in (code, options.get("matcha", f"{code}/third_party/Matcha-TTS")):
        if path not in sys.path:
            sys.path.append(path)


@pytest.fixture(scope="session")
def tiny(checkouts: Checkouts) -> Tiny:
    return Tiny(checkouts)


def reference(seconds: float = 3.0, *, rate: int = 24_000, language: str = "zh", transcript: str = "") -> Reference:
    """A buzz with something in all of its bands."""
    draw = np.random.default_rng(int(seconds * 1000))
    at = np.arange(int(seconds * rate)) / rate
    samples = 0.2 * np.sign(np.sin(2 * np.pi * 40 * seconds * at)) * np.abs(np.sin(6 * at)) + 0.01 * draw.normal(
        size=len(at)
    )
    return Reference(f"ref:{int(seconds * 1000):032x}", Pcm(samples.astype(np.float32), rate), language, transcript)


def said(
    engine: CosyVoice, text: str, *, like: Reference | None = None, language: str = "zh", **manner: Any
) -> Segment:
    voice = "cloned" if like else engine.card.default_voices[language]
    own = {known.name: known.fingerprint for known in engine.card.voices}
    made = Manner(
        engine=engine.card.name,
        model_version=engine.card.model_version,
        voice=voice,
        voice_fingerprint=like.fingerprint if like else own[voice],
        language=language,
        normaliser=1,
        splitter=1,
        **manner,
    )
    return Segment(made, text)
