"""Keys that a tenant makes, changes and revokes itself, by the API: no key gives, or touches, more than it holds.

Doors call these with the Caller. What operators do goes through `tenants.service`, which these use.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from tenants import service
from tenants.errors import FieldProblem, Forbidden, InvalidRequest, NotFound, Problem, Unauthenticated
from tenants.errors import untranslated as _
from tenants.ids import parse_id
from tenants.keys import Kind
from tenants.limits import limit_of
from tenants.models import ApiKey, Tenant
from tenants.scopes import KEYS_WRITE
from tenants.types import Caller, Limit, TenantRef

# Each is in the memory of every API process. Those of the last day count, too: to make and revoke is not free.
MOST_KEYS = 200
MADE_LATELY = timedelta(days=1)


class TooManyKeys(Problem):
    status = 409
    code = "too_many_keys"
    title = _("Too many keys")
    detail = _("There are %(most)s keys already, those made within a day included. Revoke some, or wait.")


class KeyOutranks(Forbidden):
    code = "key_outranks"
    detail = _("That key has scopes that this one lacks: %(scopes)s.")


class LastKeyOfKeys(Problem):
    """Without one nobody could make another but the operator."""

    status = 409
    code = "last_key_of_keys"
    title = _("The last key of its kind")
    detail = _("No other usable key has the scope %(scope)s. Make one first, and revoke this one with it.")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyOrder:
    """What a new key is to be. Without an expiry or a limit it has those of the key that asks."""

    name: str
    scopes: tuple[str, ...]
    kind: Kind = Kind.LIVE
    expires_at: datetime | None = None
    rate: float | None = None
    burst: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyChange:
    """None leaves it as it is. A rate without a burst has that of one second."""

    name: str | None = None
    rate: float | None = None
    burst: int | None = None


def keys_of(tenant: TenantRef, *, status: str = "", made_by: UUID | None = None) -> QuerySet[ApiKey]:
    """A tenant's keys, the newest first; revoked ones, too, unless another status is asked for."""
    rows = ApiKey.objects.filter(tenant_id=tenant.id).order_by("-created_at", "-id")
    if made_by is not None:
        rows = rows.filter(made_by_id=made_by)
    now = timezone.now()
    by_status = {"active": _usable(now), "revoked": ~Q(revoked_at=None), "expired": _expired(now)}
    return rows.filter(by_status[status]) if status else rows


def key_of(tenant: TenantRef, text: str) -> ApiKey:
    """The tenant's key with this public id. Raises NotFound."""
    key_id = parse_id("key", text)
    row = keys_of(tenant).filter(id=key_id).first() if key_id else None
    if row is None:
        raise NotFound
    return row


@transaction.atomic
def make_key(caller: Caller, order: KeyOrder, *, default: Limit | None) -> tuple[ApiKey, str]:
    """A new key and its token, which is not told again. `default` is the limit of a tenant that has none of its own.

    Raises InvalidRequest for what the caller's key does not hold itself, and TooManyKeys.
    """
    tenant, maker, now = _locked(caller)
    counted = keys_of(caller.tenant).filter(_usable(now) | Q(created_at__gt=now - MADE_LATELY))
    if counted.count() >= MOST_KEYS:
        raise TooManyKeys(params={"most": MOST_KEYS})
    _refuse_scopes(order.scopes, maker)
    rate, burst = order.rate, order.burst
    if rate is None and burst is None:
        rate, burst = maker.rate_limit or None, maker.rate_burst
    _refuse_limit(limit_of(rate, burst), maker, tenant, default)
    return service.issue_key(
        tenant,
        order.name,
        order.scopes,
        expires_at=_expiry(order, maker),
        kind=order.kind,
        rate=rate,
        burst=burst,
        made_by=maker.id,
    )


