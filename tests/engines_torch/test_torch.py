"""The environment of the engines that need torch: what they import is there and goes together."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest
import soundfile

from synth.engines._cosyvoice_upstream import load_wav


@pytest.mark.parametrize(
    "name",
    [
        "torch",
        "torchaudio",
        "transformers",
        "onnxruntime",
        "hyperpyyaml",
        "whisper",
        "lightning",
        "diffusers",
        "conformer",
    ],
)
def test_what_upstream_imports_is_there(name: str) -> None:
    importlib.import_module(name)


@pytest.mark.parametrize(("rate", "target"), [(48_000, 16_000), (16_000, 24_000), (24_000, 24_000)])
def test_references_are_read_and_resampled_without_torchcodec(tmp_path: Path, rate: int, target: int) -> None:
    at = np.arange(rate) / rate
    stereo = np.stack([np.sin(2 * np.pi * 440 * at), np.zeros(rate)], axis=1)
    soundfile.write(tmp_path / "sound.wav", stereo, rate, subtype="FLOAT")
    speech = load_wav(str(tmp_path / "sound.wav"), target)
    assert tuple(speech.shape) == (1, target)
    spectrum = np.abs(np.fft.rfft(speech[0].numpy()))
    assert int(spectrum.argmax()) == 440
    assert float(speech.abs().max()) == pytest.approx(0.5, abs=0.02)


def test_a_file_below_16_khz_is_refused(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "sound.wav", np.zeros(8_000), 8_000)
    with pytest.raises(ValueError, match="16000"):
        load_wav(str(tmp_path / "sound.wav"), 16_000)
