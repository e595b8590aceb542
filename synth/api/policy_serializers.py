"""What the OpenAPI document says of a tenant's own TTL rules."""

from rest_framework import serializers

from synth.api.serializers import Body
from synth.models import Policy
from synth.models.policy import LARGEST_FACTOR, LONGEST, LONGEST_WINDOW
from synth.service.own_policies import FIRST_PRIORITY
from synth.spec import MAX_CHARACTERS

LOWEST_PRIORITY = 32_767
LONGEST_NOTE = 200
LONGEST_CATEGORY = 64
LONGEST_ENGINE = 64
LONGEST_VOICE = 128


class PolicyRequestSerializer(Body):
    """What a rule matches, and how long it keeps that. What is not given matches anything, or has its default."""

    note = serializers.CharField(max_length=LONGEST_NOTE, required=False, allow_blank=True, help_text="What it is for.")
    priority = serializers.IntegerField(
        min_value=FIRST_PRIORITY, max_value=LOWEST_PRIORITY, default=FIRST_PRIORITY, help_text="The lower comes first."
    )
    enabled = serializers.BooleanField(default=True)
    category = serializers.CharField(max_length=LONGEST_CATEGORY, required=False, allow_blank=True)
    engine = serializers.CharField(max_length=LONGEST_ENGINE, required=False, allow_blank=True)
    voice = serializers.CharField(
        max_length=LONGEST_VOICE, required=False, allow_blank=True, help_text="Its name without the engine."
    )
    min_characters = serializers.IntegerField(
        min_value=0, max_value=MAX_CHARACTERS, required=False, allow_null=True, help_text="Of the text as it is spoken."
    )
    max_characters = serializers.IntegerField(min_value=0, max_value=MAX_CHARACTERS, required=False, allow_null=True)
    max_age = serializers.IntegerField(
        min_value=1, max_value=LONGEST, required=False, allow_null=True, help_text="Seconds; without it the default."
    )
    pinned = serializers.BooleanField(default=False, help_text="Never expires.")
    never_cache = serializers.BooleanField(default=False)
    stale = serializers.IntegerField(
        min_value=0, max_value=LONGEST, default=0, help_text="Seconds after that in which the old sound is served."
    )
    model_change = serializers.ChoiceField(Policy.ModelChange.values, default=Policy.ModelChange.SERVE_OLD.value)
    hot_hits = serializers.IntegerField(
        min_value=1, max_value=2**31 - 1, required=False, allow_null=True, help_text="The four of hot go together."
    )
    hot_window = serializers.IntegerField(min_value=1, max_value=LONGEST_WINDOW, required=False, allow_null=True)
    hot_factor = serializers.FloatField(min_value=1, max_value=LARGEST_FACTOR, required=False, allow_null=True)
    hot_ceiling = serializers.IntegerField(min_value=1, max_value=LONGEST, required=False, allow_null=True)


class PolicySerializer(PolicyRequestSerializer):
    """A TTL rule of yours, or of your operator's for you."""

    id = serializers.CharField()
    object = serializers.CharField()
    editable = serializers.BooleanField(help_text="False for the operator's.")
    href = serializers.CharField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
