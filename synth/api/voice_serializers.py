"""What the OpenAPI document says of voices and of their upload."""

from typing import Any

from rest_framework import serializers

from synth.api.voice_reading import MOST_NAME, MOST_TRANSCRIPT, MOST_WORDING

Body = serializers.Serializer[Any]


class ConsentSerializer(Body):
    """Who allows this use of the voice, when they said so (ISO 8601), and in which words."""

    who = serializers.CharField(max_length=200)
    when = serializers.CharField(max_length=40)
    wording = serializers.CharField(max_length=MOST_WORDING)


class ReasonSerializer(Body):
    code = serializers.CharField()
    message = serializers.CharField()


class VoiceUploadSerializer(Body):
    file = serializers.FileField(help_text="wav, flac, mp3 or ogg; 3 to 30 seconds.")
    name = serializers.CharField(max_length=MOST_NAME)
    language = serializers.CharField(help_text="BCP 47: what is spoken in the file.")
    engine = serializers.CharField(required=False, help_text="Without it the preferred one that clones the language.")
    transcript = serializers.CharField(
        required=False, max_length=MOST_TRANSCRIPT, help_text="What is said in the file; some engines need it."
    )
    consent = ConsentSerializer(help_text="As JSON.")


class VoiceSerializer(Body):
    """An engine's voice; or one of the tenant's own, which has the fields from `href` on, too."""

    id = serializers.CharField(help_text="What `voice` of a request takes.")
    object = serializers.CharField()
    name = serializers.CharField()
    engine = serializers.CharField()
    label = serializers.CharField(allow_blank=True)  # type: ignore[assignment]  # a field of ours, not a label
    gender = serializers.CharField(allow_blank=True)
    languages = serializers.ListField(child=serializers.CharField())
    default_for = serializers.ListField(child=serializers.CharField())
    own = serializers.BooleanField()
    state = serializers.ChoiceField(["pending", "ready", "refused"])
    href = serializers.CharField(required=False)
    reason = ReasonSerializer(required=False, allow_null=True, help_text="Why it was refused.")
    fingerprint = serializers.CharField(required=False, allow_null=True)
    seconds = serializers.FloatField(required=False, allow_null=True)
    sample_rate = serializers.IntegerField(required=False, allow_null=True)
    language = serializers.CharField(required=False)
    transcript = serializers.CharField(
        required=False, allow_blank=True, allow_null=True, help_text="None where only your own key opens it."
    )
    consent = ConsentSerializer(required=False)
    request_id = serializers.CharField(required=False, allow_blank=True)
    created_at = serializers.DateTimeField(required=False)
