"""CosyVoice's own code, made fit for a worker: for cosyvoice.py, which runs one synthesis at a time.

It logs what it speaks, leaves a consumer waiting for ever (streaming) or with half a sentence (otherwise) when its
inner thread fails, and reads files by a function that new releases of torchaudio no longer have.
"""

from __future__ import annotations

import gc
import importlib
import logging
import os
import random
import sys
import threading
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from synth.engines._cosyvoice_model import Place
from synth.engines._cosyvoice_ways import Way
from synth.errors import EngineUnavailable, Permanent, Retryable, WorkError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Upstream keeps one entry for each run in each of these, and forgets those of runs that failed.
_OF_RUNS = ("tts_speech_token_dict", "llm_end_dict", "mel_overlap_dict", "hift_cache_dict", "flow_cache_dict")
_JOIN_SECONDS = 30.0


class Upstream:
    """A loaded model. `frontend`, `sample_rate` and `model` are upstream's own."""

    def __init__(self, where: Place, *, threads: int) -> None:
        with _own_logging_kept():
            module = _imported(where)
            import torch

            self.torch: Any = torch
            torch.set_num_threads(threads)
            self.on_gpu = _gpu(torch, where.device)
            self.fp16 = where.fp16 and self.on_gpu
            self.cosyvoice: Any = module.AutoModel(model_dir=str(where.model_dir), fp16=self.fp16)
        self.frontend: Any = self.cosyvoice.frontend
        self.sample_rate: int = self.cosyvoice.sample_rate
        self.model: Any = self.cosyvoice.model
        self._hop: int | None = getattr(self.model, "token_hop_len", None)
        self._watch = Watch(self.model)

    @property
    def speakers(self) -> dict[str, dict[str, Any]]:
        """What upstream knows of each voice, by name: those of the model's file, and those added since."""
        known: dict[str, dict[str, Any]] = self.frontend.spk2info
        return known

    def split(self, text: str) -> list[str]:
        """The text as upstream's front end writes it out, in pieces that the model can hold; none of them silent."""
        with self._foreign():
            try:
                return [piece for piece in self.frontend.text_normalize(text, split=True) if piece.strip()]
            except IndexError:  # what it finds at the edge of a text that is blank after all
                return []

    def written_out(self, text: str) -> str:
        """As `split`, in one piece: for what a reference says."""
        with self._foreign():
            whole: str = self.frontend.text_normalize(text, split=False)
            return whole

    def tokens(self, text: str) -> tuple[Any, Any]:
        """The numbers of a text, and how many, as a speaker's prompt has them."""
        with self._foreign():
            numbers, length = self.frontend._extract_text_token(text)  # noqa: SLF001 - there is no other way to them
            return numbers, length

    def speak(
        self, way: Way, texts: Iterable[str], *, named: str, speed: float, stream: bool
    ) -> Iterator[NDArray[np.float32]]:
        """Samples as they are made. Raises Retryable for what another run may pass, Permanent for what none will."""
        method = getattr(self.cosyvoice, way.method)
        given: dict[str, Any] = {"stream": stream, "speed": speed, "text_frontend": False}
        given |= {"zero_shot_spk_id": named} if named else {}
        try:
            with self._foreign():
                for text in texts:
                    if self._hop is not None:
                        self.model.token_hop_len = self._hop  # streaming raises it, for all that comes after
                    for made in method(way.before + text, *way.arguments, **given):
                        self._watch.raise_failure()
                        yield made["tts_speech"].cpu().numpy().reshape(-1)
        finally:
            self._settle()

    def add_speaker(self, path: str, name: str) -> None:
        """Work a voice out of a file, for `speakers`."""
        with self._foreign():
            self.cosyvoice.add_zero_shot_spk("", path, name)

    def seed(self, seed: int) -> None:
        """Upstream takes no seed: it draws from the process's generators."""
        import numpy as np

        random.seed(seed)
        np.random.seed(seed % 2**32)
        self.torch.manual_seed(seed)

    @property
    def device(self) -> str:
        return f"cuda ({self.torch.cuda.get_device_name()})" if self.on_gpu else "cpu"

    def device_memory(self) -> int:
        return int(self.torch.cuda.memory_reserved()) if self.on_gpu else 0

    def free_memory(self) -> None:
        gc.collect()
        if self.on_gpu:
            with suppress(RuntimeError):  # of a device that is lost
                self.torch.cuda.empty_cache()

    def unload(self) -> None:
        self.cosyvoice = self.frontend = self.model = None
        self._watch = None  # type: ignore[assignment]
        self.free_memory()

    def _settle(self) -> None:
        """Nothing of a run outlives it: neither its thread, where the consumer went away, nor its notes."""
        self._watch.end()
        for name in _OF_RUNS:
            getattr(self.model, name, {}).clear()

    @contextmanager
    def _foreign(self) -> Iterator[None]:
        """Upstream's errors as ours. Its own words stay out of every log: they may hold the text."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - it is foreign code
            raise self._translated(self._watch.failure or error) from None

    def _translated(self, error: BaseException) -> WorkError:
        if isinstance(error, self.torch.cuda.OutOfMemoryError | MemoryError):
            return Retryable("the model ran out of memory", code="out_of_memory")
        if isinstance(error, KeyError) and _where(error).startswith(" at frontend.py"):
            return Permanent("CosyVoice does not know this voice", code="unknown_voice")
        if isinstance(error, AssertionError):
            return Permanent("CosyVoice refuses this combination", code="unsupported_control")
        return Retryable(f"CosyVoice failed with {type(error).__name__}{_where(error)}", code="engine_error")


class Watch:
    """Sees how the thread ends in which upstream's language model runs, and lets go whoever waits for it."""

    def __init__(self, model: Any) -> None:
        if not callable(getattr(model, "llm_job", None)):
            raise EngineUnavailable("this release of CosyVoice is not one that Refrain knows: it has no llm_job")
        self._model = model
        self._job = model.llm_job
        self._thread: threading.Thread | None = None
        self._run = ""
        self.failure: BaseException | None = None
        model.llm_job = self._watched

    def raise_failure(self) -> None:
        """Upstream speaks what tokens there are, as if they were all."""
        if self.failure:
            raise self.failure

    def end(self) -> None:
        thread, self._thread, self.failure = self._thread, None, None
        if thread and thread.is_alive():
            # Its next token finds no list to be put into, and that ends it.
            self._model.tts_speech_token_dict.pop(self._run, None)
            thread.join(_JOIN_SECONDS)
            self.failure = None

    def _watched(self, *arguments: Any) -> None:
        self._thread, self._run = threading.current_thread(), arguments[-1]
        try:
            self._job(*arguments)
        except BaseException as error:  # noqa: BLE001 - it is raised again, in the thread that waits
            self.failure = error
            if self._run in self._model.llm_end_dict:
                self._model.llm_end_dict[self._run] = True