@transaction.atomic
def change_key(caller: Caller, text: str, change: KeyChange, *, default: Limit | None) -> ApiKey:
    """Another name or limit, from the next request on. Raises NotFound, KeyOutranks, and InvalidRequest."""
    tenant, changer, _now = _locked(caller)
    key = _within_reach(caller, text)
    if change.name is not None:
        service.rename_key(key, change.name)
    if change.rate is not None or change.burst is not None:
        rate = key.rate_limit if change.rate is None else change.rate
        _refuse_limit(limit_of(rate, change.burst), changer, tenant, default)
        service.limit_key(key, rate=rate, burst=change.burst)
    return key


@transaction.atomic
def revoke_key(caller: Caller, text: str) -> ApiKey:
    """Refuse that key from its next request on, the caller's own, too. Raises NotFound, KeyOutranks, LastKeyOfKeys."""
    _tenant, _revoker, now = _locked(caller)
    key = _within_reach(caller, text)
    if KEYS_WRITE in key.scopes and key.record.usable_at(now):
        others = keys_of(caller.tenant).filter(_usable(now)).exclude(id=key.id).values_list("scopes", flat=True)
        if not any(KEYS_WRITE in scopes for scopes in others):
            raise LastKeyOfKeys(params={"scope": KEYS_WRITE})
    return service.revoke_key(key)


def _locked(caller: Caller) -> tuple[Tenant, ApiKey, datetime]:
    """The tenant, so that changes of its keys come one after the other, and the key that asks, as it is by now."""
    tenant = Tenant.objects.select_for_update().get(id=caller.tenant.id)
    key = ApiKey.objects.select_related("tenant").filter(id=caller.key_id).first()
    now = timezone.now()
    if key is None or not key.record.usable_at(now):
        raise Unauthenticated
    return tenant, key, now


def _within_reach(caller: Caller, text: str) -> ApiKey:
    """Somebody who has got hold of a lesser key must not be able to disturb a greater one."""
    key = key_of(caller.tenant, text)
    lacking = sorted(set(key.scopes) - caller.scopes)
    if lacking:
        raise KeyOutranks(params={"scopes": ", ".join(lacking)})
    return key


def _refuse_scopes(scopes: tuple[str, ...], maker: ApiKey) -> None:
    lacking = sorted(set(scopes) - set(maker.scopes))
    if lacking:
        message = _("This key cannot give what it lacks itself: %(scopes)s.")
        raise _refused("scopes", "scope_not_held", message, {"scopes": ", ".join(lacking)}, list(maker.scopes))


def _expiry(order: KeyOrder, maker: ApiKey) -> datetime | None:
    latest = maker.expires_at
    if order.expires_at is None or latest is None or order.expires_at <= latest:
        return order.expires_at or latest
    message = _("A key ends no later than the one that makes it.")
    raise _refused("expires_at", "out_of_range", message, {}, {"maximum": f"{latest:%Y-%m-%dT%H:%M:%SZ}"})


def _refuse_limit(wanted: Limit | None, asker: ApiKey, tenant: Tenant, default: Limit | None) -> None:
    """A key that is limited gives no more than it has, to itself neither; and none has more than the tenant."""
    own = limit_of(asker.rate_limit, asker.rate_burst)
    if wanted is None:
        if own is not None:
            raise _over("rate_limit", own.rate)
        return
    for limit in (own, limit_of(tenant.rate_limit, tenant.rate_burst, default=default)):
        if limit is not None and wanted.rate > limit.rate:
            raise _over("rate_limit", limit.rate)
        if limit is not None and wanted.burst > limit.burst:
            raise _over("rate_burst", limit.burst)


def _over(field: str, most: float) -> InvalidRequest:
    message = _("This is more than may be given here: %(maximum)s.")
    return _refused(field, "out_of_range", message, {"maximum": f"{most:g}"}, {"maximum": most})


def _refused(field: str, code: str, message: str, params: dict[str, str], allowed: object) -> InvalidRequest:
    problem = FieldProblem(field, code, message, params, allowed)
    return InvalidRequest(message, code=code, params=params, fields=(problem,))


def _usable(now: datetime) -> Q:
    return Q(revoked_at=None) & (Q(expires_at=None) | Q(expires_at__gt=now))


def _expired(now: datetime) -> Q:
    return Q(revoked_at=None, expires_at__lte=now)
