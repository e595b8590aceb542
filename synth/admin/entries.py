"""The catalogue's screen: find what is stored, hear it, and purge, refresh or pin it (`curating.py`)."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from synth.admin import filters
from synth.admin.base import beginning, excerpt, readable_json, seconds
from synth.admin.curating import CuratesEntries
from synth.admin.player import player
from synth.models import Entry
from synth.stored import of_entry
from tenants.ids import public_id
from tenants.types import TenantRef


@admin.register(Entry)
class EntryAdmin(CuratesEntries):
    id_prefix = "ent"
    list_display = [
        "text_excerpt", "listen", "tenant", "kind", "voice", "engine", "format", "length", "size_label", "made_at",
    ]  # fmt: skip
    list_select_related = ["tenant"]
    list_filter = [
        filters.KIND, filters.TENANT, filters.EngineFilter, filters.VoiceFilter, filters.FormatFilter, "pinned",
    ]  # fmt: skip
    search_fields = ["text", "tenant__slug", "voice", "engine", "=digest", "=key"]
    search_help_text = _("Text, tenant, voice, engine or id")
    fieldsets = [
        (None, {"fields": ["public_id", "text_whole", "listen", "tenant", "kind", "category", "pinned"]}),
        (_("Sound"), {"fields": ["voice", "engine", "model_version", "length", "format", "media_type", "sample_rate"]}),
        (_("Storage"), {"fields": ["size_label", "digest", "key", "made_at", "created_at", "provenance_json"]}),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Entry]:
        rows: QuerySet[Entry] = super().get_queryset(request)
        return rows.defer("text").annotate(text_beginning=beginning("text"))

    @display(description=_("text"))
    def text_excerpt(self, entry: Entry) -> str:
        return excerpt(getattr(entry, "text_beginning", ""))

    @display(description=_("text"))
    def text_whole(self, entry: Entry) -> SafeString:
        return format_html('<div class="refrain-text">{}</div>', entry.text)

    @display(description=_("listen"))
    def listen(self, entry: Entry) -> str:
        return player(TenantRef(entry.tenant_id), of_entry(entry))

    @display(description=_("duration"), ordering="duration")
    def length(self, entry: Entry) -> str:
        return seconds(entry.duration)

    @display(description=_("size"), ordering="size")
    def size_label(self, entry: Entry) -> str:
        return filesizeformat(entry.size)

    @display(description=_("id"))
    def public_id(self, entry: Entry) -> str:
        return public_id("ent", entry.id)

    @display(description=_("provenance"))
    def provenance_json(self, entry: Entry) -> SafeString:
        return readable_json(entry.provenance)
