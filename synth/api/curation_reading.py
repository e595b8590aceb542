"""Which entries a request of the cache's curation is about: read from its body, and told back in the same words."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from synth.api.curation_serializers import KINDS, MOST_IDS
from synth.codec import utc
from synth.fields import Fields, moment_of
from synth.models import CurationAction
from synth.service import EntryFilter, Selection
from tenants.errors import NotFound
from tenants.errors import untranslated as _
from tenants.ids import parse_id, public_id

FIELDS = frozenset({"entry_ids", "filter", "expected_count", "dry_run"})
FILTER_FIELDS = frozenset(
    {"voice", "engine", "model_version", "category", "text_contains", "kind", "pinned", "older_than", "made_before"}
)
OLDEST = 100 * 365 * 86_400.0


def read_order(fields: Fields) -> tuple[Selection, int | None, bool]:
    """Which entries, how many the caller expects, and whether they are only to be counted."""
    fields.refuse_unknown(FIELDS)
    expected = fields.integer("expected_count", minimum=0, maximum=10**9)
    dry_run = fields.flag("dry_run")
    if fields.given("entry_ids") == fields.given("filter"):
        fields.refuse("entry_ids", "required", _("Give either entry_ids or filter."))
        fields.raise_if_wrong()
    selection = Selection(filter=_filter(fields)) if fields.given("filter") else Selection(ids=_ids(fields))
    fields.raise_if_wrong()
    return selection, expected, bool(dry_run)


def _ids(fields: Fields) -> tuple[UUID, ...]:
    given = fields.value("entry_ids")
    if not isinstance(given, list) or not all(isinstance(item, str) for item in given):
        fields.refuse("entry_ids", "not_a_list", _("This must be a list of ids."))
    elif not 1 <= len(given) <= MOST_IDS:
        bounds = {"minimum": 1, "maximum": MOST_IDS}
        fields.refuse("entry_ids", "out_of_range", _("Name 1 to %(maximum)s ids."), allowed=bounds, **bounds)
    else:
        found = [parse_id("ent", item) for item in given]
        ids = tuple(dict.fromkeys(item for item in found if item is not None))
        if None in found:
            raise NotFound
        return ids
    return ()


def _filter(fields: Fields) -> EntryFilter:
    given = fields.value("filter")
    if not isinstance(given, dict):
        fields.refuse("filter", "not_an_object", _("This must be a JSON object."))
        return EntryFilter()
    inner = fields.inner("filter", given)
    inner.refuse_unknown(FILTER_FIELDS)
    chosen = EntryFilter(
        voice=inner.text("voice", default="", maximum=128),
        engine=inner.text("engine", default="", maximum=64),
        model_version=inner.text("model_version", default="", maximum=128),
        category=inner.text("category", default="", maximum=64),
        text_contains=inner.text("text_contains", default="", maximum=1000),
        kind=inner.choice("kind", KINDS, default="") if inner.given("kind") else "",
        pinned=inner.flag("pinned"),
        made_before=_made_before(inner),
    )
    if not chosen.conditions and not inner.refused:
        fields.refuse("filter", "required", _("An empty filter would match everything: give made_before at least."))
    return chosen


def _made_before(inner: Fields) -> datetime | None:
    """The earlier of the two ways to say it."""
    found = []
    if inner.given("older_than"):
        seconds = inner.number("older_than", default=0, minimum=0, maximum=OLDEST)
        found.append(timezone.now() - timedelta(seconds=seconds))
    if inner.given("made_before"):
        moment = moment_of(inner.text("made_before", default="", maximum=64))
        if moment is None:
            inner.refuse("made_before", "invalid", _("This must be a time in ISO 8601 with its offset from UTC."))
        else:
            found.append(moment)
    return min(found, default=None)


def selection_body(action: CurationAction) -> dict[str, Any]:
    """What was asked for, in the words of the request."""
    if not action.selection:
        return {}
    chosen = Selection.from_json(action.selection)
    if chosen.filter is None:
        return {"entry_ids": [public_id("ent", entry_id) for entry_id in chosen.ids]}
    told = {name: getattr(chosen.filter, name) for name in sorted(FILTER_FIELDS - {"older_than"})}
    made_before = chosen.filter.made_before
    told["made_before"] = utc(made_before) if made_before else None
    return {"filter": {name: value for name, value in told.items() if value not in ("", None)}}
