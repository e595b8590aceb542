"""Recordings to clone, as uploads of them: a buzz that swells like speech, by each speaker at a pitch of its own."""

from __future__ import annotations

import io
import json
from functools import cache
from typing import Any

import numpy as np
import soundfile

RATE = 16_000
CONSENT = {"who": "Anna Li", "when": "2026-11-01", "wording": "You may let your machines speak with my voice."}


@cache
def samples(speaker: int, *, seconds: float = 3.5) -> np.ndarray:
    """Different for each speaker, the same each time; on the steps of 16 bits."""
    time = np.arange(round(seconds * RATE)) / RATE
    pitch = 100 + 17 * speaker
    voice = sum(np.sin(2 * np.pi * pitch * rank * time) / rank for rank in range(1, 8))
    swell = np.clip(np.sin(2 * np.pi * 1.5 * time), 0, None)
    breath = 0.002 * np.random.default_rng(speaker).standard_normal(len(time))
    return np.round((0.15 * swell * voice + breath) * 32_767).astype(np.int16)


def recording(speaker: int = 1, *, container: str = "WAV", seconds: float = 3.5) -> bytes:
    file = io.BytesIO()
    soundfile.write(file, samples(speaker, seconds=seconds), RATE, format=container, subtype="PCM_16")
    return file.getvalue()


def form(data: bytes | None = None, **fields: Any) -> dict[str, Any]:
    """The fields of an upload for Django's client; one that is None is left out."""
    file = io.BytesIO(recording() if data is None else data)
    file.name = "anna.wav"
    given = {"file": file, "name": "anna", "language": "en", "engine": "counting", "consent": CONSENT, **fields}
    if isinstance(given["consent"], dict):
        given["consent"] = json.dumps(given["consent"])
    return {name: value for name, value in given.items() if value is not None}
