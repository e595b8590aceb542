"""`GET /v1/tenant`: who the caller is, and what its operator allows it."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from synth import service
from synth.api.serializers import Body, refusals
from synth.codec import utc
from synth.service import Account
from tenants.authentication import caller_of
from tenants.models import Tenant
from tenants.quotas import NAMES
from tenants.scopes import SPEECH_READ
from tenants.self_service import MOST_KEYS


class TenantLimitsSerializer(Body):
    """Null: no limit."""

    rate_limit = serializers.FloatField(allow_null=True, help_text="Requests a second.")
    rate_burst = serializers.IntegerField(allow_null=True, help_text="At once.")
    open_jobs = serializers.IntegerField(allow_null=True)
    running = serializers.IntegerField(allow_null=True, help_text="Sentences that engines speak at a time.")
    keys = serializers.IntegerField(help_text="Usable ones, and those made within a day.")


class TenantQuotasSerializer(Body):
    """Of the account; a key may have its own besides. Null: none. `/v1/usage/quotas` tells what is used of them."""

    characters_per_day = serializers.IntegerField(allow_null=True)
    characters_per_month = serializers.IntegerField(allow_null=True)
    synthesis_per_day = serializers.IntegerField(allow_null=True, help_text="Characters that engines speak.")
    synthesis_per_month = serializers.IntegerField(allow_null=True)
    max_voices = serializers.IntegerField(allow_null=True)
    max_storage = serializers.IntegerField(allow_null=True, help_text="Bytes.")


class TenantPoliciesSerializer(Body):
    """The bounds of TTL rules of your own making."""

    maximum = serializers.IntegerField(help_text="How many; 0: none.")
    max_ttl = serializers.IntegerField(allow_null=True, help_text="Seconds; null: any, and pinned.")


class TenantSerializer(Body):
    object = serializers.CharField()
    name = serializers.CharField()
    slug = serializers.CharField()
    limits = TenantLimitsSerializer()
    quotas = TenantQuotasSerializer()
    policies = TenantPoliciesSerializer()
    encryption = serializers.ChoiceField(Tenant.Encryption.choices, help_text="Whose key seals what is kept of you.")
    default_ttl = serializers.IntegerField(help_text="Seconds that a sound is kept where no rule says otherwise.")
    time_stretch = serializers.BooleanField(help_text="Whether speech is stretched where an engine keeps no time.")
    created_at = serializers.DateTimeField()


class TenantView(APIView):
    required_scopes = {"GET": SPEECH_READ}

    @extend_schema(operation_id="getTenant", responses={200: TenantSerializer, **refusals(401, 403)})
    def get(self, request: Request) -> Response:
        """Look at your own account: its limits, and what you may set yourself."""
        return Response(_body(service.account_of(caller_of(request).tenant)))


def _body(account: Account) -> dict[str, Any]:
    limit = account.limit
    return {
        "object": "tenant",
        "name": account.row.name,
        "slug": account.row.slug,
        "limits": {
            "rate_limit": limit.rate if limit else None,
            "rate_burst": limit.burst if limit else None,
            "open_jobs": account.max_open_jobs or None,
            "running": account.max_running or None,
            "keys": MOST_KEYS,
        },
        "quotas": {name: getattr(account.quotas, name) or None for name in NAMES},
        "policies": {"maximum": account.policies.most, "max_ttl": account.policies.longest or None},
        "encryption": account.row.encryption,
        "default_ttl": account.default_ttl,
        "time_stretch": account.time_stretch,
        "created_at": utc(account.row.created_at),
    }
