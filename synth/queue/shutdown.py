"""Tells the children of a worker that it is stopping: they look between two sentences."""

import mmap


class ShutdownFlag:
    """One byte that a parent and the children it forks share."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 1)

    def set(self) -> None:
        self._memory[0] = 1

    def is_set(self) -> bool:
        return self._memory[0] == 1


stopping = ShutdownFlag()
