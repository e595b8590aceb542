"""Yes or no among the options of an engine, however their operator writes it. Every engine reads its own by this."""

from collections.abc import Mapping

from synth.errors import EngineUnavailable

_YES = frozenset({"1", "true", "yes", "on"})
_NO = frozenset({"", "0", "false", "no", "off"})


def flag(options: Mapping[str, str], name: str, *, variable: str) -> bool:
    """Raises EngineUnavailable, and names the environment variable, for anything else."""
    value = options.get(name, "").strip().lower()
    if value not in _YES | _NO:
        raise EngineUnavailable(f"{variable} must be yes or no")
    return value in _YES
