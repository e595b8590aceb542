"""The rows of the tenants app, one model a file."""

from tenants.models.api_key import ApiKey
from tenants.models.tenant import Tenant

__all__ = ["ApiKey", "Tenant"]
