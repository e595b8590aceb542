"""The bodies of requests on API keys, read and checked field by field."""

from datetime import datetime
from typing import Any

from synth.api.key_serializers import LONGEST_NAME
from synth.fields import Fields, moment_of
from tenants.errors import untranslated as _
from tenants.keys import Kind
from tenants.limits import MAX_BURST, MAX_RATE
from tenants.scopes import SCOPES
from tenants.self_service import KeyChange, KeyOrder

FIELDS = frozenset({"name", "scopes", "kind", "expires_at", "rate_limit", "rate_burst"})
CHANGEABLE = frozenset({"name", "rate_limit", "rate_burst"})


def read_key(payload: Any) -> KeyOrder:
    """What a new key is to be. Raises InvalidSpeech with every field that is wrong."""
    fields = Fields(payload)
    fields.refuse_unknown(FIELDS)
    rate, burst = _limit(fields)
    order = KeyOrder(
        name=_name(fields),
        scopes=_scopes(fields),
        kind=Kind(fields.choice("kind", [kind.value for kind in Kind], default=Kind.LIVE)),
        expires_at=_expiry(fields),
        rate=rate,
        burst=burst,
    )
    fields.raise_if_wrong()
    return order


def read_change(payload: Any) -> KeyChange:
    """What is to be changed of a key; what is not given stays."""
    fields = Fields(payload)
    fields.refuse_unknown(CHANGEABLE)
    rate, burst = _limit(fields)
    change = KeyChange(name=_name(fields) if fields.given("name") else None, rate=rate, burst=burst)
    fields.raise_if_wrong()
    return change


def _name(fields: Fields) -> str:
    """One that people can tell the key by."""
    given = fields.value("name")
    if isinstance(given, str) and not given.strip():
        fields.refuse("name", "required", _("This field is required."))
        return ""
    return fields.text("name", maximum=LONGEST_NAME).strip()


def _scopes(fields: Fields) -> tuple[str, ...]:
    given = fields.value("scopes")
    allowed = list(SCOPES)
    if given is None or given == []:
        fields.refuse("scopes", "required", _("This field is required."), allowed=allowed)
    elif not isinstance(given, list):
        fields.refuse("scopes", "not_a_list", _("This must be a list of scopes."), allowed=allowed)
    elif not all(isinstance(scope, str) and scope in SCOPES for scope in given):
        message = _("This must be one of: %(choices)s.")
        fields.refuse("scopes", "not_allowed", message, allowed=allowed, choices=", ".join(SCOPES))
    else:
        return tuple(scope for scope in SCOPES if scope in given)
    return ()


def _expiry(fields: Fields) -> datetime | None:
    text = fields.text("expires_at", maximum=64, default="")
    moment = moment_of(text)
    if text and moment is None:
        fields.refuse("expires_at", "invalid", _("This must be a time in ISO 8601 with its offset from UTC."))
    return moment


def _limit(fields: Fields) -> tuple[float | None, int | None]:
    """A rate of 0 is no limit."""
    rate = fields.number("rate_limit", default=0, minimum=0, maximum=MAX_RATE)
    burst = fields.integer("rate_burst", minimum=1, maximum=MAX_BURST)
    return (rate if fields.given("rate_limit") else None), burst
