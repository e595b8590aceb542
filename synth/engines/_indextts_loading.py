"""Loads IndexTTS from a user's checkout and weights: says first what is missing, since upstream would download it, and
afterwards what does not fit, since upstream would speak with it. Used by indextts.py in the engine worker alone.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import logging
import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

from synth.engines import _indextts_files as files
from synth.engines._indextts_files import Places, is_on
from synth.engines._indextts_numbers import Numbers, Torch
from synth.engines._indextts_release import Release
from synth.engines._indextts_text import read_vocabulary
from synth.engines._indextts_voices import KEPT
from synth.engines._requests import loading as offline
from synth.engines._requests import version_digest
from synth.errors import EngineUnavailable, Permanent, Retryable
from synth.types import Manner, Pcm, Reference, Segment

if TYPE_CHECKING:
    from synth.engines.indextts import IndexTTS

NAME = "indextts"
# Raise it with every change here or in the modules of this engine that changes the sound of any text.
ADAPTER_VERSION = "1"
PACKAGES = ("torch", "torchaudio", "transformers", "librosa", "numpy")
# Of the parameters of a part, so many may be missing in its file: some of upstream's parts are for training alone.
MISSING_AT_MOST = 0.05
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A model of upstream's and what its engine has to know of it."""

    model: Any
    release: Release
    numbers: Numbers
    vocabulary: frozenset[str]
    version: str
    device: str
    reads_emotion: bool = False
    voices_kept: int = KEPT


def load(options: Mapping[str, str], *, threads: int) -> Loaded:
    """Raises EngineUnavailable with the setting, file, package or part that is at fault."""
    places = files.places(options)
    vocabulary = read_vocabulary([places.model / "pinyin.vocab", places.code / "checkpoints" / "pinyin.vocab"])
    weights = files.digest_of_weights(places, options.get("digests", ""))
    with offline(NAME), _imports_named():
        module = _upstream(places)
        numbers = Torch(threads=threads)
        model = _construct(module, places, options)
        device = str(model.device)
        half = str(getattr(model, places.release.half))  # upstream drops it where the device has none
        parts = (ADAPTER_VERSION, places.release.name, weights, files.digest_of_code(places.code), half)
        version = version_digest(*parts, packages=PACKAGES)
    return Loaded(
        model=model,
        release=places.release,
        numbers=numbers,
        vocabulary=vocabulary,
        version=version,
        device=numbers.named(device),
        reads_emotion=is_on(options, "emotion_text"),
        voices_kept=int(options.get("voices_kept") or KEPT),
    )


def warm_up(engine: IndexTTS) -> None:
    """Speak once, like a hum. That the model says nothing here does not tell that it cannot speak."""
    card = engine.card
    reference = Reference("warm-up", _hum(), "en")
    manner = Manner(
        engine=NAME,
        model_version=card.model_version,
        voice="warm-up",
        voice_fingerprint=reference.fingerprint,
        language="zh",
        normaliser=0,
        splitter=0,
    )
    try:
        engine.synthesize(Segment(manner, "你好。"), {reference.fingerprint: reference})
    except Retryable as error:
        logger.warning("indextts's first words failed: %s", error)
    except Permanent as error:
        raise EngineUnavailable(f"indextts cannot speak: {error.detail}") from None


def _hum() -> Pcm:
    import numpy as np

    at = np.arange(3 * 22_050) / 22_050
    tones = sum(np.sin(2 * np.pi * 120 * overtone * at) / overtone for overtone in range(1, 20))
    return Pcm((0.2 * (1 + np.sin(2 * np.pi * 3 * at)) * tones / 2).astype(np.float32), 22_050)


def _upstream(places: Places) -> ModuleType:
    """Upstream's module, from the checkout: at the end of the path, where its folders called tests and tools hide
    none of this program's.
    """
    if str(places.code) not in sys.path:
        sys.path.append(str(places.code))
    with _hushed():
        return importlib.import_module(places.release.module)


def _construct(module: ModuleType, places: Places, options: Mapping[str, str]) -> Any:
    release = places.release
    arguments: dict[str, Any] = {
        "cfg_path": str(places.config),
        "model_dir": str(places.model),
        release.half: is_on(options, "fp16"),
        "device": options.get("device") or None,
        "use_cuda_kernel": is_on(options, "cuda_kernel"),
        "use_qwen_emo": is_on(options, "emotion_text"),
    }
    if release.takes_aux_paths:
        arguments["aux_paths"] = {name: str(places.aux / file) for name, file in release.aux.items()}
    with _watched() as fits, _hushed():
        try:
            model = module.IndexTTS2(**arguments)
        except (ImportError, OSError):
            raise
        except Exception as error:
            raise EngineUnavailable(f"{NAME}'s model cannot be loaded: {error}") from error
    parts = {"gpt.pth": model.gpt, **{f"s2mel.pth ({name})": part for name, part in model.s2mel.models.items()}}
    check_fits({name: fits.get(id(part), Fit(_parameters(part), _parameters(part))) for name, part in parts.items()})
    return model


@dataclass(frozen=True, slots=True)
class Fit:
    """How many parameters a part of the model has, and how many of them its file did not give."""

    parameters: int
    missing: int


def check_fits(fits: Mapping[str, Fit]) -> None:
    """Raises EngineUnavailable for a part whose file is another model's: upstream only warns, and makes noise."""
    for name, fit in fits.items():
        if fit.missing > MISSING_AT_MOST * fit.parameters:
            detail = f"{name} does not fit {NAME}: {fit.missing} of {fit.parameters} parameters are not in it"
            raise EngineUnavailable(detail)
        if fit.missing:
            logger.warning("%s: %d of %d parameters are not in it", name, fit.missing, fit.parameters)


@contextmanager
def _watched() -> Iterator[dict[int, Fit]]:
    """What torch says of each loading meanwhile: upstream asks it to pass over what does not fit, and then does so."""
    from torch.nn import Module

    fits: dict[int, Fit] = {}
    original = Module.load_state_dict

    def load_state_dict(self: Module, *args: Any, **kwargs: Any) -> Any:
        # Counted before: a loaded model may grow parts that share their parameters.
        own = {name for name, _ in self.named_parameters()}
        result = original(self, *args, **kwargs)
        fits[id(self)] = Fit(len(own), len(own.intersection(result.missing_keys)))
        return result

    Module.load_state_dict = load_state_dict
    try:
        yield fits
    finally:
        Module.load_state_dict = original


def _parameters(part: Any) -> int:
    return sum(1 for _ in part.parameters())


@contextmanager
def _imports_named() -> Iterator[None]:
    """A package that is missing is one of upstream's, not of this program's own requirements."""
    try:
        yield
    except ImportError as error:
        detail = f"{NAME} needs {error.name or error}, which is not installed: docs/engines/indextts.md says how"
        raise EngineUnavailable(detail) from error


@contextmanager
def _hushed() -> Iterator[None]:
    """Without upstream's reports on its loading."""
    cache = os.environ.get("HF_HUB_CACHE")
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            # 2.5 sets it to a folder below wherever it is started.
            if cache is None:
                os.environ.pop("HF_HUB_CACHE", None)
            else:
                os.environ["HF_HUB_CACHE"] = cache
