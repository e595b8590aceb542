"""What the OpenAPI document says of batches, and how their query strings are read."""

from rest_framework import serializers

from synth.api.serializers import AudioSerializer, Body, QueryString, SpeechRequestSerializer
from synth.models.states import State
from synth.service import MOST_ITEMS, STATUSES
from synth.service.batches.items import MOST_CUSTOM_ID
from synth.spec import MAX_METADATA

# One whose items are still being stored is not told of.
STATES = [State.QUEUED.value, State.RUNNING.value, State.SUCCEEDED.value, State.CANCELED.value]


class BatchItemRequestSerializer(SpeechRequestSerializer):
    """A speech request, without `wait`, `delivery` and `callback`."""

    wait = None  # type: ignore[assignment]
    delivery = None  # type: ignore[assignment]
    callback = None  # type: ignore[assignment]
    custom_id = serializers.CharField(
        max_length=MOST_CUSTOM_ID, required=False, allow_null=True, help_text="Your name for it, once in a batch."
    )


class BatchRequestSerializer(Body):
    items = BatchItemRequestSerializer(many=True, help_text=f"1 to {MOST_ITEMS}.")
    defaults = serializers.DictField(required=False, help_text="Fields of every item that does not say otherwise.")
    metadata = serializers.DictField(required=False, help_text=f"Kept with the batch; at most {MAX_METADATA} bytes.")
    callback = serializers.CharField(required=False, help_text="Whom to tell of its end.")


class BatchCountsSerializer(Body):
    """Every item is in one of these, but `total`."""

    total = serializers.IntegerField()
    refused = serializers.IntegerField(help_text="Wrong from the first.")
    waiting = serializers.IntegerField()
    running = serializers.IntegerField()
    succeeded = serializers.IntegerField()
    cached = serializers.IntegerField(help_text="Known already, and done with that.")
    failed = serializers.IntegerField()
    canceled = serializers.IntegerField()


class ResultsSerializer(Body):
    """Addresses."""

    items = serializers.CharField()
    manifest = serializers.CharField()
    audio = serializers.CharField()


class BatchSerializer(Body):
    id = serializers.CharField()
    object = serializers.CharField()
    status = serializers.ChoiceField(STATES, help_text="succeeded: all items have ended, each in its own way.")
    href = serializers.CharField()
    counts = BatchCountsSerializer()
    metadata = serializers.DictField()
    callback = serializers.CharField(allow_null=True)
    request_id = serializers.CharField()
    created_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    results = ResultsSerializer()


class ItemErrorSerializer(Body):
    code = serializers.CharField()
    detail = serializers.CharField(allow_blank=True)
    fields = serializers.ListField(child=serializers.DictField(), required=False)  # type: ignore[assignment]


class BatchItemSerializer(Body):
    line = serializers.IntegerField(help_text="The line of the file, or the place in `items`.")
    custom_id = serializers.CharField(allow_null=True)
    status = serializers.ChoiceField(list(STATUSES.values()))
    speech_id = serializers.CharField(allow_null=True, help_text="What GET /v1/speech/{id} takes.")
    error = ItemErrorSerializer(allow_null=True)
    audio = AudioSerializer(allow_null=True)


class BatchQuery(QueryString):
    """The query string of the list of batches."""

    status = serializers.ChoiceField(STATES, required=False)


class ItemQuery(QueryString):
    """The query string of the list of items."""

    status = serializers.ChoiceField(list(STATUSES.values()), required=False)


class ManifestQuery(QueryString):
    format = serializers.ChoiceField(["jsonl", "csv"], default="jsonl")


class UploadQuery(QueryString):
    """Beside a body of JSON lines or CSV; JSON holds these itself."""

    metadata = serializers.CharField(required=False, help_text="A JSON object.")
    defaults = serializers.CharField(required=False, help_text="A JSON object.")
    callback = serializers.CharField(required=False)
