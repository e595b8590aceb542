"""The serial number of an Ogg stream follows from its content, and every page's checksum stays right."""

import struct
from pathlib import Path

import pytest

from synth.audio.container import write_file
from synth.audio.ogg import page_checksum, with_stable_serial

from .signals import decoded, speech_like


def _opus(seed: int = 1) -> bytes:
    pcm = speech_like(3.0, seed=seed)
    return write_file(pcm.samples, sample_rate=24000, container="OGG", subtype="OPUS")


def _pages(data: bytes) -> list[bytes]:
    return [b"OggS" + page for page in data.split(b"OggS")[1:]]


def _serials(data: bytes) -> set[bytes]:
    return {page[14:18] for page in _pages(data)}


def test_libsndfile_draws_serials_at_random_and_they_become_one() -> None:
    first, second = _opus(), _opus()
    assert first != second, "libsndfile's serials are stable now: this work is no longer needed"
    assert with_stable_serial(first) == with_stable_serial(second)


def test_other_sound_gets_another_serial() -> None:
    assert _serials(with_stable_serial(_opus(1))) != _serials(with_stable_serial(_opus(2)))


def test_our_checksum_is_the_one_that_libogg_wrote() -> None:
    for page in _pages(_opus()):
        blank = page[:22] + bytes(4) + page[26:]
        assert struct.pack("<I", page_checksum(blank)) == page[22:26]


def test_a_rewritten_stream_decodes_to_the_same_samples(tmp_path: Path) -> None:
    stream = _opus()
    before, after = decoded(stream, tmp_path, rate=48000), decoded(with_stable_serial(stream), tmp_path, rate=48000)
    assert len(before.samples) > 0
    assert before.samples.tobytes() == after.samples.tobytes()


def test_rewriting_twice_changes_nothing_more() -> None:
    once = with_stable_serial(_opus())
    assert with_stable_serial(once) == once


@pytest.mark.parametrize("data", [b"RIFF" + bytes(60), _opus()[:-10], _opus()[:20]], ids=["other", "cut", "header"])
def test_what_is_no_whole_ogg_stream_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="Ogg page"):
        with_stable_serial(data)
