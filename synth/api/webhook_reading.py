"""The bodies of requests on webhook endpoints, read and checked field by field."""

from datetime import datetime
from typing import Any

from synth.api.webhook_serializers import MOST_DESCRIPTION
from synth.fields import Fields, moment_of
from synth.service import EndpointOrder
from synth.service.webhooks.endpoints import CHOOSABLE, LONGEST_OVERLAP, OVERLAP
from synth.webhooks.addresses import LONGEST_URL
from tenants.errors import untranslated as _

FIELDS = frozenset({"url", "events", "description", "any_path"})


def read_endpoint(payload: Any, *, is_new: bool) -> EndpointOrder:
    """What an endpoint is to be. Raises InvalidSpeech with every field that is wrong."""
    fields = Fields(payload)
    fields.refuse_unknown(FIELDS)
    order = EndpointOrder(
        url=fields.text("url", maximum=LONGEST_URL) if is_new or fields.given("url") else None,
        events=_events(fields),
        description=_description(fields),
        any_path=fields.flag("any_path"),
    )
    fields.raise_if_wrong()
    return order


def read_overlap(payload: Any) -> float:
    """Seconds that earlier secrets sign on; no body at all is the default."""
    fields = Fields(payload or {})
    fields.refuse_unknown({"overlap"})
    overlap = fields.number("overlap", default=OVERLAP, minimum=0, maximum=LONGEST_OVERLAP)
    fields.raise_if_wrong()
    return overlap


def read_since(payload: Any) -> datetime:
    fields = Fields(payload)
    fields.refuse_unknown({"since"})
    text = fields.text("since", maximum=64)
    moment = moment_of(text)
    if text and moment is None:
        fields.refuse("since", "invalid", _("This must be a time in ISO 8601 with its offset from UTC."))
    elif not text and not fields.refused:
        fields.refuse("since", "required", _("This field is required."))
    fields.raise_if_wrong()
    assert moment is not None  # noqa: S101 - otherwise something was wrong
    return moment


def refuse_body(payload: Any) -> None:
    """For orders that have nothing to say: what is sent along would be ignored."""
    fields = Fields(payload or {})
    fields.refuse_unknown(())
    fields.raise_if_wrong()


def _events(fields: Fields) -> tuple[str, ...] | None:
    given = fields.value("events")
    if given is None:
        return None
    allowed = list(CHOOSABLE)
    if not isinstance(given, list):
        fields.refuse("events", "not_a_list", _("This must be a list of types of events."), allowed=allowed)
        return None
    if not all(item in allowed for item in given):
        message = _("Each must be one of: %(choices)s. Events of speech go to the callback of their request.")
        fields.refuse("events", "not_allowed", message, allowed=allowed, choices=", ".join(allowed))
    return tuple(kind for kind in allowed if kind in given)


def _description(fields: Fields) -> str | None:
    if not fields.given("description"):
        return None
    return fields.text("description", maximum=MOST_DESCRIPTION).strip()
