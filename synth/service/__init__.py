"""The corridor: every door (API, tasks, admin, command line) goes through these functions."""

from synth.service.explaining import Explanation, Question, explain_request
from synth.service.policies import delete_policies, save_policy, switch_policies
from synth.service.rendering import drain_renderings
from synth.service.speaking import Speech, StaleSnapshot, cancel, is_fresh, remake, signed_url, speak
from synth.service.sweeping import sweep
from synth.service.synthesis import drain_engine

__all__ = [
    "Explanation",
    "Question",
    "Speech",
    "StaleSnapshot",
    "cancel",
    "delete_policies",
    "drain_engine",
    "drain_renderings",
    "explain_request",
    "is_fresh",
    "remake",
    "save_policy",
    "signed_url",
    "speak",
    "sweep",
    "switch_policies",
]
