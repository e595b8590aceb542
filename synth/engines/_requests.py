"""What engines refuse that their cards do not offer, how they load, and how they name what they loaded."""

import hashlib
import importlib.metadata
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from synth.errors import EngineUnavailable, Permanent
from synth.types import EngineCard, Segment

# A library that would fetch a model at run time finds the door shut. ONNX Runtime's wheel, unless it is told not to,
# keeps a telemetry database in the home folder and sends it away.
_OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "ORT_DISABLE_TELEMETRY": "1"}


@contextmanager
def loading(name: str, *, requirements: str = "requirements/engines.txt") -> Iterator[None]:
    """Offline while an engine loads; a missing package or file becomes EngineUnavailable with its name."""
    os.environ.update(_OFFLINE)
    try:
        yield
    except ImportError as error:
        missing = error.name or error
        raise EngineUnavailable(f"{name} needs {missing}, which is not installed: install {requirements}") from error
    except OSError as error:
        raise EngineUnavailable(f"{name} cannot read its model: {error}") from error


def version_digest(*parts: str, packages: tuple[str, ...]) -> str:
    """`sha256:` and 16 hex digits over the parts and the versions of the packages that change the sound."""
    versions = [f"{package}=={importlib.metadata.version(package)}" for package in packages]
    return "sha256:" + hashlib.sha256("\n".join((*parts, *versions)).encode()).hexdigest()[:16]


def file_digest(path: Path) -> str:
    """SHA-256, 64 hexadecimal digits. Weights are gigabytes: read in blocks, a few seconds, once a start."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check(segment: Segment, card: EngineCard) -> str:
    """The segment's language as the card names it.

    Raises Permanent for a voice, a language, a speed or a control that the card does not offer.
    """
    manner = segment.manner
    language = manner.language.split("-", 1)[0].lower()
    if language not in card.languages:
        raise Permanent(f"{card.name} does not speak {manner.language}", code="unsupported_language")
    if manner.voice not in {voice.name for voice in card.voices}:
        raise Permanent(f"{card.name} has no voice {manner.voice}", code="unknown_voice")
    if card.speed and not card.speed.minimum <= manner.speed <= card.speed.maximum:
        raise Permanent(f"{card.name} speaks at {card.speed.minimum} to {card.speed.maximum}", code="unsupported_speed")
    asked: dict[str, object] = {
        "duration": manner.duration,
        "emotion": manner.emotion,
        "pronunciations": manner.pronunciations,
    }
    asked |= {"seed": manner.seed is not None, **dict(manner.options)}
    lacking = sorted(name for name, value in asked.items() if value and name not in card.controls)
    if lacking:
        raise Permanent(f"{card.name} has no control of {', '.join(lacking)}", code="unsupported_control")
    return language
