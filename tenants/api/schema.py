"""How the OpenAPI document describes API keys. Importing this file registers it with drf-spectacular."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema


class ApiKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "tenants.authentication.ApiKeyAuthentication"
    name = "apiKey"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:  # noqa: ARG002
        return {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "rfr_live_…",
            "description": "An API key: `Authorization: Bearer rfr_live_…`.",
        }
