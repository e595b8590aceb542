"""A reference is worked out once, by its content, in memory; what is on disk for it is private and gone at once."""

from __future__ import annotations

import stat
import tempfile
from pathlib import Path

import pytest
import soundfile

from synth.engines import _cosyvoice_speakers
from synth.engines.cosyvoice import CosyVoice
from synth.errors import Permanent
from synth.types import Reference
from tests.synth.engines.cosyvoice import Double, double, reference, said

__all__ = ["double"]


@pytest.fixture
def engine(double: Double) -> CosyVoice:
    loaded = double.load(name="CosyVoice-300M")
    double.extracted.clear()
    return loaded


def speak(engine: CosyVoice, like: Reference) -> None:
    engine.synthesize(said(engine, fingerprint=like.fingerprint), {like.fingerprint: like})


def test_a_reference_is_worked_out_once(double: Double, engine: CosyVoice) -> None:
    for transcript in ("", "你好。", "再见。"):
        speak(engine, reference(3.0, transcript=transcript))
    speak(engine, reference(4.0))
    assert len(double.extracted) == 2
    assert [call["prompt"] for call in double.asked] == ["", "你好。", "再见。", ""]


def test_the_file_is_named_by_its_content_and_gone(double: Double, engine: CosyVoice) -> None:
    speak(engine, reference(3.0))
    (path,) = map(Path, double.extracted)
    assert path.name == f"ref-{3000:032x}.wav"
    assert not path.parent.exists()


def test_nobody_else_can_read_the_file(engine: CosyVoice, double: Double, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    load_wav = double.module("cosyvoice.cli.frontend").load_wav

    def looked_at(path: str, *rates: int) -> object:
        seen.append(stat.S_IMODE(Path(path).parent.stat().st_mode))
        return load_wav(path, *rates)

    monkeypatch.setattr(double.module("cosyvoice.cli.frontend"), "load_wav", looked_at)
    speak(engine, reference(3.0))
    assert set(seen) == {0o700}


def test_nothing_stays_of_a_reference_that_cannot_be_worked_out(
    engine: CosyVoice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "private"))
    (tmp_path / "private").mkdir()
    with pytest.raises(Permanent) as caught:
        speak(engine, reference(30.5))
    assert caught.value.code == "reference_too_long"
    assert list((tmp_path / "private").iterdir()) == []


def test_a_reference_under_16_khz_is_raised_to_what_upstream_takes(
    double: Double, engine: CosyVoice, monkeypatch: pytest.MonkeyPatch
) -> None:
    rates: list[int] = []
    write = soundfile.write
    monkeypatch.setattr(soundfile, "write", lambda *given, **more: (rates.append(given[2]), write(*given, **more)))
    speak(engine, reference(3.0, rate=8_000))
    speak(engine, reference(4.0, rate=48_000))
    assert rates == [16_000, 48_000]


def test_the_one_used_longest_ago_makes_room(
    double: Double, engine: CosyVoice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine._speakers, "_kept", 2)
    first, second, third = reference(3.0), reference(4.0), reference(5.0)
    for like in (first, second, first, third, first, second):
        speak(engine, like)
    assert [Path(path).stem[-4:] for path in double.extracted] == ["0bb8", "0fa0", "1388", "0fa0"]
    kept = [name for name in engine._upstream.speakers if name.startswith(_cosyvoice_speakers._PREFIX)]
    assert len(kept) == 2


def test_memory_that_is_given_back_is_worked_out_again(double: Double, engine: CosyVoice) -> None:
    speak(engine, reference(3.0))
    engine.release_memory()
    assert not [name for name in engine._upstream.speakers if name.startswith(_cosyvoice_speakers._PREFIX)]
    speak(engine, reference(3.0))
    assert len(double.extracted) == 2


def test_a_cloned_voice_cannot_take_the_place_of_a_preset(engine: CosyVoice) -> None:
    names = {voice.name for voice in engine.card.voices}
    speak(engine, reference(3.0))
    assert names < set(engine._upstream.speakers)
    assert {voice.name for voice in engine.card.voices} == names


def test_the_models_directory_is_never_written_to(double: Double, engine: CosyVoice, tmp_path: Path) -> None:
    directory = tmp_path / "CosyVoice-300M"
    before = {path: path.stat().st_mtime_ns for path in directory.rglob("*")}
    speak(engine, reference(3.0))
    assert {path: path.stat().st_mtime_ns for path in directory.rglob("*")} == before
