"""Every change of a tenant or a key. Admin and commands call these; each raises the tenant's snapshot version."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify

from tenants import keys
from tenants.errors import FieldProblem, InvalidRequest
from tenants.errors import untranslated as _
from tenants.ids import new_id
from tenants.limits import MAX_BURST, MAX_OWN_RULES, MAX_OWN_TTL, MAX_RATE, MAX_WORK, MIN_RATE
from tenants.models import ApiKey, Tenant
from tenants.quotas import MAX_QUOTA, NAMES
from tenants.scopes import SCOPES
from tenants.versions import raise_versions

MAX_AUDIT_DAYS = 36_500


@transaction.atomic
def create_tenant(
    name: str,
    slug: str | None = None,
    *,
    rate: float | None = None,
    burst: int | None = None,
    max_open_jobs: int | None = None,
    max_running: int | None = None,
) -> Tenant:
    """A new, active tenant. Without a slug one is made from the name; what has no limit here has the platform's."""
    limits = _checked_limit(rate, burst) | _checked_work(max_open_jobs, max_running)
    tenant = Tenant.objects.create(name=name, slug=_checked_slug(slug) if slug else _free_slug(name), **limits)
    return _raised(tenant)


@transaction.atomic
def update_tenant(tenant: Tenant, *, name: str, slug: str) -> Tenant:
    tenant.name = name
    tenant.slug = slug
    tenant.save(update_fields=["name", "slug"])
    return _raised(tenant)


@transaction.atomic
def limit_tenant(tenant: Tenant, *, rate: float | None, burst: int | None) -> Tenant:
    """Requests a second and at once, from the next request on. None is the platform's default, 0 is no limit."""
    _set_limit(tenant, rate, burst)
    return _raised(tenant)


@transaction.atomic
def limit_work(tenant: Tenant, *, max_open_jobs: int | None, max_running: int | None) -> Tenant:
    """Requests that may wait and sentences that may be spoken at a time, from the next ones on. None is the platform's
    default, 0 is no limit. What waits or runs already is left alone.
    """
    _set_columns(tenant, _checked_work(max_open_jobs, max_running))
    return _raised(tenant)


@transaction.atomic
def limit_quotas(tenant: Tenant, **quotas: int | None) -> Tenant:
    """Characters, voices and bytes, by the names of `tenants.quotas.NAMES`, from the next request on; what is not named

    stays. None is the platform's default, 0 is no quota.
    """
    _set_columns(tenant, _checked_quotas(quotas) | {"quotas_epoch": tenant.quotas_epoch + 1})
    return _raised(tenant)


@transaction.atomic
def limit_own_rules(tenant: Tenant, *, max_own_rules: int | None, max_own_ttl: int | None) -> Tenant:
    """How many TTL rules it may make itself (0: none), and their longest TTL in seconds (0: any).

    None is the platform's default. Rules that are there stay as they are.
    """
    if max_own_rules is not None and not 0 <= max_own_rules <= MAX_OWN_RULES:
        raise _invalid("max_own_rules", "out_of_range", "It is 0, or 1 to %(maximum)s.", maximum=str(MAX_OWN_RULES))
    if max_own_ttl is not None and not 0 <= max_own_ttl <= MAX_OWN_TTL:
        raise _invalid("max_own_ttl", "out_of_range", "It is 0, or 1 to %(maximum)s.", maximum=str(MAX_OWN_TTL))
    _set_columns(tenant, {"max_own_rules": max_own_rules, "max_own_ttl": max_own_ttl})
    return _raised(tenant)


@transaction.atomic
def keep_audit(tenant: Tenant, *, text: str, days: int | None) -> Tenant:
    """How the audit keeps texts from the next request on, and for how many days it keeps events (0: for good).

    What is written already stays as it is. None is the platform's default.
    """
    if text not in Tenant.AuditText.values:
        allowed = ", ".join(Tenant.AuditText.values)
        raise _invalid("audit_text", "unknown", "It takes one of: %(allowed)s.", allowed=allowed)
    if days is not None and not 0 <= days <= MAX_AUDIT_DAYS:
        raise _invalid("audit_days", "out_of_range", "It is 0, or 1 to %(maximum)s.", maximum=str(MAX_AUDIT_DAYS))
    _set_columns(tenant, {"audit_text": text, "audit_days": days})
    return _raised(tenant)


@transaction.atomic
def suspend_tenant(tenant: Tenant) -> Tenant:
    """Refuse every key of this tenant (403) until it is resumed."""
    return _set_status(tenant, Tenant.Status.SUSPENDED)


@transaction.atomic
def resume_tenant(tenant: Tenant) -> Tenant:
    return _set_status(tenant, Tenant.Status.ACTIVE)


@transaction.atomic
def issue_key(
    tenant: Tenant,
    name: str,
    scopes: Iterable[str],
    *,
    expires_at: datetime | None = None,
    kind: keys.Kind = keys.Kind.LIVE,
    rate: float | None = None,
    burst: int | None = None,
    made_by: UUID | None = None,
) -> tuple[ApiKey, str]:
    """A new key and its token. The token is kept nowhere: show it now or never. `made_by`: the key that asked for it.

    Raises InvalidRequest for a scope that does not exist, for none at all, for an expiry in the past, and for a limit
    that cannot be.
    """
    wanted = _checked_scopes(scopes)
    if expires_at is not None and expires_at <= timezone.now():
        raise _invalid("expires_at", "in_the_past", _("The expiry lies in the past."))
    minted = keys.mint(kind, settings.REFRAIN_KEY_PEPPERS)
    key = ApiKey.objects.create(
        tenant=tenant,
        name=name,
        kind=kind,
        lookup=minted.lookup,
        digest=minted.digest,
        pepper=minted.pepper,
        scopes=wanted,
        expires_at=expires_at,
        made_by_id=made_by,
        **_checked_limit(rate, burst),
    )
    raise_versions([tenant.id])
    return key, minted.token


