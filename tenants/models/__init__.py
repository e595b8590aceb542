"""The rows of the tenants app, one model a file."""

from tenants.models.api_key import ApiKey
from tenants.models.encryption import DataKey, OwnKey
from tenants.models.tenant import Tenant
from tenants.models.usage import Usage

__all__ = ["ApiKey", "DataKey", "OwnKey", "Tenant", "Usage"]
