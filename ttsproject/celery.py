"""The Celery application: `celery -A ttsproject worker …`."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ttsproject.settings")

app = Celery("refrain")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["synth"])
