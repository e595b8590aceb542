"""The tenants app's screens, one file each; Django's admin finds them here."""

from tenants.admin.api_key import ApiKeyAdmin
from tenants.admin.tenant import TenantAdmin

__all__ = ["ApiKeyAdmin", "TenantAdmin"]
