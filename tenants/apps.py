"""The app that knows who is calling and what they may do; it knows nothing of speech."""

from django.apps import AppConfig


class TenantsConfig(AppConfig):
    name = "tenants"
