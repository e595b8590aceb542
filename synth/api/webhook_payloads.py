"""What webhooks send, for the OpenAPI document: one description for each type. `settings.py` names WEBHOOKS."""

from typing import Any

from drf_spectacular.utils import OpenApiResponse, OpenApiWebhook, extend_schema, inline_serializer
from rest_framework import serializers

from synth.api.batch_serializers import BatchCountsSerializer
from synth.api.serializers import AudioSerializer, Body, FailureSerializer
from synth.models import EventType
from synth.service.webhooks.payloads import API_VERSION
from tenants.quotas import KEY, PERIODS, TENANT


class SpeechDataSerializer(Body):
    """A job that has ended. `audio` is there when it succeeded and its sound is kept; its URL is made as it is sent."""

    id = serializers.CharField()
    object = serializers.CharField()
    status = serializers.CharField(help_text="succeeded, failed or canceled.")
    engine = serializers.CharField()
    voice = serializers.CharField()
    language = serializers.CharField()
    category = serializers.CharField(allow_blank=True)
    characters = serializers.IntegerField()
    metadata = serializers.DictField()
    request_id = serializers.CharField()
    error = FailureSerializer(allow_null=True)
    audio = AudioSerializer(required=False, allow_null=True)


class BatchDataSerializer(Body):
    """A batch that has ended."""

    id = serializers.CharField()
    status = serializers.CharField(help_text="succeeded, failed or canceled.")
    counts = BatchCountsSerializer()
    metadata = serializers.DictField(allow_null=True)


class VoiceDataSerializer(Body):
    """An upload that has become a voice; `name` is another one where this sound was a voice before."""

    id = serializers.CharField()
    href = serializers.CharField()
    engine = serializers.CharField()
    name = serializers.CharField()


class RefusalSerializer(Body):
    code = serializers.CharField()
    message = serializers.CharField()


class RefusedVoiceDataSerializer(VoiceDataSerializer):
    """An upload that was refused, and why."""

    error = RefusalSerializer()


class RefreshDataSerializer(Body):
    """A refresh that has ended."""

    id = serializers.CharField()
    status = serializers.CharField(help_text="succeeded or canceled.")
    href = serializers.CharField()
    matched = serializers.IntegerField()
    done = serializers.IntegerField()
    failed = serializers.IntegerField()


class QuotaDataSerializer(Body):
    """A quota of the account, or of the key that is named."""

    quota = serializers.ChoiceField(list(PERIODS))
    scope = serializers.ChoiceField([TENANT, KEY])
    key = serializers.CharField(allow_null=True)
    percent = serializers.ChoiceField([80, 100])
    used = serializers.IntegerField()
    limit = serializers.IntegerField()
    resets_at = serializers.DateTimeField()


class WebhookTestDataSerializer(Body):
    id = serializers.CharField()
    endpoint_id = serializers.CharField()


DATA: dict[EventType, tuple[Any, str]] = {
    EventType.SPEECH_SUCCEEDED: (SpeechDataSerializer(), "Speech is ready; to the callback of its request."),
    EventType.SPEECH_FAILED: (SpeechDataSerializer(), "Speech failed; to the callback of its request."),
    EventType.SPEECH_CANCELED: (SpeechDataSerializer(), "Speech was canceled; to the callback of its request."),
    EventType.BATCH_COMPLETED: (BatchDataSerializer(), "A batch has ended."),
    EventType.VOICE_READY: (VoiceDataSerializer(), "A voice of yours can speak."),
    EventType.VOICE_FAILED: (RefusedVoiceDataSerializer(), "An upload did not become a voice."),
    EventType.CACHE_REFRESHED: (RefreshDataSerializer(), "A refresh of the cache has ended."),
    EventType.QUOTA_WARNING: (QuotaDataSerializer(), "A quota is used up by 80 or by 100 percent."),
    EventType.TEST: (WebhookTestDataSerializer(), "A test that was asked for."),
}


def _webhook(kind: EventType, data: Any, description: str) -> OpenApiWebhook:
    name = "".join(word.title() for word in kind.replace(".", "_").split("_"))
    payload = inline_serializer(
        f"{name}Event",
        {
            "id": serializers.CharField(help_text="The webhook-id: the same in every retry and replay."),
            "type": serializers.ChoiceField([kind.value]),
            "api_version": serializers.ChoiceField([API_VERSION]),
            "created_at": serializers.DateTimeField(),
            "data": data,
        },
    )
    told = OpenApiResponse(description="Any 2xx within the time-out means that it has arrived.")
    return OpenApiWebhook(
        kind.value,
        extend_schema(
            operation_id=f"receive{name}",
            summary=kind.value,
            description=description,
            request=payload,
            responses={"2XX": told},
        ),
    )


WEBHOOKS = [_webhook(kind, data, description) for kind, (data, description) in DATA.items()]
