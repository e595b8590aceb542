"""What the audit keeps of a text, by the tenant's setting."""

from uuid import UUID

from tenants.audit.sealing import text_hashes
from tenants.models import Tenant


def kept_text(setting: str, chain: UUID, text: str) -> tuple[str, str]:
    """How it is kept, and what: whole, a keyed hash, or nothing."""
    if setting == Tenant.AuditText.FULL:
        return setting, text
    if setting == Tenant.AuditText.HASH:
        return setting, text_hashes(chain, text)[0]
    return "", ""
