"""Equal samples give equal bytes: now, again, and in another process. Other samples give another digest."""

import hashlib
import subprocess
import sys

import pytest

from synth.audio.encoding import encode_clip
from synth.audio.formats import format_names, get_format

from .signals import speech_like

PROGRAM = """
from synth.audio.encoding import encode_clip
from synth.audio.formats import format_names, get_format
from tests.synth.audio.signals import speech_like
for name in format_names():
    bitrate = get_format(name).default_bitrate_for(16000)
    print(encode_clip(speech_like(), format=name, sample_rate=16000, bitrate=bitrate).digest)
"""


def _digests() -> list[str]:
    clips = [
        encode_clip(speech_like(), format=name, sample_rate=16000, bitrate=get_format(name).default_bitrate_for(16000))
        for name in format_names()
    ]
    return [clip.digest for clip in clips]


def test_the_same_samples_give_the_same_digest_here_and_in_another_process() -> None:
    elsewhere = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True)
    assert _digests() == _digests() == elsewhere.stdout.split()


@pytest.mark.parametrize("name", format_names())
def test_other_samples_give_another_digest(name: str) -> None:
    bitrate = get_format(name).default_bitrate_for(24000)
    one, other = (
        encode_clip(speech_like(seed=seed), format=name, sample_rate=24000, bitrate=bitrate) for seed in (1, 2)
    )
    assert one.digest != other.digest


def test_a_clip_tells_what_it_holds() -> None:
    clip = encode_clip(speech_like(1.5), format="pcm", sample_rate=8000, bitrate=None)
    assert clip.digest == hashlib.sha256(clip.data).hexdigest()
    assert (clip.format, clip.media_type, clip.sample_rate) == ("pcm", "audio/pcm;rate=8000", 8000)
    assert (clip.duration, len(clip.data)) == (1.5, 2 * 12000)


def test_warming_up_loads_what_a_rendition_needs() -> None:
    program = """
import sys
from synth.audio.encoding import warm_up
warm_up()
print({"soundfile", "lameenc", "fastcrc", "soxr", "pyloudnorm", "scipy.ndimage"} - set(sys.modules))
"""
    ran = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert ran.stdout.strip() == "set()"