@transaction.atomic
def rename_key(key: ApiKey, name: str) -> ApiKey:
    key.name = name
    key.save(update_fields=["name"])
    raise_versions([key.tenant_id])
    return key


@transaction.atomic
def limit_key(key: ApiKey, *, rate: float | None, burst: int | None) -> ApiKey:
    """A limit of the key's own, beside its tenant's. None and 0 are no limit."""
    _set_limit(key, rate, burst)
    raise_versions([key.tenant_id])
    return key


@transaction.atomic
def limit_key_quotas(key: ApiKey, *, max_open_jobs: int | None = None, **quotas: int | None) -> ApiKey:
    """The same of a key, beside its tenant's, and the requests of it that may wait. None and 0 are no quota."""
    work = _checked_work(max_open_jobs, None)
    columns = _checked_quotas(quotas) | {"quotas_epoch": key.quotas_epoch + 1}
    _set_columns(key, columns | {"max_open_jobs": work["max_open_jobs"]})
    raise_versions([key.tenant_id])
    return key


@transaction.atomic
def revoke_key(key: ApiKey) -> ApiKey:
    """Refuse this key from its next request on. A key revoked before keeps its first time."""
    now = timezone.now()
    if ApiKey.objects.filter(id=key.id, revoked_at=None).update(revoked_at=now):
        raise_versions([key.tenant_id])
    key.refresh_from_db(fields=["revoked_at"])
    return key


@transaction.atomic
def delete_key(key: ApiKey) -> None:
    tenant_id = key.tenant_id
    key.delete()
    raise_versions([tenant_id])


def _set_status(tenant: Tenant, status: Tenant.Status) -> Tenant:
    tenant.status = status
    tenant.save(update_fields=["status"])
    return _raised(tenant)


def _raised(tenant: Tenant) -> Tenant:
    raise_versions([tenant.id])
    tenant.refresh_from_db(fields=["snapshot_version"])
    return tenant


def _checked_scopes(scopes: Iterable[str]) -> list[str]:
    """The scopes in the order of SCOPES, each once."""
    wanted = set(scopes)
    unknown = sorted(wanted.difference(SCOPES))
    if unknown:
        message = "There is no scope %(unknown)s; there are: %(scopes)s."
        raise _invalid("scopes", "unknown_scope", message, unknown=", ".join(unknown), scopes=", ".join(SCOPES))
    if not wanted:
        message = "A key needs at least one scope of: %(scopes)s."
        raise _invalid("scopes", "no_scope", message, scopes=", ".join(SCOPES))
    return [scope for scope in SCOPES if scope in wanted]


def _set_limit(row: Tenant | ApiKey, rate: float | None, burst: int | None) -> None:
    _set_columns(row, _checked_limit(rate, burst))


def _set_columns(row: Tenant | ApiKey, columns: dict[str, Any]) -> None:
    for name, value in columns.items():
        setattr(row, name, value)
    row.save(update_fields=list(columns))


def _checked_limit(rate: float | None, burst: int | None) -> dict[str, Any]:
    """The two columns. A burst of no rate would be ignored without a word."""
    if rate is not None and rate != 0 and not MIN_RATE <= rate <= MAX_RATE:
        message = _("A rate is 0, or %(minimum)s to %(maximum)s requests a second.")
        raise _invalid("rate_limit", "out_of_range", message, minimum=f"{MIN_RATE:g}", maximum=f"{MAX_RATE:g}")
    if burst is not None and not (rate and 1 <= burst <= MAX_BURST):
        message = _("A burst goes with a rate, and is 1 to %(maximum)s requests.")
        raise _invalid("rate_burst", "out_of_range", message, maximum=str(MAX_BURST))
    return {"rate_limit": rate, "rate_burst": burst}


def _checked_work(max_open_jobs: int | None, max_running: int | None) -> dict[str, Any]:
    columns = {"max_open_jobs": max_open_jobs, "max_running": max_running}
    for name, value in columns.items():
        if value is not None and not 0 <= value <= MAX_WORK:
            raise _invalid(name, "out_of_range", "It is 0, or 1 to %(maximum)s.", maximum=str(MAX_WORK))
    return columns


def _checked_quotas(quotas: dict[str, int | None]) -> dict[str, Any]:
    for name, value in quotas.items():
        if name not in NAMES:
            raise _invalid(name, "unknown_field", "There is no quota %(name)s.", name=name)
        if value is not None and not 0 <= value <= MAX_QUOTA:
            raise _invalid(name, "out_of_range", "It is 0, or 1 to %(maximum)s.", maximum=str(MAX_QUOTA))
    return dict(quotas)


def _checked_slug(slug: str) -> str:
    try:
        validate_slug(slug)
    except ValidationError as error:
        message = "The slug %(slug)s may hold letters, digits, hyphens and underscores only."
        raise _invalid("slug", "bad_slug", message, slug=slug) from error
    if Tenant.objects.filter(slug=slug).exists():
        raise _invalid("slug", "slug_taken", "There is a tenant with the slug %(slug)s already.", slug=slug)
    return slug


def _free_slug(name: str) -> str:
    """From the name, made unique by a few digits when it must be; names in Chinese give no letters at all."""
    base = slugify(name)[:60]
    if base and not Tenant.objects.filter(slug=base).exists():
        return base
    return f"{base or 'tenant'}-{new_id().hex[-8:]}"


def _invalid(field: str, code: str, message: str, **params: str) -> InvalidRequest:
    problem = FieldProblem(field, code, message, params)
    return InvalidRequest(message, params=params, fields=(problem,))
