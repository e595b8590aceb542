"""The renderings' screen: what is being joined, of which sentences, and for which jobs."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from synth.admin import filters
from synth.admin.base import QueueAdmin, beginning, excerpt, link, readable_json, seconds
from synth.admin.player import player
from synth.admin.sentences import sentences_table
from synth.models import Job, Rendering
from synth.models.states import State
from synth.stored import of_job
from tenants.types import TenantRef

JOBS_SHOWN = 20


@admin.register(Rendering)
class RenderingAdmin(QueueAdmin):
    list_display = [
        "text_excerpt", "state_label", "tenant", "attempt", "worker", "format", "length", "created_at", "ended_at",
        "error_code",
    ]  # fmt: skip
    list_filter = [filters.STATE, filters.TENANT]
    search_fields = ["=key", "=worker", "=error_code", "=tenant__slug"]
    search_help_text = _("Id, key, worker, error or tenant")
    change_form_after_template = "admin/synth/sentences.html"
    fieldsets = [
        (None, {"fields": ["id", "state", "text_whole", "listen", "tenant", "job_links"]}),
        (_("Run"), {"fields": ["attempt", "worker", "lease_until", "not_before", "created_at", "ended_at"]}),
        (_("Result"), {"fields": ["entry_link", "format", "length", "size", "digest"]}),
        (_("Error"), {"fields": ["error_code", "error_detail"]}),
        (_("Request"), {"fields": ["priority_name", "category", "stored", "key", "spec_json"]}),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Rendering]:
        rows: QuerySet[Rendering] = super().get_queryset(request)
        return rows.defer("spec").annotate(text_beginning=beginning(KeyTextTransform("text", "spec")))

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        rendering = kwargs["obj"]
        context["sentences"] = sentences_table(rendering)
        # Once here: a template reads each field several times.
        rendering.newest_jobs = list(rendering.jobs.order_by("-created_at", "-id")[:JOBS_SHOWN])
        response: HttpResponse = super().render_change_form(request, context, *args, **kwargs)
        return response

    @display(description=_("text"))
    def text_excerpt(self, rendering: Rendering) -> str:
        return excerpt(getattr(rendering, "text_beginning", ""))

    @display(description=_("text"))
    def text_whole(self, rendering: Rendering) -> SafeString:
        return format_html('<div class="refrain-text">{}</div>', rendering.spec.get("text", ""))

    @display(description=_("listen"))
    def listen(self, rendering: Rendering) -> str:
        job = next(iter(_jobs(rendering)), None)
        if job is None or rendering.state != State.SUCCEEDED or not rendering.digest:
            return ""
        return player(TenantRef(rendering.tenant_id), of_job(job))

    @display(description=_("jobs"))
    def job_links(self, rendering: Rendering) -> str:
        return format_html_join(", ", "{}", ((link("synth_job", job.id, job.public_id),) for job in _jobs(rendering)))

    @display(description=_("entry"))
    def entry_link(self, rendering: Rendering) -> str:
        return link("synth_entry", rendering.entry_id, rendering.entry_id) if rendering.entry_id else ""

    @display(description=_("duration"), ordering="duration")
    def length(self, rendering: Rendering) -> str:
        return seconds(rendering.duration)

    @display(description=_("spec"))
    def spec_json(self, rendering: Rendering) -> SafeString:
        return readable_json({name: value for name, value in rendering.spec.items() if name != "text"})


def _jobs(rendering: Rendering) -> list[Job]:
    return getattr(rendering, "newest_jobs", [])
