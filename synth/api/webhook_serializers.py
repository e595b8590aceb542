"""What the OpenAPI document says of webhook endpoints and deliveries, and how their query strings are read."""

from typing import Any

from django.utils.translation import gettext
from rest_framework import serializers

from synth.api.serializers import Body, QueryString
from synth.models import EventType
from synth.models.states import State
from synth.service.webhooks.endpoints import CHOOSABLE, LONGEST_OVERLAP, MOST_SECRETS, OVERLAP
from synth.webhooks.addresses import LONGEST_URL
from tenants.ids import parse_id

MOST_DESCRIPTION = 200
TYPES = list(EventType.values)
# A delivery waits for nothing but its turn: it is queued.
STATES = [state.value for state in State if state is not State.WAITING]


class EndpointRequestSerializer(Body):
    url = serializers.CharField(max_length=LONGEST_URL)
    events = serializers.ListField(
        child=serializers.ChoiceField(CHOOSABLE), required=False, help_text="The types that it takes; none for all."
    )
    description = serializers.CharField(max_length=MOST_DESCRIPTION, required=False, allow_blank=True)
    any_path = serializers.BooleanField(
        default=False, help_text="Requests may name other paths of this scheme, host and port as their callback."
    )


class EndpointChangeSerializer(EndpointRequestSerializer):
    """What is not given stays as it is."""

    url = serializers.CharField(max_length=LONGEST_URL, required=False)
    any_path = serializers.BooleanField(required=False)


class EndpointSerializer(Body):
    """Where you are told. Its secret is told once, when it is made."""

    id = serializers.CharField()
    object = serializers.CharField()
    url = serializers.CharField()
    events = serializers.ListField(child=serializers.CharField())
    description = serializers.CharField(allow_blank=True)
    any_path = serializers.BooleanField()
    status = serializers.CharField(help_text="enabled or disabled.")
    disabled_reason = serializers.CharField(allow_null=True, help_text="by_hand, gone or failing.")
    disabled_at = serializers.DateTimeField(allow_null=True)
    failing_since = serializers.DateTimeField(allow_null=True, help_text="The first failure after the last success.")
    secrets = serializers.IntegerField(help_text=f"How many sign; at most {MOST_SECRETS}.")
    href = serializers.CharField()
    created_at = serializers.DateTimeField()


class EndpointWithSecretSerializer(EndpointSerializer):
    secret = serializers.CharField(help_text="whsec_…, told in this answer only.")


class RotationSerializer(Body):
    overlap = serializers.FloatField(
        min_value=0, max_value=LONGEST_OVERLAP, default=OVERLAP, help_text="Seconds that earlier secrets sign on."
    )


class EventSerializer(Body):
    """Something that happened; its id is the `webhook-id` of every delivery."""

    id = serializers.CharField()
    object = serializers.CharField()
    type = serializers.CharField()
    created_at = serializers.DateTimeField()


class DeliverySerializer(Body):
    """One event for one endpoint."""

    id = serializers.CharField()
    object = serializers.CharField()
    event_id = serializers.CharField(help_text="The webhook-id.")
    type = serializers.CharField()
    subject = serializers.CharField(help_text="The id of what it happened to.")
    url = serializers.CharField()
    status = serializers.CharField(help_text="queued, running, succeeded, failed or canceled.")
    tries = serializers.IntegerField(help_text="Since it was last queued by hand.")
    next_at = serializers.DateTimeField(allow_null=True, help_text="When it is tried next.")
    last_status = serializers.IntegerField(allow_null=True, help_text="HTTP status of the last answer.")
    last_error = serializers.CharField(allow_null=True, help_text="Why the last try had no answer.")
    href = serializers.CharField()
    created_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)


class AttemptSerializer(Body):
    """One sending, and what came of it."""

    number = serializers.IntegerField()
    sent_at = serializers.DateTimeField()
    duration = serializers.FloatField(help_text="Seconds.")
    status = serializers.IntegerField(allow_null=True)
    error = serializers.CharField(allow_null=True)
    answer = serializers.CharField(allow_blank=True, help_text="Its first kilobyte.")


class DeliveryDetailSerializer(DeliverySerializer):
    attempts = AttemptSerializer(many=True)
    payload = serializers.DictField(help_text="As it is sent, with fresh links.")


class ReplaySerializer(Body):
    since = serializers.DateTimeField(help_text="What was given up since then.")


class ReplayedSerializer(Body):
    object = serializers.CharField()
    replayed = serializers.IntegerField()


class DeliveryQuery(QueryString):
    """The query string of the list of deliveries."""

    status = serializers.ChoiceField(STATES, required=False)
    type = serializers.ChoiceField(TYPES, required=False)
    event_id = serializers.CharField(required=False, max_length=64)
    since = serializers.DateTimeField(required=False)

    def validate_event_id(self, value: str) -> Any:
        found = parse_id("evt", value)
        if found is None:
            raise serializers.ValidationError(gettext("This is no id of an event."), code="invalid")
        return found
