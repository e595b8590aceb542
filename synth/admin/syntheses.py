"""The syntheses' screen: which sentences wait, run and failed, where, and for how long."""

from __future__ import annotations

from django.contrib import admin
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from synth.admin import filters
from synth.admin.base import QueueAdmin, excerpt, readable_json, seconds
from synth.models import Synthesis


@admin.register(Synthesis)
class SynthesisAdmin(QueueAdmin):
    list_display = [
        "text_excerpt", "state_label", "tenant", "engine", "attempt", "worker", "engine_time", "created_at",
        "error_code",
    ]  # fmt: skip
    list_filter = [filters.STATE, filters.TENANT, filters.EngineFilter]
    search_fields = ["=key", "=worker", "=error_code", "=tenant__slug"]
    search_help_text = _("Id, key, worker, error or tenant")
    fieldsets = [
        (None, {"fields": ["id", "state", "text_whole", "tenant", "engine", "model_version"]}),
        (_("Run"), {"fields": ["attempt", "worker", "engine_time", "length", "lease_until", "not_before"]}),
        (_("Times"), {"fields": ["created_at", "started_at", "ended_at"]}),
        (_("Error"), {"fields": ["error_code", "error_detail"]}),
        (_("Request"), {"fields": ["priority_name", "category", "stored", "key", "digest", "segment_json"]}),
    ]

    @display(description=_("sentence"))
    def text_excerpt(self, synthesis: Synthesis) -> str:
        return excerpt(synthesis.segment.get("text"))

    @display(description=_("sentence"))
    def text_whole(self, synthesis: Synthesis) -> SafeString:
        return format_html('<div class="refrain-text">{}</div>', synthesis.segment.get("text", ""))

    @display(description=_("engine seconds"), ordering="engine_seconds")
    def engine_time(self, synthesis: Synthesis) -> str:
        return seconds(synthesis.engine_seconds)

    @display(description=_("duration"), ordering="duration")
    def length(self, synthesis: Synthesis) -> str:
        return seconds(synthesis.duration)

    @display(description=_("segment"))
    def segment_json(self, synthesis: Synthesis) -> SafeString:
        return readable_json({name: value for name, value in synthesis.segment.items() if name != "text"})
