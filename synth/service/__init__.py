"""The corridor: every door (API, tasks, admin, command line) goes through these functions."""

from synth.service.account import Account, account_of
from synth.service.accounting import drain_usage
from synth.service.admission import Inquiry, StaleSnapshot, Visit, is_fresh, is_latest
from synth.service.audit_proof import (
    anchors_of,
    ask_for_verification,
    drop_old_audit,
    verify_audit,
    verify_chain,
    verify_due,
)
from synth.service.audit_watch import watch_audit
from synth.service.auditing import note_audit
from synth.service.batches.intake import MOST_ITEMS, BatchOrder, create_batch
from synth.service.batches.results import STATUSES, ItemResult, all_results, lines_of, results_of
from synth.service.cancelling import cancel_action
from synth.service.curation import Actor, count_matching, curate, drain_actions
from synth.service.expiring import sweep_storage
from synth.service.explaining import Explanation, Question, explain_request
from synth.service.idempotency import KeptAnswer, Repeatable, Undertaking, keep, let_go, undertake
from synth.service.lexicon import delete_word, save_word
from synth.service.links import signed_url, url_members
from synth.service.missing import judge_misses
from synth.service.object_audit import audit_objects
from synth.service.object_sweep import sweep_objects
from synth.service.objects import SealedObject, copy_intact
from synth.service.operators import Act, begin_act, finish_act
from synth.service.own_policies import delete_own_policy, make_own_policy, replace_own_policy
from synth.service.policies import delete_policies, save_policy, switch_policies
from synth.service.progress import counts_of, unfinished_of
from synth.service.quota_warnings import warn_of_quotas
from synth.service.quotas_used import QuotaUsed, quotas_used
from synth.service.remaking import remake
from synth.service.rendering import drain_renderings
from synth.service.replaying import heard_again
from synth.service.sealed_specs import transcript_of
from synth.service.sealing import is_at_hand, opening, presented, refuse_with_own_key
from synth.service.selection import EntryFilter, Selection
from synth.service.speaking import Speech, cancel, recall, speak
from synth.service.standing import (
    EntryStanding,
    EntryState,
    TooManyRules,
    in_state,
    made_anew,
    sound_before,
    standings,
    with_characters,
)
from synth.service.sweeping import sweep
from synth.service.synthesis import drain_engine
from synth.service.voice_settings import delete_voice_settings, save_voice_settings
from synth.service.voice_work import drain_voices
from synth.service.voices import Consent, VoiceOrder, create_voice, delete_voice, voice_url
from synth.service.warming import warm
from synth.service.webhooks.endpoints import (
    EndpointOrder,
    change_endpoint,
    create_endpoint,
    delete_endpoint,
    disable_endpoint,
    enable_endpoint,
    replay_deliveries,
    replay_delivery,
    rotate_secret,
    send_test,
)
from synth.service.webhooks.payloads import payload_of
from synth.service.webhooks.sending import drain_deliveries

__all__ = [
    "MOST_ITEMS",
    "STATUSES",
    "Account",
    "Act",
    "Actor",
    "BatchOrder",
    "Consent",
    "EndpointOrder",
    "EntryFilter",
    "EntryStanding",
    "EntryState",
    "Explanation",
    "Inquiry",
    "ItemResult",
    "KeptAnswer",
    "Question",
    "QuotaUsed",
    "Repeatable",
    "SealedObject",
    "Selection",
    "Speech",
    "StaleSnapshot",
    "TooManyRules",
    "Undertaking",
    "Visit",
    "VoiceOrder",
    "account_of",
    "all_results",
    "anchors_of",
    "ask_for_verification",
    "audit_objects",
    "begin_act",
    "cancel",
    "cancel_action",
    "change_endpoint",
    "copy_intact",
    "count_matching",
    "counts_of",
    "create_batch",
    "create_endpoint",
    "create_voice",
    "curate",
    "delete_endpoint",
    "delete_own_policy",
    "delete_policies",
    "delete_voice",
    "delete_voice_settings",
    "delete_word",
    "disable_endpoint",
    "drain_actions",
    "drain_deliveries",
    "drain_engine",
    "drain_renderings",
    "drain_usage",
    "drain_voices",
    "drop_old_audit",
    "enable_endpoint",
    "explain_request",
    "finish_act",
    "heard_again",
    "in_state",
    "is_at_hand",
    "is_fresh",
    "is_latest",
    "judge_misses",
    "keep",
    "let_go",
    "lines_of",
    "made_anew",
    "make_own_policy",
    "note_audit",
    "opening",
    "payload_of",
    "presented",
    "quotas_used",
    "recall",
    "refuse_with_own_key",
    "remake",
    "replace_own_policy",
    "replay_deliveries",
    "replay_delivery",
    "results_of",
    "rotate_secret",
    "save_policy",
    "save_voice_settings",
    "save_word",
    "send_test",
    "signed_url",
    "sound_before",
    "speak",
    "standings",
    "sweep",
    "sweep_objects",
    "sweep_storage",
    "switch_policies",
    "transcript_of",
    "undertake",
    "unfinished_of",
    "url_members",
    "verify_audit",
    "verify_chain",
    "verify_due",
    "voice_url",
    "warm",
    "warn_of_quotas",
    "watch_audit",
    "with_characters",
]
