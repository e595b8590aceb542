"""What the OpenAPI document says of API keys, and how their list's query string is read."""

from typing import Any

from django.utils.translation import gettext
from rest_framework import serializers

from synth.api.serializers import Body, QueryString
from tenants.ids import parse_id
from tenants.keys import Kind
from tenants.limits import MAX_BURST, MAX_RATE
from tenants.scopes import SCOPES

LONGEST_NAME = 200
STATES = ["active", "expired", "revoked"]


class KeyChangeSerializer(Body):
    """What is not given stays as it is."""

    name = serializers.CharField(max_length=LONGEST_NAME, required=False)
    rate_limit = serializers.FloatField(
        min_value=0, max_value=MAX_RATE, required=False, help_text="Requests a second; 0: no limit of its own."
    )
    rate_burst = serializers.IntegerField(
        min_value=1, max_value=MAX_BURST, required=False, help_text="At once; without it those of one second."
    )


class KeyRequestSerializer(KeyChangeSerializer):
    """Without an expiry or a limit it has those of the key that asks."""

    name = serializers.CharField(max_length=LONGEST_NAME)
    scopes = serializers.ListField(
        child=serializers.ChoiceField(SCOPES), help_text="Of those that the key which asks has itself."
    )
    kind = serializers.ChoiceField(
        [kind.value for kind in Kind], default="live", help_text="A label; changes no right."
    )
    expires_at = serializers.DateTimeField(required=False)


class KeySerializer(Body):
    """An API key. Its token is told once, when it is made."""

    id = serializers.CharField()
    object = serializers.CharField()
    name = serializers.CharField()
    hint = serializers.CharField(help_text="How its token begins.")
    kind = serializers.CharField(help_text="live or test.")
    scopes = serializers.ListField(child=serializers.CharField())
    status = serializers.CharField(help_text="active, expired or revoked.")
    current = serializers.BooleanField(help_text="Whether it is the key that asks.")
    rate_limit = serializers.FloatField(allow_null=True, help_text="Null: no limit of its own.")
    rate_burst = serializers.IntegerField(allow_null=True)
    made_by = serializers.CharField(allow_null=True, help_text="The key that made it; null for one of the operator's.")
    expires_at = serializers.DateTimeField(allow_null=True)
    revoked_at = serializers.DateTimeField(allow_null=True)
    last_used_at = serializers.DateTimeField(allow_null=True, help_text="To the minute.")
    href = serializers.CharField()
    created_at = serializers.DateTimeField()


class KeyWithTokenSerializer(KeySerializer):
    token = serializers.CharField(help_text="rfr_live_…, told in this answer only.")


class KeyQuery(QueryString):
    """The query string of the list of keys."""

    status = serializers.ChoiceField(STATES, required=False)
    made_by = serializers.CharField(required=False, max_length=64)

    def validate_made_by(self, value: str) -> Any:
        found = parse_id("key", value)
        if found is None:
            raise serializers.ValidationError(gettext("This is no id of a key."), code="invalid")
        return found
