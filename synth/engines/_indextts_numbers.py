"""What IndexTTS's adapter needs of torch itself, apart from it, so that tests without torch put their own in its place.

The part for CUDA was written with care and has been run by nobody.
"""

from __future__ import annotations

import contextlib
import gc
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Numbers(Protocol):
    """Random numbers, memory and samples of the library that the model runs in."""

    def seed(self, seed: int) -> None:
        """Set every generator that the model draws from."""
        ...

    def is_out_of_memory(self, error: BaseException) -> bool: ...

    def is_lost(self, error: BaseException) -> bool:
        """Whether the device is of no more use to this process."""
        ...

    def free(self) -> None:
        """Give back what is kept for later use."""
        ...

    def held(self) -> int:
        """Bytes of the device's memory that this process holds."""
        ...

    def samples(self, sound: Any) -> NDArray[np.float32]: ...


class Torch:
    """Torch's generators, CUDA's among them. Python's and numpy's are left alone: upstream draws nothing from them
    that reaches the sound, and the worker draws from them too.
    """

    def __init__(self, *, threads: int) -> None:
        import torch

        self._torch = torch
        torch.set_num_threads(threads)

    def seed(self, seed: int) -> None:
        self._torch.manual_seed(seed)

    def is_out_of_memory(self, error: BaseException) -> bool:
        # The CPU's allocator has but a RuntimeError with words for it.
        words = ("out of memory", "can't allocate memory", "not enough memory")
        kinds = (MemoryError, self._torch.cuda.OutOfMemoryError)
        return isinstance(error, kinds) or any(word in str(error).lower() for word in words)

    def is_lost(self, error: BaseException) -> bool:
        """After such an error every further call to CUDA fails, until the process is another one."""
        words = ("cuda error", "cublas_status", "cudnn_status", "device-side assert")
        return any(word in str(error).lower() for word in words)

    def named(self, device: str) -> str:
        """The device with the name of its make."""
        return f"{device} ({self._torch.cuda.get_device_name(device)})" if device.startswith("cuda") else device

    def free(self) -> None:
        gc.collect()
        if self._torch.cuda.is_available():
            with contextlib.suppress(RuntimeError):  # of a device that is lost
                self._torch.cuda.empty_cache()

    def held(self) -> int:
        return int(self._torch.cuda.memory_reserved()) if self._torch.cuda.is_available() else 0

    def samples(self, sound: Any) -> NDArray[np.float32]:
        return np.asarray(sound.detach().to("cpu", self._torch.float32).numpy(), np.float32)
