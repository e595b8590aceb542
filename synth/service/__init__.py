"""The corridor: every door (API, tasks, admin, command line) goes through these functions."""

from synth.service.rendering import drain_renderings
from synth.service.speaking import Speech, StaleSnapshot, cancel, is_fresh, remake, signed_url, speak
from synth.service.sweeping import sweep
from synth.service.synthesis import drain_engine

__all__ = [
    "Speech",
    "StaleSnapshot",
    "cancel",
    "drain_engine",
    "drain_renderings",
    "is_fresh",
    "remake",
    "signed_url",
    "speak",
    "sweep",
]
