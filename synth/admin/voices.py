"""The screens of tenants' own voices: who consented to which, how it sounds, what happened to it; deletes one."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action, display
from unfold.forms import BaseDialogForm

from synth import service
from synth.admin import filters
from synth.admin.base import ReadOnlyAdmin, link, readable_json, seconds
from synth.models import ClonedVoice, VoiceEvent, VoiceSettings
from synth.models.states import State
from synth.service import Actor
from tenants.admin.bound import BoundAdmin
from tenants.context import request_id
from tenants.encryption import EncryptionKeyRequired
from tenants.types import TenantRef

STATES = {
    State.WAITING.value: (_("being stored"), "info"),
    State.QUEUED.value: (_("pending"), "info"),
    State.RUNNING.value: (_("being decoded"), "warning"),
    State.SUCCEEDED.value: (_("ready"), "success"),
    State.FAILED.value: (_("refused"), "danger"),
    State.CANCELED.value: (_("being erased"), "warning"),
}
CONFIRMATION = {
    "title": _("Delete this voice?"),
    "description": _("Its sound and all speech made with it go along, at once. Addresses given out stop working."),
    "form_class": BaseDialogForm,
    "form_submit_text": _("Delete the voice"),
}


@admin.register(ClonedVoice)
class ClonedVoiceAdmin(ReadOnlyAdmin):
    id_prefix = "vox"
    list_display = ["name", "state_label", "tenant", "engine", "language", "length", "consent_who", "created_at"]
    list_select_related = ["tenant"]
    list_filter = [filters.TENANT, filters.EngineFilter]
    search_fields = ["=name", "=fingerprint", "=request_id", "=consent_who"]
    search_help_text = _("Id, name, fingerprint, request id or who consented")
    actions_detail = ["delete_this"]
    fieldsets = [
        (None, {"fields": ["public_id", "name", "state_label", "reason", "tenant", "listen"]}),
        (_("Sound"), {"fields": ["engine", "language", "length", "sample_rate", "transcript", "fingerprint"]}),
        (_("Consent"), {"fields": ["consent_who", "consent_when", "consent_wording"]}),
        (_("Upload"), {"fields": ["upload", "upload_digest", "upload_size", "attempt", "worker"]}),
        (_("Who and when"), {"fields": ["who", "request_id", "created_at", "ended_at", "events"]}),
    ]

    def has_erase_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        """Whom Django's own permissions let delete voices; the screen itself changes nothing else."""
        return request.user.has_perm("synth.delete_clonedvoice")

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        there = ClonedVoice.objects.filter(id=object_id).exclude(state=State.CANCELED).exists()
        return super().get_actions_detail(request, object_id) if there else []

    @action(description=_("Delete"), permissions=["erase"], icon="delete", dialog=CONFIRMATION)
    def delete_this(self, request: HttpRequest, form: BaseDialogForm, object_id: UUID) -> HttpResponse:  # noqa: ARG002
        row = ClonedVoice.objects.get(id=object_id)
        actor = Actor(user_name=request.user.get_username(), request_id=request_id() or "")
        self.log_deletions(request, ClonedVoice.objects.filter(id=row.id))
        service.delete_voice(TenantRef(row.tenant_id), row.public_id, actor=actor)
        self.message_user(request, gettext("Deleted: %s") % row)
        return HttpResponse(headers={"HX-Redirect": reverse("admin:synth_clonedvoice_changelist")})

    @display(
        description=_("state"), ordering="state", label={value: colour for value, (_text, colour) in STATES.items()}
    )
    def state_label(self, row: ClonedVoice) -> tuple[str, Any]:
        return row.state, STATES[row.state][0]

    @display(description=_("reason"))
    def reason(self, row: ClonedVoice) -> str:
        text = gettext(row.error_detail) if row.error_detail else ""
        return f"{row.error_code}: {text % row.error_params if row.error_params else text}" if row.error_code else ""

    @display(description=_("duration"), ordering="seconds")
    def length(self, row: ClonedVoice) -> str:
        return seconds(row.seconds)

    @display(description=_("listen"))
    def listen(self, row: ClonedVoice) -> str:
        if row.state != State.SUCCEEDED:
            return ""
        try:
            url = service.voice_url(row)
        except EncryptionKeyRequired:
            return gettext("Only the tenant can hear this: it alone has the key.")
        context = {"url": url, "stored": row, "playable": True}
        return render_to_string("admin/synth/player.html", context)

    @display(description=_("id"))
    def public_id(self, row: ClonedVoice) -> str:
        return row.public_id

    @display(description=_("who"))
    def who(self, row: ClonedVoice) -> str:
        return link("tenants_apikey", row.api_key_id, gettext("API key")) if row.api_key_id else ""

    @display(description=_("events"))
    def events(self, row: ClonedVoice) -> SafeString:
        rows = VoiceEvent.objects.filter(voice_id=row.id).order_by("created_at", "id")
        return readable_json({event.created_at.isoformat(timespec="seconds"): event.kind for event in rows})


@admin.register(VoiceEvent)
class VoiceEventAdmin(ReadOnlyAdmin):
    """Nothing here can be changed or deleted, by anybody."""

    id_prefix = "vev"
    list_display = ["created_at", "kind_label", "name", "engine", "tenant", "who", "fingerprint"]
    list_select_related = ["tenant"]
    list_filter = [filters.KIND, filters.TENANT]
    search_fields = ["=name", "=fingerprint", "=voice_id", "=request_id"]
    search_help_text = _("Name, fingerprint, voice or request id")
    fieldsets = [
        (None, {"fields": ["created_at", "kind_label", "voice", "name", "engine", "tenant", "fingerprint"]}),
        (_("Who and when"), {"fields": ["who", "request_id"]}),
        (_("Details"), {"fields": ["details_json"]}),
    ]

    @display(description=_("kind"), ordering="kind")
    def kind_label(self, row: VoiceEvent) -> str:
        return row.get_kind_display()

    @display(description=_("voice"))
    def voice(self, row: VoiceEvent) -> str:
        return row.voice_public_id

    @display(description=_("who"))
    def who(self, row: VoiceEvent) -> str:
        return link("tenants_apikey", row.api_key_id, gettext("API key")) if row.api_key_id else row.user_name

    @display(description=_("details"))
    def details_json(self, row: VoiceEvent) -> SafeString:
        return readable_json(row.details)


@admin.register(VoiceSettings)
class VoiceSettingsAdmin(BoundAdmin):
    """What a tenant wants kept, and done where an engine cannot."""

    list_display = ["tenant", "keep_uploads", "time_stretch"]
    list_select_related = ["tenant"]
    autocomplete_fields = ["tenant"]
    search_fields = ["tenant__name", "tenant__slug"]

    def save_model(self, request: HttpRequest, obj: VoiceSettings, form: Any, change: bool) -> None:  # noqa: ARG002
        service.save_voice_settings(obj)

    def delete_model(self, request: HttpRequest, obj: VoiceSettings) -> None:  # noqa: ARG002
        service.delete_voice_settings([obj])

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[VoiceSettings]) -> None:  # noqa: ARG002
        service.delete_voice_settings(queryset)
