"""Wiring of the whole: settings, addresses, Celery. Nothing below imports it."""

from ttsproject.celery import app as celery_app

__all__ = ["celery_app"]
