"""Sounds made on the spot for the audio tests, and what ffmpeg and ffprobe say of encoded bytes."""

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from synth.types import Pcm

OF_AN_INPUT = r"Duration: .*bitrate: (\d+) kb/s\n\s+Stream #\d+:0.*?: Audio: (\w+).*?(?:, (\d+) kb/s)?\n"
INSTALL = "is not installed; the audio tests need it: apt-get install -y ffmpeg"


def speech_like(seconds: float = 2.0, rate: int = 24000, *, level: float = 0.1, seed: int = 7) -> Pcm:
    """A voiced buzz with some breath, swelling three times a second: loud and quiet parts as in speech."""
    time = np.arange(round(seconds * rate)) / rate
    top = min(rate / 2, 3500)
    voice = sum(np.sin(2 * np.pi * pitch * time) / rank for rank, pitch in enumerate(np.arange(120, top, 120), 1))
    breath = 0.3 * np.random.default_rng(seed).standard_normal(len(time))
    swell = 0.55 - 0.45 * np.cos(2 * np.pi * 3 * time)
    return Pcm((level * swell * (voice + breath)).astype(np.float32), rate)


def sine(seconds: float, rate: int = 24000, *, pitch: float = 220.0, level: float = 0.5) -> Pcm:
    time = np.arange(round(seconds * rate)) / rate
    return Pcm((level * np.cos(2 * np.pi * pitch * time)).astype(np.float32), rate)


def square(seconds: float, rate: int = 24000, *, pitch: float = 220.0, level: float = 0.5) -> Pcm:
    """As loud as its peak."""
    tone = sine(seconds, rate, pitch=pitch, level=1.0)
    return Pcm((level * np.sign(tone.samples)).astype(np.float32), rate)


def clicks(seconds: float, rate: int = 24000) -> Pcm:
    """A hiss that nobody hears, with single samples that stand out."""
    pcm = speech_like(seconds, rate, level=0.0003)
    samples = pcm.samples.copy()
    samples[:: rate // 4] = 0.02
    return Pcm(samples, rate)


def silence(seconds: float, rate: int = 24000) -> Pcm:
    return Pcm(np.zeros(round(seconds * rate), dtype=np.float32), rate)


def after(*pieces: Pcm) -> Pcm:
    return Pcm(np.concatenate([piece.samples for piece in pieces]), pieces[0].sample_rate)


def tool(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise AssertionError(f"{name} {INSTALL}")
    return path


def probe(data: bytes, tmp_path: Path, *, demuxer: tuple[str, ...] = ()) -> dict[str, Any]:
    """What ffprobe reads: the only stream, and the container's duration and bit rate."""
    file = tmp_path / "clip"
    file.write_bytes(data)
    command = [tool("ffprobe"), "-v", "error", *demuxer, "-show_format", "-show_streams", "-of", "json", str(file)]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    (stream,) = answer["streams"]
    return stream | {"container": answer["format"]}


def decoded(data: bytes, tmp_path: Path, *, rate: int) -> Pcm:
    """What ffmpeg would play."""
    file = tmp_path / "clip"
    file.write_bytes(data)
    command = [tool("ffmpeg"), "-v", "error", "-i", str(file), "-f", "f32le", "-ac", "1", "-ar", str(rate), "-"]
    played = subprocess.run(command, check=True, capture_output=True).stdout
    return Pcm(np.frombuffer(played, dtype="<f4").astype(np.float32), rate)


@dataclass(frozen=True)
class Played:
    """What ffmpeg says of a clip: its codec, the bits per second of file and stream (0: not told), what it plays."""

    codec: str
    file_bitrate: int
    stream_bitrate: int
    samples: np.ndarray


def played(clips: Sequence[bytes], tmp_path: Path, *, rate: int) -> list[Played]:
    """All by one ffmpeg, since to start it costs more than to decode a clip."""
    files = [tmp_path / f"clip{number}" for number in range(len(clips))]
    command = [tool("ffmpeg"), "-hide_banner", "-nostdin"]
    for file, data in zip(files, clips, strict=True):
        file.write_bytes(data)
        command += ["-i", str(file)]
    for number, file in enumerate(files):
        command += ["-map", f"{number}:a", "-f", "f32le", "-ac", "1", "-ar", str(rate), f"{file}.f32"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    inputs = re.findall(
        r"Duration: .*bitrate: (\d+) kb/s\n\s+Stream #\d+:0.*?: Audio: (\w+).*?(?:, (\d+) kb/s)?\n", said
    )
    return [
        Played(codec, 1000 * int(of_file), 1000 * int(of_stream or 0), np.fromfile(f"{file}.f32", dtype="<f4"))
        for file, (of_file, codec, of_stream) in zip(files, inputs, strict=True)
    ]


def ebur128(pcm: Pcm) -> tuple[float, float]:
    """Integrated loudness in LUFS and true peak in dBFS, by ffmpeg's own meter."""
    source = ["-f", "f32le", "-ar", str(pcm.sample_rate), "-ac", "1", "-i", "-"]
    command = [tool("ffmpeg"), "-hide_banner", *source, "-af", "ebur128=peak=true", "-f", "null", "-"]
    ran = subprocess.run(command, check=True, capture_output=True, input=pcm.samples.astype("<f4").tobytes())
    summary = ran.stderr.decode().rpartition("Summary:")[2]
    return _figure(summary, r"I:\s+(\S+) LUFS"), _figure(summary, r"Peak:\s+(\S+) dBFS")


def _figure(summary: str, pattern: str) -> float:
    match = re.search(pattern, summary)
    assert match, summary
    return float(match.group(1))
