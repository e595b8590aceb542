"""Every address of the whole."""

from django.contrib import admin
from django.urls import path
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice
from drf_spectacular.views import SpectacularJSONAPIView, SpectacularSwaggerSplitView

import tenants.api.schema  # noqa: F401 - tells the OpenAPI document how callers authenticate
from synth.api.audit import AuditExport, AuditList
from synth.api.batches import BatchArchive, BatchCancel, BatchDetail, Batches, BatchItems, BatchManifest
from synth.api.cache import (
    CacheActionDetail,
    CacheActionFailures,
    CacheActions,
    CacheEntries,
    Pins,
    Purges,
    Refreshes,
    Unpins,
)
from synth.api.encryption_keys import EncryptionKeyDetail, EncryptionKeys
from synth.api.files import serve_file
from synth.api.jobs import SpeechAudio, SpeechDetail
from synth.api.keys import KeyDetail, Keys
from synth.api.lexicon import Lexicon, LexiconWordDetail
from synth.api.misses import MissExamples, MissReport
from synth.api.policies import Policies, PolicyDetail
from synth.api.savings import SavingsReport
from synth.api.sealed import serve_sealed
from synth.api.speech import speech
from synth.api.tenant import TenantView
from synth.api.usage import UsageDays, UsageList
from synth.api.usage_totals import Quotas, UsageTotals
from synth.api.voices import Engines, VoiceDetail, Voices
from synth.api.warm import Warmings
from synth.api.webhook_deliveries import (
    WebhookDeliveries,
    WebhookDeliveryDetail,
    WebhookDeliveryReplay,
    WebhookReplay,
)
from synth.api.webhooks import (
    WebhookDetail,
    WebhookDisabling,
    WebhookEnabling,
    WebhookRotation,
    Webhooks,
    WebhookTest,
)
from ttsproject.health import healthz, metrics, readyz
from ttsproject.login import second_factor_page

admin.autodiscover()
# Their pages would show secrets; users have a page of their own (ttsproject/login.py).
admin.site.unregister([TOTPDevice, StaticDevice])
urlpatterns = [
    path("v1/speech", speech, name="speech"),
    path("v1/speech/<str:speech_id>", SpeechDetail.as_view(), name="speech-detail"),
    path("v1/speech/<str:speech_id>/audio", SpeechAudio.as_view(), name="speech-audio"),
    path("v1/batches", Batches.as_view(), name="batches"),
    path("v1/batches/<str:batch_id>", BatchDetail.as_view(), name="batch"),
    path("v1/batches/<str:batch_id>/cancel", BatchCancel.as_view(), name="batch-cancel"),
    path("v1/batches/<str:batch_id>/items", BatchItems.as_view(), name="batch-items"),
    path("v1/batches/<str:batch_id>/manifest", BatchManifest.as_view(), name="batch-manifest"),
    path("v1/batches/<str:batch_id>/audio.zip", BatchArchive.as_view(), name="batch-audio"),
    path("v1/cache/entries", CacheEntries.as_view(), name="cache-entries"),
    path("v1/cache/purges", Purges.as_view(), name="cache-purges"),
    path("v1/cache/refreshes", Refreshes.as_view(), name="cache-refreshes"),
    path("v1/cache/pins", Pins.as_view(), name="cache-pins"),
    path("v1/cache/unpins", Unpins.as_view(), name="cache-unpins"),
    path("v1/cache/warmings", Warmings.as_view(), name="cache-warmings"),
    path("v1/cache/actions", CacheActions.as_view(), name="cache-actions"),
    path("v1/cache/actions/<str:action_id>", CacheActionDetail.as_view(), name="cache-action"),
    path("v1/cache/actions/<str:action_id>/failures", CacheActionFailures.as_view(), name="cache-action-failures"),
    path("v1/cache/misses", MissReport.as_view(), name="cache-misses"),
    path("v1/cache/misses/examples", MissExamples.as_view(), name="cache-miss-examples"),
    path("v1/voices", Voices.as_view(), name="voices"),
    path("v1/voices/<str:voice_id>", VoiceDetail.as_view(), name="voice"),
    path("v1/lexicon", Lexicon.as_view(), name="lexicon"),
    path("v1/lexicon/<str:word_id>", LexiconWordDetail.as_view(), name="lexicon-word"),
    path("v1/encryption-keys", EncryptionKeys.as_view(), name="encryption-keys"),
    path("v1/encryption-keys/<str:key_id>", EncryptionKeyDetail.as_view(), name="encryption-key"),
    path("v1/engines", Engines.as_view(), name="engines"),
    path("v1/policies", Policies.as_view(), name="policies"),
    path("v1/policies/<str:policy_id>", PolicyDetail.as_view(), name="policy"),
    path("v1/tenant", TenantView.as_view(), name="tenant"),
    path("v1/keys", Keys.as_view(), name="keys"),
    path("v1/keys/<str:key_id>", KeyDetail.as_view(), name="key"),
    path("v1/usage", UsageList.as_view(), name="usage"),
    path("v1/usage/quotas", Quotas.as_view(), name="usage-quotas"),
    path("v1/usage/totals", UsageTotals.as_view(), name="usage-totals"),
    path("v1/usage/days", UsageDays.as_view(), name="usage-days"),
    path("v1/audit", AuditList.as_view(), name="audit"),
    path("v1/audit/export", AuditExport.as_view(), name="audit-export"),
    path("v1/savings", SavingsReport.as_view(), name="savings"),
    path("v1/webhooks", Webhooks.as_view(), name="webhooks"),
    path("v1/webhooks/<str:webhook_id>", WebhookDetail.as_view(), name="webhook"),
    path("v1/webhooks/<str:webhook_id>/rotate", WebhookRotation.as_view(), name="webhook-rotate"),
    path("v1/webhooks/<str:webhook_id>/disable", WebhookDisabling.as_view(), name="webhook-disable"),
    path("v1/webhooks/<str:webhook_id>/enable", WebhookEnabling.as_view(), name="webhook-enable"),
    path("v1/webhooks/<str:webhook_id>/test", WebhookTest.as_view(), name="webhook-test"),
    path("v1/webhooks/<str:webhook_id>/replay", WebhookReplay.as_view(), name="webhook-replay"),
    path("v1/webhooks/<str:webhook_id>/deliveries", WebhookDeliveries.as_view(), name="webhook-deliveries"),
    path(
        "v1/webhooks/<str:webhook_id>/deliveries/<str:delivery_id>",
        WebhookDeliveryDetail.as_view(),
        name="webhook-delivery",
    ),
    path(
        "v1/webhooks/<str:webhook_id>/deliveries/<str:delivery_id>/replay",
        WebhookDeliveryReplay.as_view(),
        name="webhook-delivery-replay",
    ),
    path("v1/openapi.json", SpectacularJSONAPIView.as_view(), name="openapi"),
    path("docs/", SpectacularSwaggerSplitView.as_view(url_name="openapi"), name="docs"),
    path("sealed/<str:ticket>", serve_sealed, name="sealed"),
    path("files/<path:name>", serve_file, name="file"),
    path("healthz", healthz),
    path("readyz", readyz),
    path("metrics", metrics),
    path("admin/second-factor/", second_factor_page, name="second-factor"),
    path("admin/", admin.site.urls),
]
handler404 = "ttsproject.problems.page_not_found"
