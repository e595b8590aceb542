"""What the OpenAPI document says of the cache's curation, and how its query strings are read."""

from typing import Any

from rest_framework import serializers

from synth.api.serializers import AudioSerializer, QueryString
from synth.models import CurationAction, Entry
from synth.models.states import State
from synth.service.warming import MOST_LINES

Body = serializers.Serializer[Any]
MOST_IDS = 1_000
KINDS = list(Entry.Kind.values)
# A model changes for all tenants: that action is the operator's. Batches have a list of their own.
ELSEWHERE = {CurationAction.Kind.MODEL_CHANGE, CurationAction.Kind.BATCH}
ACTIONS = [kind for kind in CurationAction.Kind.values if kind not in ELSEWHERE]


class EntryFilterSerializer(Body):
    """All that is given must hold; at least one must be given."""

    voice = serializers.CharField(required=False, max_length=128)
    engine = serializers.CharField(required=False, max_length=64)
    model_version = serializers.CharField(required=False, max_length=128)
    category = serializers.CharField(required=False, max_length=64)
    text_contains = serializers.CharField(required=False, max_length=1000, help_text="Letter case does not count.")
    kind = serializers.ChoiceField(KINDS, required=False)
    pinned = serializers.BooleanField(required=False, allow_null=True, default=None)
    older_than = serializers.FloatField(required=False, help_text="Seconds since it was made.")
    made_before = serializers.DateTimeField(required=False)


class EntryQuery(QueryString):
    """The query string of the list of entries."""

    voice = serializers.CharField(required=False, max_length=128)
    engine = serializers.CharField(required=False, max_length=64)
    model_version = serializers.CharField(required=False, max_length=128)
    category = serializers.CharField(required=False, max_length=64)
    text_contains = serializers.CharField(required=False, max_length=1000)
    kind = serializers.ChoiceField(KINDS, required=False)
    pinned = serializers.BooleanField(required=False, allow_null=True, default=None)
    made_before = serializers.DateTimeField(required=False)


class ActionQuery(QueryString):
    """The query string of the list of actions."""

    kind = serializers.ChoiceField(ACTIONS, required=False)
    status = serializers.ChoiceField([state.value for state in State], required=False)


class CurationRequestSerializer(Body):
    """Either `entry_ids` or `filter`. `dry_run` only counts."""

    entry_ids = serializers.ListField(child=serializers.CharField(), max_length=MOST_IDS, required=False)
    filter = EntryFilterSerializer(required=False)
    expected_count = serializers.IntegerField(required=False, help_text="What you were told would be changed.")
    dry_run = serializers.BooleanField(default=False)


class CountSerializer(Body):
    """What a dry run answers."""

    object = serializers.CharField()
    kind = serializers.CharField()
    matched = serializers.IntegerField()


class ActionSerializer(Body):
    """A purge, a refresh, a pin, or a warming, and how far it is."""

    id = serializers.CharField()
    object = serializers.CharField()
    kind = serializers.CharField(help_text="purge, refresh, pin, unpin or warm; extend where an operator did it.")
    status = serializers.CharField(help_text="waiting, queued, running, succeeded, failed or canceled.")
    href = serializers.CharField()
    matched = serializers.IntegerField(help_text="Entries or lines.")
    done = serializers.IntegerField()
    cached = serializers.IntegerField(help_text="Lines that were there already.")
    failed = serializers.IntegerField()
    selection = serializers.DictField()
    request_id = serializers.CharField()
    created_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)


class FailedLineSerializer(Body):
    """A line that was not made: its number, and why."""

    line = serializers.IntegerField()
    entry_id = serializers.CharField(allow_null=True)
    code = serializers.CharField()
    detail = serializers.CharField(allow_blank=True)


class CacheEntrySerializer(Body):
    """A stored rendition or sentence."""

    id = serializers.CharField()
    object = serializers.CharField()
    kind = serializers.ChoiceField(KINDS)
    text = serializers.CharField()
    engine = serializers.CharField()
    model_version = serializers.CharField()
    voice = serializers.CharField()
    category = serializers.CharField(allow_blank=True)
    pinned = serializers.BooleanField()
    made_at = serializers.DateTimeField()
    audio = AudioSerializer()


class WarmLineSerializer(Body):
    """The fields of a speech request, without cache, wait, delivery and metadata."""

    text = serializers.CharField()
    voice = serializers.CharField(required=False)


class WarmRequestSerializer(Body):
    lines = WarmLineSerializer(many=True, help_text=f"At most {MOST_LINES}.")
