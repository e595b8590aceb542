"""One terminal for the lines of many processes: each with the name of its process in front, coloured on a terminal."""

import os
import sys
from typing import TextIO

RESET = "\033[0m"
BOLD = "\033[1m"
COLOURS = tuple(f"\033[{number}m" for number in (36, 33, 32, 35, 34, 31))
LAUNCHER = "refrain"


class Terminal:
    """Where everything is printed. Colours are off where nobody sees them, or NO_COLOR is set."""

    def __init__(self, names: list[str], out: TextIO = sys.stdout) -> None:
        self._out = out
        self._width = max(map(len, [*names, LAUNCHER]))
        coloured = out.isatty() and not os.environ.get("NO_COLOR")
        colours = {name: COLOURS[place % len(COLOURS)] for place, name in enumerate(names)}
        self._colours = {**colours, LAUNCHER: BOLD} if coloured else {}

    def line(self, name: str, text: str) -> None:
        self._print(f"{self._prefix(name)} {text}")

    def say(self, text: str) -> None:
        """The launcher's own words."""
        for line in text.splitlines():
            self.line(LAUNCHER, line)

    def plain(self, text: str) -> None:
        """Without a prefix, so that it can be copied."""
        self._print(text)

    def _prefix(self, name: str) -> str:
        label = f"{name:<{self._width}} |"
        colour = self._colours.get(name)
        return f"{colour}{label}{RESET}" if colour else label

    def _print(self, text: str) -> None:
        # A terminal that was closed must not keep the launcher from stopping what it started.
        try:
            print(text, file=self._out, flush=True)
        except (BrokenPipeError, OSError):
            self._out = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
