"""What the OpenAPI document says of bodies and answers, and how query strings are read."""

from typing import Any

from django.utils.translation import gettext
from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail

from synth.api.paging import NewestFirst
from synth.audio.formats import format_names
from synth.controls import FASTEST, MAX_INSTRUCTION, MAX_SEED, SLOWEST
from synth.fields import MAX_UNKNOWN_TOLD
from synth.models.states import State
from synth.spec import DEFAULT_FORMAT, DEFAULT_WAIT, MAX_CALLBACK, MAX_CHARACTERS, MAX_METADATA, MAX_WAIT
from synth.types import CacheMode, Delivery

Body = serializers.Serializer[Any]
PAGING = {NewestFirst.cursor_query_param, NewestFirst.page_size_query_param}


class EmotionSerializer(Body):
    """Exactly one of name, vector, text and reference."""

    name = serializers.CharField(required=False)
    vector = serializers.ListField(child=serializers.FloatField(min_value=0, max_value=1), required=False)
    text = serializers.CharField(required=False)
    reference = serializers.CharField(required=False)
    strength = serializers.FloatField(min_value=0, max_value=1, required=False)


class PronunciationSerializer(Body):
    """Text and exactly one of pinyin, ipa and alias."""

    text = serializers.CharField()
    pinyin = serializers.CharField(required=False)
    ipa = serializers.CharField(required=False)
    alias = serializers.CharField(required=False)


class SpeechRequestSerializer(Body):
    """What to say and how. A null counts as absent."""

    text = serializers.CharField(min_length=1, max_length=MAX_CHARACTERS)
    voice = serializers.CharField(required=False, allow_null=True, help_text="Without it the language decides.")
    language = serializers.CharField(required=False, allow_null=True, help_text="BCP 47; without it the text decides.")
    speed = serializers.FloatField(min_value=SLOWEST, max_value=FASTEST, default=1.0, allow_null=True)
    duration = serializers.FloatField(required=False, allow_null=True, help_text="Seconds.")
    emotion = EmotionSerializer(required=False, allow_null=True)
    pronunciations = PronunciationSerializer(many=True, required=False, allow_null=True)
    seed = serializers.IntegerField(min_value=0, max_value=MAX_SEED, required=False, allow_null=True)
    instruction = serializers.CharField(max_length=MAX_INSTRUCTION, required=False, allow_null=True)
    format = serializers.ChoiceField(format_names(), default=DEFAULT_FORMAT, allow_null=True)
    sample_rate = serializers.IntegerField(required=False, allow_null=True, help_text="Hz.")
    bitrate = serializers.IntegerField(required=False, allow_null=True, help_text="kbit/s.")
    category = serializers.CharField(max_length=64, required=False, allow_null=True)
    cache = serializers.ChoiceField([mode.value for mode in CacheMode], default="use", allow_null=True)
    wait = serializers.FloatField(
        min_value=0, max_value=MAX_WAIT, default=DEFAULT_WAIT, allow_null=True, help_text="Seconds."
    )
    delivery = serializers.ChoiceField([way.value for way in Delivery], default="url", allow_null=True)
    metadata = serializers.DictField(
        required=False, allow_null=True, help_text=f"Kept with the job; at most {MAX_METADATA} bytes."
    )
    callback = serializers.CharField(
        max_length=MAX_CALLBACK,
        required=False,
        allow_null=True,
        help_text="Told of the end: a webhook endpoint's id, or a URL that one of them allows. The answer is 202.",
    )


class AudioSerializer(Body):
    """Of the finished audio: Hz, seconds, bytes."""

    format = serializers.CharField()
    media_type = serializers.CharField()
    sample_rate = serializers.IntegerField()
    duration = serializers.FloatField()
    size = serializers.IntegerField()
    sha256 = serializers.CharField(allow_null=True, help_text="None where the sound is kept encrypted.")
    time_stretched = serializers.BooleanField(required=False)
    url = serializers.URLField(required=False, allow_null=True)
    url_expires_at = serializers.DateTimeField(required=False, allow_null=True)


class SpeechSerializer(AudioSerializer):
    """A speech that is done."""

    id = serializers.CharField(help_text="What GET /v1/speech/{id} and its /audio take.")
    object = serializers.CharField()
    status = serializers.CharField()
    from_cache = serializers.BooleanField()
    cache = serializers.ChoiceField(["hit", "restored", "stale", "miss", "refresh", "bypass"])
    age = serializers.FloatField(help_text="Seconds since the audio was made.")
    bitrate = serializers.IntegerField(allow_null=True)
    characters = serializers.IntegerField()
    engine = serializers.CharField()
    voice = serializers.CharField()
    language = serializers.CharField()
    request_id = serializers.CharField()
    audio = serializers.CharField(required=False, help_text="Base64, with inline delivery.")


