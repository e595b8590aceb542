"""CosyVoice's double for the tests of its adapter: a checkout and a model's directory, and engines loaded from them."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from synth.engines._cosyvoice_upstream import _Silence
from synth.engines.cosyvoice import CosyVoice
from synth.types import Manner, Pcm, Reference, Segment

CODE = Path(__file__).resolve().parents[2] / "engines" / "cosyvoice_upstream"
IMPORTED = ("cosyvoice", "matcha", "torch", "torchaudio")
SENTENCE = "今天我们去公园散步吧。"
PRESETS = {
    "中文女": {"embedding": [[0.1, 0.2]]},
    "英文男": {"embedding": [[0.3, 0.4]]},
    "日语男": {"embedding": [[0.5, 0.6]]},
    "粤语女": {"embedding": [[0.7, 0.8]]},
    "韩语女": {"embedding": [[0.9, 1.0]]},
}
SAVED = {"prompt_text": [[ord(char) for char in "<|endofprompt|>saved"]], "prompt_text_len": [20]} | {
    "llm_prompt_speech_token": [[1, 2]],
    "prompt_speech_feat": [[[0.0]]],
    "llm_embedding": [[0.2, 0.1]],
    "flow_embedding": [[0.2, 0.1]],
}
FAMILIES = {"v1": ("cosyvoice.yaml", "v1"), "v2": ("cosyvoice2.yaml", "v2"), "v3": ("cosyvoice3.yaml", "v3")}


@dataclass
class Double:
    """Makes models' directories, and looks at what the double of upstream was asked."""

    root: Path
    options: dict[str, str] = field(default_factory=lambda: {"code": str(CODE)})

    def model_dir(self, family: str = "v1", *, name: str = "model-SFT", voices: Any = PRESETS) -> Path:
        directory = self.root / name
        directory.mkdir()
        yaml, tokenizer = FAMILIES[family]
        for file in (yaml, "llm.pt", "flow.pt", "hift.pt", "campplus.onnx", f"speech_tokenizer_{tokenizer}.onnx"):
            (directory / file).write_text(f"{family} {file}")
        (directory / "CosyVoice-BlankEN").mkdir()
        (directory / "spk2info.pt").write_text(json.dumps(voices))
        return directory

    def load(self, family: str = "v1", *, name: str = "model-SFT", voices: Any = PRESETS, **options: str) -> CosyVoice:
        directory = self.model_dir(family, name=name, voices=voices)
        engine = CosyVoice(threads=1, options={**self.options, "model_dir": str(directory), **options})
        self.asked.clear()
        return engine

    @property
    def asked(self) -> list[dict[str, Any]]:
        asked: list[dict[str, Any]] = self.module("cosyvoice.cli.model").asked
        return asked

    @property
    def extracted(self) -> list[str]:
        extracted: list[str] = self.module("cosyvoice.cli.frontend").extracted
        return extracted

    def module(self, name: str) -> ModuleType:
        return sys.modules[name]


@pytest.fixture
def double(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Double]:
    """The doubles of CosyVoice and torch, importable while the test runs; this process is left as it was."""
    packages = tmp_path / "packages"
    for package in ("torch", "torchaudio", "transformers"):
        metadata = packages / f"{package}-1.dist-info" / "METADATA"
        metadata.parent.mkdir(parents=True)
        metadata.write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1\n")
    for path in (packages, CODE / "packages"):
        monkeypatch.syspath_prepend(str(path))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    root = logging.getLogger()
    level = root.level
    _forget()
    yield Double(tmp_path)
    _forget()
    root.setLevel(level)
    root.filters[:] = [entry for entry in root.filters if not isinstance(entry, _Silence)]


def _forget() -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] in IMPORTED]:
        del sys.modules[name]


def said(engine: CosyVoice, text: str = SENTENCE, *, voice: str = "", language: str = "zh", **manner: Any) -> Segment:
    """A segment in a preset voice, or like the reference whose fingerprint is given."""
    voice = voice or engine.card.default_voices.get(language, "cloned")
    own = {known.name: known.fingerprint for known in engine.card.voices}
    made = Manner(
        engine=engine.card.name,
        model_version=engine.card.model_version,
        voice=voice,
        voice_fingerprint=manner.pop("fingerprint", own.get(voice, "")),
        language=language,
        normaliser=1,
        splitter=1,
        **manner,
    )
    return Segment(made, text)


def reference(seconds: float = 3.0, *, rate: int = 24_000, language: str = "zh", transcript: str = "") -> Reference:
    """A tone whose pitch is its length's, so that two of them are two sounds."""
    at = np.arange(int(seconds * rate)) / rate
    samples = (0.3 * np.sin(2 * np.pi * 100 * seconds * at)).astype(np.float32)
    return Reference(f"ref:{int(seconds * 1000):032x}", Pcm(samples, rate), language, transcript)
