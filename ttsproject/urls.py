"""Every address of the whole."""

from django.contrib import admin
from django.urls import path
from drf_spectacular.views import SpectacularJSONAPIView, SpectacularSwaggerView

import tenants.api.schema  # noqa: F401 - tells the OpenAPI document how callers authenticate
from synth.api.files import serve_file
from synth.api.jobs import SpeechAudio, SpeechDetail
from synth.api.savings import SavingsReport
from synth.api.speech import speech
from synth.api.voices import Engines, Voices
from ttsproject.health import healthz, metrics, readyz

urlpatterns = [
    path("v1/speech", speech, name="speech"),
    path("v1/speech/<str:speech_id>", SpeechDetail.as_view(), name="speech-detail"),
    path("v1/speech/<str:speech_id>/audio", SpeechAudio.as_view(), name="speech-audio"),
    path("v1/voices", Voices.as_view(), name="voices"),
    path("v1/engines", Engines.as_view(), name="engines"),
    path("v1/savings", SavingsReport.as_view(), name="savings"),
    path("v1/openapi.json", SpectacularJSONAPIView.as_view(), name="openapi"),
    path("docs/", SpectacularSwaggerView.as_view(url_name="openapi"), name="docs"),
    path("files/<path:name>", serve_file, name="file"),
    path("healthz", healthz),
    path("readyz", readyz),
    path("metrics", metrics),
    path("admin/", admin.site.urls),
]
handler404 = "ttsproject.problems.page_not_found"
