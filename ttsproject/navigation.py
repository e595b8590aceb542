"""What the admin's sidebar lists and its first page shows, by what a user may see. django-unfold calls both by name."""

from typing import Any

from django.apps import apps
from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse_lazy
from django.utils.translation import gettext_lazy as _

from synth.admin import dashboard
from tenants.operators import bound_to

# Group -> (title, icon, app, model).
GROUPS: tuple[tuple[Any, tuple[tuple[Any, str, str, str], ...]], ...] = (
    (
        _("Speech"),
        (
            (_("Entries"), "library_music", "synth", "entry"),
            (_("Jobs"), "assignment", "synth", "job"),
            (_("Renderings"), "merge", "synth", "rendering"),
            (_("Syntheses"), "graphic_eq", "synth", "synthesis"),
            (_("Batches"), "playlist_play", "synth", "batch"),
            (_("Cache actions"), "cleaning_services", "synth", "curationaction"),
            (_("TTL rules"), "timer", "synth", "policy"),
            (_("Misses"), "troubleshoot", "synth", "missday"),
            (_("Examples of misses"), "search_off", "synth", "missexample"),
            (_("Lexicons"), "dictionary", "synth", "lexiconword"),
            (_("Engine cards"), "memory", "synth", "enginecardrow"),
            (_("Voices"), "record_voice_over", "synth", "clonedvoice"),
            (_("Voice events"), "history", "synth", "voiceevent"),
            (_("Voice settings"), "tune", "synth", "voicesettings"),
            (_("Usage"), "receipt_long", "tenants", "usage"),
            (_("Savings"), "savings", "synth", "engineday"),
        ),
    ),
    (
        _("Behind the charts"),
        (
            (_("Requests by day"), "calendar_month", "tenants", "usageday"),
            (_("Latency by day"), "speed", "synth", "latencyday"),
            (_("Failures by day"), "error", "synth", "failureday"),
            (_("Phrases by day"), "format_quote", "synth", "phraseday"),
            (_("Samples"), "monitor_heart", "synth", "sample"),
        ),
    ),
    (
        _("Webhooks"),
        (
            (_("Endpoints"), "webhook", "synth", "webhookendpoint"),
            (_("Deliveries"), "outbox", "synth", "webhookdelivery"),
            (_("Events"), "notifications", "synth", "webhookevent"),
        ),
    ),
    (
        _("Access"),
        (
            (_("Tenants"), "apartment", "tenants", "tenant"),
            (_("API keys"), "key", "tenants", "apikey"),
            (_("Audit"), "policy", "tenants", "auditevent"),
            (_("Audit chains"), "link", "tenants", "auditchain"),
            (_("Unusual use"), "warning", "tenants", "auditflag"),
            (_("Users"), "person", "auth", "user"),
            (_("Groups"), "group", "auth", "group"),
        ),
    ),
)


def sidebar(request: HttpRequest) -> list[dict[str, Any]]:
    return [
        {
            "title": title,
            "items": [
                {"title": name, "icon": icon, "link": reverse_lazy(f"admin:{app}_{model}_changelist")}
                for name, icon, app, model in items
                if _may_see(request, app, model)
            ],
        }
        for title, items in GROUPS
    ]


def first_page(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """The dashboard, for whom the days of usage are meant."""
    if not _may_see(request, "tenants", "usageday"):
        return context

    def may_see(model: str) -> bool:
        return _may_see(request, *model.split("_", 1))

    return context | {"dashboard": dashboard.page(may_see, tenant=bound_to(request))}


def _may_see(request: HttpRequest, app: str, model: str) -> bool:
    return bool(admin.site.get_model_admin(apps.get_model(app, model)).has_view_permission(request))
