"""The rows of the synth app, one model a file."""

from synth.models.curation import Batch, CurationAction, CurationBlock, CurationLine
from synth.models.engine_card import EngineCardRow
from synth.models.engine_day import CountedDay, EngineDay
from synth.models.engine_pace import EnginePace
from synth.models.engine_worker import EngineWorker
from synth.models.entry import Entry
from synth.models.idempotent import IdempotentRequest
from synth.models.job import Job
from synth.models.lexicon import LexiconWord
from synth.models.miss import MissDay, MissExample, MissParameter
from synth.models.observed import FailureDay, LatencyDay, PhraseDay, Sample
from synth.models.policy import Policy
from synth.models.purge import DiscardedObject, PurgeNumber
from synth.models.rendering import Rendering, RenderingPart
from synth.models.storage_use import StorageUse
from synth.models.synthesis import Synthesis
from synth.models.voice import ClonedVoice, VoiceEvent, VoiceSettings
from synth.models.webhook import DeliveryAttempt, EventType, WebhookDelivery, WebhookEndpoint, WebhookEvent
from synth.models.work_key import WorkKey

__all__ = [
    "Batch",
    "ClonedVoice",
    "CountedDay",
    "CurationAction",
    "CurationBlock",
    "CurationLine",
    "DeliveryAttempt",
    "DiscardedObject",
    "EngineCardRow",
    "EngineDay",
    "EnginePace",
    "EngineWorker",
    "Entry",
    "EventType",
    "FailureDay",
    "IdempotentRequest",
    "Job",
    "LatencyDay",
    "LexiconWord",
    "MissDay",
    "MissExample",
    "MissParameter",
    "PhraseDay",
    "Policy",
    "PurgeNumber",
    "Rendering",
    "RenderingPart",
    "Sample",
    "StorageUse",
    "Synthesis",
    "VoiceEvent",
    "VoiceSettings",
    "WebhookDelivery",
    "WebhookEndpoint",
    "WebhookEvent",
    "WorkKey",
]
