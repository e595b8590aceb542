"""Every address of the whole."""

from django.contrib import admin
from django.urls import path

from synth.api.files import serve_file
from synth.api.jobs import SpeechDetail
from synth.api.speech import speech

urlpatterns = [
    path("v1/speech", speech, name="speech"),
    path("v1/speech/<str:speech_id>", SpeechDetail.as_view(), name="speech-detail"),
    path("files/<path:name>", serve_file, name="file"),
    path("admin/", admin.site.urls),
]
handler404 = "ttsproject.problems.page_not_found"
