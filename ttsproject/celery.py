"""The Celery application: `celery -A ttsproject worker …`."""

import os

from celery import Celery, signals
from django.db import close_old_connections

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ttsproject.settings")

app = Celery("refrain")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["synth"])


def keep_good_connections(**_: object) -> None:
    """As around a request. Celery itself would close all around every task, and opening one costs more than queries.

    `CELERY_DB_REUSE_MAX` in the settings keeps it from that.
    """
    close_old_connections()


signals.task_prerun.connect(keep_good_connections)
signals.task_postrun.connect(keep_good_connections)
