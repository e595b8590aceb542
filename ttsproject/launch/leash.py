"""Commands whose process ends together with the one that started it; the launcher and the tests' servers use it."""

import shutil
from collections.abc import Sequence


def leashed(command: Sequence[str]) -> list[str]:
    """`command` such that the kernel kills its process once the thread that starts it is gone, even by kill -9.

    Start it from a thread that lives as long as the process should. Where `setpriv` is missing (it is part of
    every Debian), the command is returned as it is.
    """
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "KILL", *command] if setpriv else [*command]
