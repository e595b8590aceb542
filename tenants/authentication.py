"""Who is calling: from an Authorization header to a Caller. REST framework views use `ApiKeyAuthentication`;

the speech door uses `bearer_token` and `identify` with records out of a snapshot, without SQL.
"""

from datetime import datetime
from typing import Final

from django.conf import settings
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from tenants import keys, last_used
from tenants.context import deed
from tenants.errors import Forbidden, Unauthenticated
from tenants.errors import untranslated as _
from tenants.models import ApiKey
from tenants.types import Caller, TenantRef

CHALLENGE: Final = 'Bearer realm="refrain"'


class TenantSuspended(Forbidden):
    """Said only to a caller whose key is good."""

    code = "tenant_suspended"
    title = _("Tenant suspended")
    detail = _("This account is suspended. Ask the operator.")


def bearer_token(header: str | None) -> str:
    """The token of an Authorization header; raises Unauthenticated when there is none."""
    scheme, _, token = (header or "").partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token:
        raise Unauthenticated
    return token


def find_record(token: str) -> keys.KeyRecord | None:
    """The key's row by its look-up part: one query, or none at all for a token that was never minted."""
    parsed = keys.parse(token)
    if parsed is None:
        return None
    key = ApiKey.objects.select_related("tenant").filter(lookup=parsed.lookup).order_by().first()
    return key.record if key else None


def identify(record: keys.KeyRecord | None, token: str, *, now: datetime) -> Caller:
    """The caller behind a token and the record found for it (None: not found).

    Raises Unauthenticated, the same for unknown, wrong, expired and revoked; TenantSuspended after a good key.
    """
    record = record or keys.NOBODY
    if not keys.matches(record, token, peppers=settings.REFRAIN_KEY_PEPPERS):
        raise Unauthenticated
    _tell_audit(record)
    if not record.usable_at(now):
        raise Unauthenticated
    if not record.tenant_active:
        raise TenantSuspended
    tenant = TenantRef(record.tenant_id)
    return Caller(
        tenant=tenant,
        key_id=record.id,
        scopes=record.scopes,
        limit=record.limit,
        quotas=record.quotas,
        max_open_jobs=record.max_open_jobs,
    )


def _tell_audit(record: keys.KeyRecord) -> None:
    """Whose request this is: also one by a key that was revoked or has expired."""
    said = deed()
    said.tenant_id, said.actor_kind, said.actor_id = record.tenant_id, "key", str(record.id)


def caller_of(request: Request) -> Caller:
    """Who a request is from, in a view behind `ApiKeyAuthentication`."""
    caller: object = request.auth
    if not isinstance(caller, Caller):
        raise Unauthenticated
    return caller


class ApiKeyAuthentication(BaseAuthentication):
    """Reads the key's row on every request, so a revoked key is refused at once. `request.auth` is the Caller."""

    def authenticate(self, request: Request) -> tuple[None, Caller]:
        token = bearer_token(request.headers.get("Authorization"))
        caller = identify(find_record(token), token, now=timezone.now())
        last_used.note(caller.key_id)
        return None, caller

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002
        return CHALLENGE
