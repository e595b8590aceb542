"""The engines' screen: which versions published a card, which one is current, and how its workers are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse
from django.template.defaultfilters import filesizeformat
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from synth import selectors
from synth.admin.base import ReadOnlyAdmin
from synth.models import EngineCardRow, EngineWorker
from synth.types import EngineCard, Voice

MOST_WORKERS = 50
STATES = {"available": _("available"), "away": _("away"), "broken": _("broken")}


@admin.register(EngineCardRow)
class EngineCardAdmin(ReadOnlyAdmin):
    tenant_path = ""
    paginator = Paginator  # a card for each version that ever ran: few
    list_display = [
        "name", "state_label", "current", "version", "seen_at", "voices_count", "languages", "problem",
    ]  # fmt: skip
    list_filter = ["current"]
    search_fields = ["name", "model_version"]
    change_form_after_template = "admin/synth/engine.html"
    fieldsets = [
        (None, {"fields": ["name", "state", "current", "problem", "model_version", "seen_at", "created_at"]}),
        (_("Abilities"), {"fields": [
            "languages", "scripts", "sample_rate", "speed", "controls", "emotions", "deterministic", "max_units",
            "priority",
        ]}),
    ]  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[EngineCardRow]:
        """With the database's clock in each row, so that a list does not ask for it again and again."""
        rows: QuerySet[EngineCardRow] = super().get_queryset(request)
        return rows.annotate(database_now=Now())

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        row = kwargs["obj"]
        card = selectors.engine_status(row).card
        context["voices"] = _voices_table(card) if card else None
        context["workers"] = _workers_table(selectors.engine_workers(row)[:MOST_WORKERS])
        response: HttpResponse = super().render_change_form(request, context, *args, **kwargs)
        return response

    @display(description=_("state"), label={"available": "success", "away": "warning", "broken": "danger"})
    def state_label(self, row: EngineCardRow) -> tuple[str, Any]:
        state = selectors.engine_status(row, getattr(row, "database_now", None)).state
        return state, STATES[state]

    @display(description=_("state"))
    def state(self, row: EngineCardRow) -> Any:
        return self.state_label(row)[1]

    @display(description=_("model version"), ordering="model_version")
    def version(self, row: EngineCardRow) -> str:
        return row.model_version

    @display(description=_("voices"))
    def voices_count(self, row: EngineCardRow) -> int:
        return len(row.card.get("voices", ()))

    @display(description=_("languages"))
    def languages(self, row: EngineCardRow) -> str:
        return _listed(row, "languages")

    @display(description=_("scripts"))
    def scripts(self, row: EngineCardRow) -> str:
        return _listed(row, "scripts")

    @display(description=_("sample rate"))
    def sample_rate(self, row: EngineCardRow) -> str:
        return f"{row.card['sample_rate']} Hz" if row.card else ""

    @display(description=_("speed"))
    def speed(self, row: EngineCardRow) -> str:
        speed = row.card.get("speed")
        return f"{speed['minimum']}–{speed['maximum']}" if speed else ""

    @display(description=_("controls"))
    def controls(self, row: EngineCardRow) -> str:
        return ", ".join(sorted(row.card.get("controls", ())))

    @display(description=_("emotions"))
    def emotions(self, row: EngineCardRow) -> str:
        return _listed(row, "emotions")

    @display(description=_("equal input gives equal output"), boolean=True)
    def deterministic(self, row: EngineCardRow) -> bool:
        return bool(row.card.get("deterministic"))

    @display(description=_("units in one sentence, at most"))
    def max_units(self, row: EngineCardRow) -> Any:
        return row.card.get("max_units", "")

    @display(description=_("priority, the lower first"))
    def priority(self, row: EngineCardRow) -> Any:
        return row.card.get("priority", "")


def _listed(row: EngineCardRow, field: str) -> str:
    return ", ".join(row.card.get(field, ()))


def _workers_table(workers: Iterable[EngineWorker]) -> dict[str, Any] | None:
    headers = [
        _("worker"), _("model"), _("device"), _("memory"), _("device memory"), _("real-time factor"), _("last seen"),
    ]  # fmt: skip
    rows = [_worker(worker) for worker in workers]
    return {"headers": headers, "rows": rows} if rows else None


def _worker(worker: EngineWorker) -> list[Any]:
    return [
        worker.name,
        _("in memory") if worker.loaded else _("dropped, had no work"),
        worker.device,
        filesizeformat(worker.memory),
        filesizeformat(worker.device_memory) if worker.device_memory else "",
        "" if worker.real_time_factor is None else f"{worker.real_time_factor:.3f}",
        date_format(localtime(worker.seen_at), "DATETIME_FORMAT"),
    ]


def _voices_table(card: EngineCard) -> dict[str, Any]:
    headers = [_("name"), _("label"), _("gender"), _("languages"), _("default for"), _("fingerprint")]
    return {"headers": headers, "rows": [_voice(card, voice) for voice in card.voices]}


def _voice(card: EngineCard, voice: Voice) -> list[Any]:
    default_for = [language for language, name in card.default_voices.items() if name == voice.name]
    return [
        voice.name,
        voice.label,
        voice.gender,
        ", ".join(voice.languages),
        ", ".join(default_for),
        voice.fingerprint[:12],
    ]
