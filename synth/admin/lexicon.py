"""The tenants' lexicons, to look into: tenants change their own through the API."""

from __future__ import annotations

from django.contrib import admin

from synth.admin import filters
from synth.admin.base import ReadOnlyAdmin
from synth.models import LexiconWord


@admin.register(LexiconWord)
class LexiconWordAdmin(ReadOnlyAdmin):
    list_display = ["text", "tenant", "language", "kind", "value", "created_at"]
    list_select_related = ["tenant"]
    list_filter = [filters.TENANT]
    search_fields = ["text", "value", "=tenant__slug"]
    fields = ["text", "tenant", "language", "kind", "value", "created_at"]
