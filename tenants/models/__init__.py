"""The rows of the tenants app, one model a file."""

from tenants.models.api_key import ApiKey
from tenants.models.audit import AuditChain, AuditEvent, AuditNote, AuditSegment
from tenants.models.audit_watch import AuditFlag, AuditWatch, KnownAddress, UsualPace
from tenants.models.binding import TenantBinding
from tenants.models.encryption import DataKey, OwnKey
from tenants.models.quota import QuotaWarning
from tenants.models.tenant import Tenant
from tenants.models.usage import Usage
from tenants.models.usage_day import UsageDay

__all__ = [
    "ApiKey",
    "AuditChain",
    "AuditEvent",
    "AuditFlag",
    "AuditNote",
    "AuditSegment",
    "AuditWatch",
    "DataKey",
    "KnownAddress",
    "OwnKey",
    "QuotaWarning",
    "Tenant",
    "TenantBinding",
    "Usage",
    "UsageDay",
    "UsualPace",
]
