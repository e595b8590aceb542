"""The speech app's screens, one file each; Django's admin finds them here."""

from synth.admin.audit import AuditChainAdmin, AuditEventAdmin, AuditFlagAdmin
from synth.admin.batches import BatchAdmin
from synth.admin.curation_actions import CurationActionAdmin
from synth.admin.engine_cards import EngineCardAdmin
from synth.admin.entries import EntryAdmin
from synth.admin.jobs import JobAdmin
from synth.admin.lexicon import LexiconWordAdmin
from synth.admin.misses import MissDayAdmin, MissExampleAdmin
from synth.admin.policies import PolicyAdmin
from synth.admin.renderings import RenderingAdmin
from synth.admin.rollups import FailureDayAdmin, LatencyDayAdmin, PhraseDayAdmin, SampleAdmin, UsageDayAdmin
from synth.admin.savings import SavingsAdmin
from synth.admin.syntheses import SynthesisAdmin
from synth.admin.usage import UsageAdmin
from synth.admin.voices import ClonedVoiceAdmin, VoiceEventAdmin, VoiceSettingsAdmin
from synth.admin.webhook_deliveries import WebhookDeliveryAdmin, WebhookEventAdmin
from synth.admin.webhooks import WebhookEndpointAdmin

__all__ = [
    "AuditChainAdmin",
    "AuditEventAdmin",
    "AuditFlagAdmin",
    "BatchAdmin",
    "ClonedVoiceAdmin",
    "CurationActionAdmin",
    "EngineCardAdmin",
    "EntryAdmin",
    "FailureDayAdmin",
    "JobAdmin",
    "LatencyDayAdmin",
    "LexiconWordAdmin",
    "MissDayAdmin",
    "MissExampleAdmin",
    "PhraseDayAdmin",
    "PolicyAdmin",
    "RenderingAdmin",
    "SampleAdmin",
    "SavingsAdmin",
    "SynthesisAdmin",
    "UsageAdmin",
    "UsageDayAdmin",
    "VoiceEventAdmin",
    "VoiceSettingsAdmin",
    "WebhookDeliveryAdmin",
    "WebhookEndpointAdmin",
    "WebhookEventAdmin",
]