def _where(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""


def _imported(where: Place) -> Any:
    for path in where.code:
        if str(path) not in sys.path:
            sys.path.append(str(path))  # behind our own: a checkout has folders of common names
    if where.device == "cpu":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""  # upstream takes a GPU wherever it finds one
    silence(where.code)
    module: Any = importlib.import_module("cosyvoice.cli.cosyvoice")
    frontend: Any = importlib.import_module("cosyvoice.cli.frontend")
    file = Path(module.__file__ or "").resolve()
    if not file.is_relative_to(where.code[0]):
        raise EngineUnavailable(f"another package of the name cosyvoice is installed: {file}")
    module.tqdm = iter  # no bar of progress for each sentence in the worker's log
    frontend.load_wav = load_wav
    return module


def _gpu(torch: Any, device: str) -> bool:
    found = bool(torch.cuda.is_available())
    if device == "cuda" and not found:
        raise EngineUnavailable("REFRAIN_COSYVOICE_DEVICE is cuda, and no GPU was found")
    return found


def load_wav(path: str, target_sr: int, min_sr: int = 16_000) -> Any:
    """Takes the place of upstream's, whose torchaudio.load needs a further package since torchaudio 2.9."""
    import soundfile
    import torch
    import torchaudio

    samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
    if rate < min_sr:
        raise ValueError(f"a reference needs at least {min_sr} Hz")
    speech = torch.from_numpy(samples.mean(axis=1)).unsqueeze(0)
    return speech if rate == target_sr else torchaudio.functional.resample(speech, rate, target_sr)


class _Silence(logging.Filter):
    """Keeps what is logged from these folders out of the log: upstream writes the text that it speaks."""

    def __init__(self, folders: tuple[Path, ...]) -> None:
        super().__init__()
        self._folders = tuple(f"{folder}{os.sep}" for folder in folders)

    def filter(self, record: logging.LogRecord) -> bool:
        return not record.pathname.startswith(self._folders)


def silence(folders: tuple[Path, ...]) -> None:
    """Upstream logs by the root logger itself, so one filter there is enough."""
    root = logging.getLogger()
    for old in [entry for entry in root.filters if isinstance(entry, _Silence)]:
        root.removeFilter(old)
    root.addFilter(_Silence(folders))


@contextmanager
def _own_logging_kept() -> Iterator[None]:
    """Upstream sets the root logger to DEBUG as it is imported."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
