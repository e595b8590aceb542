"""What IndexTTS is told of an emotion: the keyword arguments of `infer`. Used by indextts.py; imports nothing heavy."""

from __future__ import annotations

from typing import Any

from synth.errors import Permanent
from synth.types import Emotion

ORDER = ("happy", "angry", "sad", "afraid", "disgusted", "melancholic", "surprised", "calm")
WAYS = ("name", "vector", "reference", "text")
# Upstream mixes the emotion in with `1 - sum` of the voice's own: past 1 that turns negative, and its own
# interfaces bring every vector down to 0.8.
MOST = 0.8
# One emotion alone as upstream's `normalize_emo_vec` makes it: turned down where it sounds strange, at most 0.8.
NAMED = dict(zip(ORDER, (0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.6875, 0.5625), strict=True))


def way_of(emotion: Emotion, ways: tuple[str, ...]) -> str:
    """Which of the ways it is told in. Raises Permanent for none or several, and for one that is not offered."""
    told = [way for way in WAYS if getattr(emotion, way) is not None]
    if len(told) != 1:
        raise Permanent("indextts takes an emotion in exactly one way", code="unsupported_control")
    if told[0] not in ways:
        raise Permanent(f"indextts takes no emotion by {told[0]} here", code="unsupported_control")
    return told[0]


def vector_of(emotion: Emotion) -> list[float]:
    """The eight numbers of a named emotion or of a vector, with its strength in them.

    Raises Permanent for an unknown name, another length, and numbers that upstream's mixing is not made for: a
    vector is refused then and never changed, since the caller would not get what was asked for.
    """
    if emotion.name is not None:
        if emotion.name not in NAMED:
            raise Permanent(f"indextts has the emotions {', '.join(ORDER)}", code="unsupported_control")
        values = [NAMED[name] if name == emotion.name else 0.0 for name in ORDER]
    else:
        values = list(emotion.vector or ())
    if len(values) != len(ORDER):
        raise Permanent(f"an emotion vector has {len(ORDER)} numbers: {', '.join(ORDER)}", code="unsupported_control")
    scaled = [round(value * emotion.strength, 4) for value in values]
    if min(scaled) < 0 or sum(scaled) > MOST + 1e-6:
        detail = f"the numbers of an emotion vector, times its strength, are 0 or more and add up to at most {MOST}"
        raise Permanent(detail, code="unsupported_control")
    return scaled


def vector_of_scores(scores: dict[str, Any], strength: float) -> list[float]:
    """The eight numbers for what upstream's emotion model read from a text: brought down to 0.8, then to the strength.

    It may give each emotion up to 1.2. Nobody asked for these very numbers, so they may be scaled.
    """
    values = [max(float(scores.get(name, 0.0)), 0.0) for name in ORDER]
    scale = min(1.0, MOST / max(sum(values), 1e-9)) * strength
    return [round(value * scale, 4) for value in values]