class PendingSpeechSerializer(Body):
    """A speech that is being made: ask again at `href` after `retry_after` seconds."""

    id = serializers.CharField()
    object = serializers.CharField()
    status = serializers.CharField()
    href = serializers.CharField()
    retry_after = serializers.IntegerField()
    characters = serializers.IntegerField()
    engine = serializers.CharField()
    voice = serializers.CharField()
    language = serializers.CharField()
    request_id = serializers.CharField()


class FailureSerializer(Body):
    code = serializers.CharField()


class JobSerializer(Body):
    """A speech job, or an entry of the cache."""

    id = serializers.CharField()
    object = serializers.CharField()
    status = serializers.CharField()
    href = serializers.CharField()
    engine = serializers.CharField()
    voice = serializers.CharField()
    language = serializers.CharField(required=False)
    category = serializers.CharField(allow_blank=True)
    characters = serializers.IntegerField()
    metadata = serializers.DictField(required=False)
    callback = serializers.CharField(required=False, allow_null=True)
    created_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(required=False, allow_null=True)
    error = FailureSerializer(required=False, allow_null=True)
    audio = AudioSerializer(required=False, allow_null=True)


class QueryString(Body):
    """A misspelt filter would list everything: it is refused."""

    def to_internal_value(self, data: Any) -> Any:
        unknown = sorted(data.keys() - self.fields.keys() - PAGING)[:MAX_UNKNOWN_TOLD]
        if unknown:
            told = ErrorDetail(gettext("There is no such field."), code="unknown_field")
            raise serializers.ValidationError({name[:64]: [told] for name in unknown})
        return super().to_internal_value(data)


class JobFilter(QueryString):
    """The query string of the list of jobs."""

    status = serializers.ChoiceField([state.value for state in State if state is not State.WAITING], required=False)
    engine = serializers.CharField(required=False, allow_blank=True, max_length=64)
    voice = serializers.CharField(required=False, allow_blank=True, max_length=128)
    category = serializers.CharField(required=False, allow_blank=True, max_length=64)
    created_after = serializers.DateTimeField(required=False)
    created_before = serializers.DateTimeField(required=False)


class SpeedSerializer(Body):
    minimum = serializers.FloatField()
    maximum = serializers.FloatField()


class CloningSerializer(Body):
    """What an engine can take from a reference."""

    languages = serializers.ListField(child=serializers.CharField())
    minimum = serializers.FloatField(help_text="Seconds.")
    maximum = serializers.FloatField(help_text="Seconds.")
    needs_transcript = serializers.BooleanField()


class EngineSerializer(Body):
    name = serializers.CharField()
    status = serializers.ChoiceField(["available", "away", "broken"])
    available = serializers.BooleanField()
    problem = serializers.CharField(allow_blank=True)
    model_version = serializers.CharField(allow_blank=True)
    languages = serializers.ListField(child=serializers.CharField())
    scripts = serializers.ListField(child=serializers.CharField())
    sample_rate = serializers.IntegerField(allow_null=True)
    speed = SpeedSerializer(allow_null=True)
    controls = serializers.ListField(child=serializers.CharField())
    emotions = serializers.ListField(child=serializers.CharField())
    emotion_ways = serializers.ListField(child=serializers.CharField())
    emotion_values = serializers.IntegerField(help_text="How many numbers a vector has.")
    pronunciation_kinds = serializers.ListField(child=serializers.CharField())
    cloning = CloningSerializer(allow_null=True)
    deterministic = serializers.BooleanField()
    voices = serializers.IntegerField(help_text="How many.")
    real_time_factor = serializers.FloatField(
        allow_null=True, help_text="Seconds that a second of sound takes, over the last seven days."
    )
    seen_at = serializers.DateTimeField(allow_null=True)


class FieldProblemSerializer(Body):
    field = serializers.CharField(allow_blank=True)
    code = serializers.CharField()
    message = serializers.CharField()
    allowed = serializers.JSONField(required=False)


class ProblemSerializer(Body):
    """RFC 9457, with a stable `code`."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    code = serializers.CharField()
    detail = serializers.CharField()
    request_id = serializers.CharField(allow_null=True)
    fields = FieldProblemSerializer(many=True, required=False)  # type: ignore[assignment]
    retry_after = serializers.FloatField(required=False)


def refusals(*statuses: int) -> dict[Any, Any]:
    """The refusals of an operation, for `extend_schema`."""
    told = OpenApiResponse(ProblemSerializer, description="Problem details (RFC 9457)")
    return {(status, "application/problem+json"): told for status in statuses}
