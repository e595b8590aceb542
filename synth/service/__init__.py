"""The corridor: every door (API, tasks, admin, command line) goes through these functions."""

from synth.service.accounting import drain_usage
from synth.service.admission import Inquiry, StaleSnapshot, Visit, is_fresh
from synth.service.curation import Actor, cancel_action, count_matching, curate, drain_actions
from synth.service.expiring import sweep_storage
from synth.service.explaining import Explanation, Question, explain_request
from synth.service.lexicon import delete_word, save_word
from synth.service.missing import judge_misses
from synth.service.object_audit import audit_objects
from synth.service.object_sweep import sweep_objects
from synth.service.policies import delete_policies, save_policy, switch_policies
from synth.service.rendering import drain_renderings
from synth.service.selection import EntryFilter, Selection
from synth.service.speaking import Speech, cancel, recall, remake, signed_url, speak
from synth.service.sweeping import sweep
from synth.service.synthesis import drain_engine
from synth.service.voice_settings import delete_voice_settings, save_voice_settings
from synth.service.voice_work import drain_voices
from synth.service.voices import Consent, VoiceOrder, create_voice, delete_voice, voice_url
from synth.service.warming import warm

__all__ = [
    "Actor",
    "Consent",
    "EntryFilter",
    "Explanation",
    "Inquiry",
    "Question",
    "Selection",
    "Speech",
    "StaleSnapshot",
    "Visit",
    "VoiceOrder",
    "audit_objects",
    "cancel",
    "cancel_action",
    "count_matching",
    "create_voice",
    "curate",
    "delete_policies",
    "delete_voice",
    "delete_voice_settings",
    "delete_word",
    "drain_actions",
    "drain_engine",
    "drain_renderings",
    "drain_usage",
    "drain_voices",
    "explain_request",
    "is_fresh",
    "judge_misses",
    "recall",
    "remake",
    "save_policy",
    "save_voice_settings",
    "save_word",
    "signed_url",
    "speak",
    "sweep",
    "sweep_objects",
    "sweep_storage",
    "switch_policies",
    "voice_url",
    "warm",
]
