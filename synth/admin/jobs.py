"""The jobs' screen: who waits for what, how it ended and how it sounds; cancels what has not ended."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action, display
from unfold.forms import BaseDialogForm

from synth import service
from synth.admin import filters
from synth.admin.base import QueueAdmin, link, readable_json, seconds
from synth.admin.misses import reason_name
from synth.admin.player import player
from synth.admin.sentences import sentences_table
from synth.models import Job
from synth.models.states import OPEN, State
from synth.stored import of_job
from tenants.types import TenantRef

CONFIRMATION = {
    "title": _("Cancel this job?"),
    "description": _("Its work stops only when no other job waits for it."),
    "form_class": BaseDialogForm,
    "form_submit_text": _("Cancel the job"),
}


@admin.register(Job)
class JobAdmin(QueueAdmin):
    id_prefix = "job"
    list_display = [
        "job_id", "state_label", "tenant", "voice", "engine", "cache", "characters", "created_at", "waited",
        "error_code",
    ]  # fmt: skip
    list_filter = [filters.STATE, filters.TENANT, filters.EngineFilter, filters.VoiceFilter]
    search_fields = ["=request_id"]
    search_help_text = _("Id or request id")
    actions = ["cancel"]
    actions_detail = ["cancel_this"]
    change_form_after_template = "admin/synth/sentences.html"
    fieldsets = [
        (None, {"fields": ["job_id", "state", "text", "listen", "tenant", "rendering_link"]}),
        (_("Request"), {"fields": [
            "voice", "engine", "language", "cache", "why_no_hit", "priority_name", "category", "characters",
            "metadata_json", "request_id", "api_key",
        ]}),
        (_("Times"), {"fields": ["created_at", "ended_at", "waited"]}),
        (_("Error"), {"fields": ["error_code", "error_detail"]}),
    ]  # fmt: skip

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        context["sentences"] = sentences_table(kwargs["obj"].rendering)
        response: HttpResponse = super().render_change_form(request, context, *args, **kwargs)
        return response

    def has_cancel_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        """Whom Django's own permissions let change jobs; the screen itself changes nothing else."""
        return request.user.has_perm("synth.change_job")

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """What has ended has no button to cancel it."""
        is_open = Job.objects.filter(id=object_id, state__in=OPEN).exists()
        return super().get_actions_detail(request, object_id) if is_open else []

    @action(description=_("Cancel"), permissions=["cancel"])
    def cancel(self, request: HttpRequest, jobs: QuerySet[Job]) -> None:
        self._cancel(request, jobs)

    @action(description=_("Cancel"), permissions=["cancel"], icon="block", dialog=CONFIRMATION)
    def cancel_this(self, request: HttpRequest, form: BaseDialogForm, object_id: UUID) -> HttpResponse:  # noqa: ARG002
        self._cancel(request, Job.objects.filter(id=object_id))
        return HttpResponse(headers={"HX-Redirect": reverse("admin:synth_job_change", args=[object_id])})

    def _cancel(self, request: HttpRequest, jobs: Iterable[Job]) -> None:
        canceled = unchanged = 0
        for job in jobs:
            after = service.cancel(TenantRef(job.tenant_id), job.id)
            if job.state in OPEN and after.state == State.CANCELED:
                canceled += 1
                self.log_change(request, after, [{"changed": {"fields": ["state"]}}])
            else:
                unchanged += 1
        self.message_user(request, gettext("Canceled: %d") % canceled)
        if unchanged:
            self.message_user(request, gettext("Had ended before: %d") % unchanged, messages.WARNING)

    @display(description=_("id"))
    def job_id(self, job: Job) -> str:
        return job.public_id

    @display(description=_("waited"))
    def waited(self, job: Job) -> str:
        return seconds(((job.ended_at or timezone.now()) - job.created_at).total_seconds())

    @display(description=_("why it was no hit"))
    def why_no_hit(self, job: Job) -> Any:
        return reason_name(job.miss_reason)

    @display(description=_("text"))
    def text(self, job: Job) -> SafeString:
        return format_html('<div class="refrain-text">{}</div>', job.rendering.spec.get("text", ""))

    @display(description=_("listen"))
    def listen(self, job: Job) -> str:
        kept = job.state == State.SUCCEEDED and job.rendering.digest
        return player(TenantRef(job.tenant_id), of_job(job)) if kept else ""

    @display(description=_("rendering"))
    def rendering_link(self, job: Job) -> SafeString:
        return link("synth_rendering", job.rendering_id, job.rendering_id)

    @display(description=_("API key"))
    def api_key(self, job: Job) -> str:
        return link("tenants_apikey", job.api_key_id, job.api_key_id) if job.api_key_id else ""

    @display(description=_("metadata"))
    def metadata_json(self, job: Job) -> SafeString:
        return readable_json(job.metadata)
