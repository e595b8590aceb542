"""The app that speaks: specs, cache, queue, engines and the API over them."""

from django.apps import AppConfig


class SynthConfig(AppConfig):
    name = "synth"
    verbose_name = "Speech"
