"""The catalogue's screen: find what is stored, hear it, see how it stands, and change it (`curating.py`)."""

from __future__ import annotations

import re
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from synth import selectors, service
from synth.admin import filters
from synth.admin.base import RowsAtOnce, beginning, excerpt, link, parse_row_id, readable_json, seconds
from synth.admin.curating import CuratesEntries
from synth.admin.player import player
from synth.admin.rule_words import duration
from synth.models import Entry
from synth.service import EntryStanding, EntryState
from synth.stored import of_entry
from tenants.ids import public_id
from tenants.models import Tenant
from tenants.types import TenantRef

STATE_COLOURS = {
    EntryState.FRESH.value: "success",
    EntryState.PINNED.value: "success",
    EntryState.STALE.value: "info",
    EntryState.EXPIRED.value: "warning",
    EntryState.UNUSED.value: "warning",
    EntryState.LOST.value: "danger",
}
A_DIGEST = re.compile(r"[0-9a-f]{64}")
# In which an index by three letters finds nothing.
SHORT = 3


class EntryList(RowsAtOnce):
    """Works out how the rows of one page stand."""

    def complete(self, rows: list[Entry]) -> None:
        for row, standing in zip(rows, _standings(rows), strict=True):
            row.standing = standing  # type: ignore[attr-defined]


@admin.register(Entry)
class EntryAdmin(CuratesEntries):
    id_prefix = "ent"
    list_display = [
        "text_excerpt", "listen", "state_label", "hits", "age", "rule", "tenant", "spoken_by", "category", "length",
        "file",
    ]  # fmt: skip
    list_select_related = ["tenant"]
    list_filter = [
        filters.TENANT, filters.EntryStateFilter, filters.KIND, filters.EngineFilter, filters.VoiceFilter,
        filters.CATEGORY, filters.FormatFilter, "pinned",
    ]  # fmt: skip
    list_filter_submit = True  # a text among the filters
    search_fields = ["text"]
    search_help_text = _("Text, tenant, voice, engine or id")
    fieldsets = [
        (None, {"fields": ["public_id", "text_whole", "listen", "tenant", "kind", "category", "pinned"]}),
        (_("How it stands"), {"fields": ["state_name", "hits", "age", "rule"]}),
        (_("Before it was made anew"), {"fields": ["compared"]}),
        (_("Sound"), {"fields": ["voice", "engine", "model_version", "length", "format", "media_type", "sample_rate"]}),
        (_("Storage"), {"fields": ["size_label", "digest", "key", "made_at", "created_at", "provenance_json"]}),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Entry]:
        rows: QuerySet[Entry] = super().get_queryset(request)
        rows = rows.defer("text", "spec", "provenance").annotate(text_beginning=beginning("text"))
        return service.with_characters(rows)

    def get_changelist(self, request: HttpRequest, **_kwargs: Any) -> type[EntryList]:  # noqa: ARG002
        return EntryList

    def get_fieldsets(self, request: HttpRequest, obj: Entry | None = None) -> Any:
        found = super().get_fieldsets(request, obj)
        if obj is not None and service.sound_before(obj) is None:
            found = [part for part in found if "compared" not in part[1]["fields"]]
        return found

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Entry], search_term: str
    ) -> tuple[QuerySet[Entry], bool]:
        """Texts that hold every word, and what is a tenant's, a voice's or an engine's of that name."""
        term = search_term.strip()
        if not term or parse_row_id(self.id_prefix, term) is not None:
            return super().get_search_results(request, queryset, search_term)
        if A_DIGEST.fullmatch(term):
            return queryset.filter(Q(key=term) | Q(digest=term)), False
        return queryset.filter(_in_text(term) | _by_name(term)), False

    @display(description=_("text"))
    def text_excerpt(self, entry: Entry) -> str:
        return excerpt(getattr(entry, "text_beginning", ""))

    @display(description=_("text"))
    def text_whole(self, entry: Entry) -> SafeString:
        return format_html('<div class="refrain-text">{}</div>', entry.text)

    @display(description=_("listen"))
    def listen(self, entry: Entry) -> str:
        return player(TenantRef(entry.tenant_id), of_entry(entry))

    @display(description=_("state"), label=STATE_COLOURS)
    def state_label(self, entry: Entry) -> tuple[str, Any]:
        state = _standing(entry).state
        return state.value, filters.ENTRY_STATES[state]

    @display(description=_("state"))
    def state_name(self, entry: Entry) -> Any:
        return filters.ENTRY_STATES[_standing(entry).state]

    @display(description=_("hits"))
    def hits(self, entry: Entry) -> int | str:
        return _standing(entry).hits if entry.kind == Entry.Kind.RENDITION else ""

    @display(description=_("age"), ordering="-made_at")
    def age(self, entry: Entry) -> str:
        standing = _standing(entry)
        if standing.state is EntryState.LOST:
            return ""
        if standing.state is EntryState.PINNED:
            return gettext("%s, pinned") % duration(standing.age)
        ages = {"age": duration(standing.age), "ttl": duration(standing.max_age)}
        return gettext("%(age)s of %(ttl)s") % ages

    @display(description=_("rule"))
    def rule(self, entry: Entry) -> str:
        found = _standing(entry).rule
        return link("synth_policy", found.pk, excerpt(str(found))) if found else gettext("default")

    @display(description=_("voice"), ordering="voice")
    def spoken_by(self, entry: Entry) -> str:
        return f"{entry.engine}/{entry.voice}"

    @display(description=_("file"), ordering="size")
    def file(self, entry: Entry) -> str:
        return f"{entry.format}, {filesizeformat(entry.size)}"

    @display(description=_("before and now"))
    def compared(self, entry: Entry) -> str:
        """The two sounds side by side."""
        before, tenant = service.sound_before(entry), TenantRef(entry.tenant_id)
        if before is None:
            return ""
        sounds = [
            {"title": title, "player": player(tenant, sound), "sound": sound, "made_at": made_at}
            for title, sound, made_at in (
                (_("Before"), before, entry.previous_made_at),
                (_("Now"), of_entry(entry), entry.made_at),
            )
        ]
        return render_to_string("admin/synth/entry/compared.html", {"sounds": sounds, "until": entry.previous_until})

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


def _standings(rows: list[Entry]) -> list[EntryStanding]:
    found = service.standings(rows)
    return [found[row.id] for row in rows]


def _standing(entry: Entry) -> EntryStanding:
    """That of a row of the list is worked out with the others."""
    found: EntryStanding | None = getattr(entry, "standing", None)
    if found is None:
        [found] = _standings([entry])
        entry.standing = found  # type: ignore[attr-defined]
    return found


def _in_text(term: str) -> Q:
    """Letter case does not count. A word that has none, and is too short for the index, need not be folded."""
    wanted = Q()
    for word in term.split():
        plain = len(word) < SHORT and word.upper() == word.lower()
        wanted &= Q(text__contains=word) if plain else Q(text__icontains=word)
    return wanted


def _by_name(term: str) -> Q:
    """Asked of the small tables, so that the large one is not searched for names that nobody has."""
    cards = selectors.cards()
    voices = {voice.name for card in cards for voice in card.voices if voice.name.lower() == term.lower()}
    engines = {card.name for card in cards if card.name.lower() == term.lower()}
    tenants = list(Tenant.objects.filter(Q(slug__iexact=term) | Q(name__iexact=term)).values_list("id", flat=True))
    named = {"voice__in": voices, "engine__in": engines, "tenant_id__in": tenants}
    found = Q()
    for column, names in named.items():
        if names:
            found |= Q(**{column: names})
    return found
