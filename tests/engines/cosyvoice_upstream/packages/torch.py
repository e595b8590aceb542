"""Of torch what the adapter and the double of CosyVoice call."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

threads = 0
seeds: list[int] = []
emptied = 0
generator = np.random.default_rng()


class Tensor:
    def __init__(self, array: Any) -> None:
        self.array = np.asarray(array)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    def cpu(self) -> Tensor:
        return self

    def numpy(self) -> Any:
        return self.array

    def squeeze(self, dim: int) -> Tensor:
        return Tensor(self.array.squeeze(dim))

    def unsqueeze(self, dim: int) -> Tensor:
        return Tensor(np.expand_dims(self.array, dim))


def from_numpy(array: Any) -> Tensor:
    return Tensor(array)


def manual_seed(seed: int) -> None:
    global generator  # noqa: PLW0603
    seeds.append(seed)
    generator = np.random.default_rng(seed)


def set_num_threads(number: int) -> None:
    global threads  # noqa: PLW0603
    threads = number


class OutOfMemoryError(RuntimeError):
    pass


def _empty_cache() -> None:
    global emptied  # noqa: PLW0603
    emptied += 1


cuda = SimpleNamespace(is_available=lambda: False, OutOfMemoryError=OutOfMemoryError, empty_cache=_empty_cache)
