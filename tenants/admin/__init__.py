"""The tenants app's screens, one file each; Django's admin finds them here."""

from tenants.admin.api_key import ApiKeyAdmin
from tenants.admin.tenant import TenantAdmin
from tenants.admin.user import GroupAdmin, UserAdmin

__all__ = ["ApiKeyAdmin", "GroupAdmin", "TenantAdmin", "UserAdmin"]
