"""The rows of the tenants app, one model a file."""

from tenants.models.api_key import ApiKey
from tenants.models.audit import AuditChain, AuditEvent, AuditNote, AuditSegment
from tenants.models.audit_watch import AuditFlag, AuditWatch, KnownAddress, UsualPace
from tenants.models.tenant import Tenant
from tenants.models.usage import Usage

__all__ = [
    "ApiKey",
    "AuditChain",
    "AuditEvent",
    "AuditFlag",
    "AuditNote",
    "AuditSegment",
    "AuditWatch",
    "KnownAddress",
    "Tenant",
    "Usage",
    "UsualPace",
]
