"""Speech that was asked for: list, look at, hear, cancel. `POST` on the collection is in `speech.py`."""

from typing import Any

from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from synth import selectors, service, wiring
from synth.api.encryption import PARAMETER, with_own_key
from synth.api.idempotent import IDEMPOTENCY
from synth.api.paging import NewestFirst
from synth.api.presenting import RETRY_AFTER, entry_body, job_body
from synth.api.ranges import Source, stream_object
from synth.api.serializers import (
    JobFilter,
    JobSerializer,
    PendingSpeechSerializer,
    SpeechRequestSerializer,
    SpeechSerializer,
    refusals,
)
from synth.audio.formats import get_format
from synth.errors import NotReady, ObjectMissing, ServiceUnavailable, StorageUnavailable
from synth.keys import object_name
from synth.models.states import OPEN
from synth.service import SealedObject, opening
from synth.storage.base import ObjectInfo
from synth.types import StoredAudio
from tenants.authentication import caller_of
from tenants.errors import NotFound, Problem
from tenants.ids import parse_id
from tenants.scopes import SPEECH_READ, SPEECH_WRITE
from tenants.types import TenantRef


class SpeechCollection(APIView):
    """The tenant's speech jobs. `post` is only described here: `speech.py` answers it."""

    required_scopes = {"GET": SPEECH_READ, "POST": SPEECH_WRITE}
    serializer_class = JobSerializer
    pagination_class = NewestFirst

    @extend_schema(
        operation_id="listSpeech",
        parameters=[JobFilter],
        responses={200: JobSerializer(many=True), **refusals(401, 403, 404, 422)},
    )
    def get(self, request: Request) -> Response:
        """List speech jobs, the newest first. What was answered from the cache left no job."""
        wanted = JobFilter(data=request.query_params)
        wanted.is_valid(raise_exception=True)
        rows = selectors.jobs(caller_of(request).tenant, **wanted.validated_data)
        pages = NewestFirst()
        return pages.get_paginated_response([job_body(row) for row in pages.paginate_queryset(rows, request) or []])

    @extend_schema(
        operation_id="speak",
        parameters=[*IDEMPOTENCY, *PARAMETER],
        request=SpeechRequestSerializer,
        responses={
            200: SpeechSerializer,
            (200, "audio/*"): OpenApiTypes.BINARY,
            202: PendingSpeechSerializer,
            **refusals(400, 401, 403, 404, 409, 413, 415, 422, 503),
        },
    )
    def post(self, request: Request) -> Response:
        """Speak a text: 200 with the audio when it is known or done within `wait`, else 202 with the job."""
        raise NotImplementedError


class SpeechDetail(APIView):
    """One speech job, or one entry of the cache."""

    required_scopes = {"GET": SPEECH_READ, "DELETE": SPEECH_WRITE}

    @extend_schema(
        operation_id="getSpeech",
        parameters=PARAMETER,
        responses={200: JobSerializer, **refusals(400, 401, 403, 404)},
    )
    @with_own_key
    def get(self, request: Request, speech_id: str) -> Response:
        """Look at a speech: how far it is, and a URL of its audio once it is done."""
        tenant = caller_of(request).tenant
        job = selectors.job(tenant, speech_id)
        if job is not None:
            return Response(job_body(job, with_url=True))
        entry = selectors.entry(tenant, speech_id)
        if entry is None:
            raise NotFound
        return Response(entry_body(entry))

    @extend_schema(operation_id="cancelSpeech", responses={200: JobSerializer, **refusals(401, 403, 404)})
    def delete(self, request: Request, speech_id: str) -> Response:
        """Cancel a speech that is not done. Cancelling what has ended changes nothing."""
        job_id = parse_id("job", speech_id)
        if job_id is None:
            raise NotFound
        return Response(job_body(service.cancel(caller_of(request).tenant, job_id)))


class SpeechAudio(APIView):
    """The audio itself, with Range, ETag and HEAD."""

    required_scopes = {"GET": SPEECH_READ}

    @extend_schema(
        operation_id="getSpeechAudio",
        responses={
            (200, "audio/*"): OpenApiTypes.BINARY,
            (206, "audio/*"): OpenApiTypes.BINARY,
            304: None,
            **refusals(400, 401, 403, 404, 409, 412, 416, 422, 503),
        },
        parameters=PARAMETER,
    )
    @with_own_key
    def get(self, request: Request, speech_id: str) -> HttpResponseBase:
        """Hear a finished speech. Audio that storage has lost is made again first."""
        stored = selectors.audio(caller_of(request).tenant, speech_id)
        if stored is None:
            raise self._absence(request, speech_id)
        try:
            return self._stream_or_remake(request, speech_id, stored)
        except (ObjectMissing, StorageUnavailable) as error:
            raise ServiceUnavailable(code=error.code, retry_after=RETRY_AFTER) from error

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:  # noqa: ARG002
        # A player's `Accept: audio/mpeg` asks for what is here, whichever renderer would word a refusal.
        return super().perform_content_negotiation(request, force=True)

    def _absence(self, request: Request, speech_id: str) -> Problem:
        job = selectors.job(caller_of(request).tenant, speech_id)
        return NotReady(retry_after=RETRY_AFTER) if job is not None and job.state in OPEN else NotFound()

    def _stream_or_remake(self, request: Request, speech_id: str, stored: StoredAudio) -> HttpResponseBase:
        try:
            return self._stream(request, stored)
        except ObjectMissing:
            return self._stream(request, service.remake(caller_of(request), speech_id))

    def _stream(self, request: Request, stored: StoredAudio) -> HttpResponseBase:
        extension = get_format(stored.format).extension
        name = object_name(caller_of(request).tenant, stored.digest, extension)
        source, info = self._source(caller_of(request).tenant, name, stored)
        if info.size != stored.size:
            raise ObjectMissing("the stored bytes are not the ones that were put there")
        return stream_object(
            request._request,  # noqa: SLF001 - the plain request: ranges know nothing of REST framework
            source,
            name,
            info=info,
            etag=f'"{stored.digest}"',
            filename=f"{stored.id}.{extension}",
            cache_control="private, no-cache",
        )

    def _source(self, tenant: TenantRef, name: str, stored: StoredAudio) -> tuple[Source, ObjectInfo]:
        if not stored.sealed_by:
            store = wiring.object_store()
            return store, store.head(name)
        sound = SealedObject(name, opening(tenant, name, stored.media_type, key_id=stored.sealed_by))
        return sound, sound.info
