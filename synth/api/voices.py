"""Who can speak: voices and engines, as the engine cards tell, and the tenant's own voices, which it uploads here."""

from collections.abc import Sequence
from functools import partial
from typing import Any
from uuid import UUID

from django.core.exceptions import RequestDataTooBig
from django.utils.translation import gettext
from drf_spectacular.utils import extend_schema
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from synth import selectors, service
from synth.api.cache import actor_of
from synth.api.encryption import PARAMETER, with_own_key
from synth.api.idempotent import IDEMPOTENCY, carried_out_once
from synth.api.paging import ByOffset
from synth.api.serializers import EngineSerializer, refusals
from synth.api.voice_reading import digest_of, read_voice
from synth.api.voice_serializers import VoiceSerializer, VoiceUploadSerializer
from synth.codec import utc
from synth.conf import conf
from synth.models import ClonedVoice
from synth.models.states import State
from synth.selectors import EngineStatus
from synth.types import Cloning, EngineCard, Voice
from tenants.authentication import caller_of
from tenants.encryption import is_own
from tenants.errors import NotFound, UnsupportedMediaType
from tenants.errors import untranslated as _
from tenants.scopes import VOICES_READ, VOICES_WRITE

# Of a form beside its file: names, boundaries, the other fields.
MOST_FORM = 64 * 2**10
STATES = {State.SUCCEEDED: "ready", State.FAILED: "refused"}


class Voices(APIView):
    required_scopes = {"GET": VOICES_READ, "POST": VOICES_WRITE}
    serializer_class = VoiceSerializer
    pagination_class = ByOffset
    parser_classes = [MultiPartParser]

    @extend_schema(operation_id="listVoices", responses={200: VoiceSerializer(many=True), **refusals(401, 403)})
    def get(self, request: Request) -> Response:
        """List the tenant's own voices, the newest first, and then those of every engine."""
        pages = ByOffset()
        page: Any = pages.paginate_queryset(_Listed(request), request)  # type: ignore[arg-type]  # sliced and counted
        return pages.get_paginated_response(page)

    @extend_schema(
        operation_id="createVoice",
        parameters=[*IDEMPOTENCY, *PARAMETER],
        request={"multipart/form-data": VoiceUploadSerializer},
        responses={
            200: VoiceSerializer,
            202: VoiceSerializer,
            **refusals(400, 401, 403, 409, 413, 415, 422, 429, 503),
        },
    )
    @with_own_key
    def post(self, request: Request) -> Response:
        """Upload a sound to speak like: 202, and ready soon; 200 with the voice that was made of this file before."""
        _refuse_unread(request)
        create = partial(self._create, request)
        return carried_out_once(request, create, digest=lambda: digest_of(request.data))

    def _create(self, request: Request, voice_id: UUID | None) -> Response:
        order, upload = read_voice(request.data, selectors.cards_by_preference())
        tenant, actor = caller_of(request).tenant, actor_of(request)
        row, is_new = service.create_voice(tenant, order, upload, actor=actor, voice_id=voice_id)
        body = own_voice_body(row, _card_of(row, selectors.cards()))
        if is_own(row.sealed_by):  # this answer may be kept for those who repeat the request
            body["transcript"] = None
        headers = {"Location": body["href"], "Retry-After": "1"} if is_new else {"Location": body["href"]}
        return Response(body, status=202 if is_new else 200, headers=headers)


class VoiceDetail(APIView):
    """One of the tenant's own voices."""

    required_scopes = {"GET": VOICES_READ, "DELETE": VOICES_WRITE}

    @extend_schema(
        operation_id="getVoice", parameters=PARAMETER, responses={200: VoiceSerializer, **refusals(401, 403, 404)}
    )
    @with_own_key
    def get(self, request: Request, voice_id: str) -> Response:
        """Look at a voice of yours: whether it is ready, and if it was refused, why."""
        row = selectors.own_voice(caller_of(request).tenant, voice_id)
        if row is None:
            raise NotFound
        return Response(own_voice_body(row, _card_of(row, selectors.cards())))

    @extend_schema(operation_id="deleteVoice", responses={204: None, **refusals(401, 403, 404)})
    def delete(self, request: Request, voice_id: str) -> Response:
        """Delete a voice of yours, its sound, and all speech that was made with it. URLs given out stop working."""
        service.delete_voice(caller_of(request).tenant, voice_id, actor=actor_of(request))
        return Response(status=204)


class Engines(APIView):
    required_scopes = {"GET": VOICES_READ}
    serializer_class = EngineSerializer
    pagination_class = ByOffset

    @extend_schema(operation_id="listEngines", responses={200: EngineSerializer(many=True), **refusals(401, 403)})
    def get(self, request: Request) -> Response:
        """List the engines: what each can do, and whether a worker of it is alive."""
        pages = ByOffset()
        page: Any = pages.paginate_queryset(selectors.engines(), request)
        return pages.get_paginated_response([_engine_body(status) for status in page])


class _Listed:
    """Own voices from their rows, then the engines' from their cards, as one list that is sliced and counted."""

    def __init__(self, request: Request) -> None:
        self._own = selectors.own_voices(caller_of(request).tenant)
        self._own_count = self._own.count()
        self._cards = selectors.cards()
        self._of_engines = [(card, voice) for card in self._cards for voice in card.voices]

    def count(self) -> int:
        return self._own_count + len(self._of_engines)

    def __getitem__(self, wanted: slice) -> list[dict[str, Any]]:
        start, stop, _ = wanted.indices(self.count())
        own = [own_voice_body(row, _card_of(row, self._cards)) for row in self._own[start:stop]]
        others = self._of_engines[max(0, start - self._own_count) : max(0, stop - self._own_count)]
        return own + [_voice_body(card, voice) for card, voice in others]


def own_voice_body(row: ClonedVoice, card: EngineCard | None) -> dict[str, Any]:
    spoken = card.cloning.languages if card and card.cloning else ()
    return {
        "id": row.public_id,
        "object": "voice",
        "name": row.name,
        "engine": row.engine,
        "label": row.name,
        "gender": "",
        "languages": [row.language, *(tag for tag in spoken if tag != row.language)],
        "default_for": [],
        "own": True,
        "state": STATES.get(State(row.state), "pending"),
        "href": f"/v1/voices/{row.public_id}",
        "reason": _reason(row),
        "fingerprint": row.fingerprint or None,
        "seconds": round(row.seconds, 3) if row.seconds else None,
        "sample_rate": row.sample_rate,
        "language": row.language,
        "transcript": service.transcript_of(row) if service.is_at_hand(row.sealed_by) else None,
        "consent": {"who": row.consent_who, "when": row.consent_when, "wording": row.consent_wording},
        "request_id": row.request_id,
        "created_at": utc(row.created_at),
    }


def _reason(row: ClonedVoice) -> dict[str, str] | None:
    if row.state != State.FAILED:
        return None
    text = gettext(row.error_detail)
    return {"code": row.error_code, "message": text % row.error_params if row.error_params else text}


def _voice_body(card: EngineCard, voice: Voice) -> dict[str, Any]:
    return {
        "id": f"{card.name}/{voice.name}",
        "object": "voice",
        "name": voice.name,
        "engine": card.name,
        "label": voice.label,
        "gender": voice.gender,
        "languages": list(voice.languages),
        "default_for": [language for language, name in card.default_voices.items() if name == voice.name],
        "own": False,
        "state": "ready",
    }


def _card_of(row: ClonedVoice, cards: Sequence[EngineCard]) -> EngineCard | None:
    return next((card for card in cards if card.name == row.engine), None)


def _refuse_unread(request: Request) -> None:
    """Before a byte of the body is read: what cannot be an upload, or is too large to be taken in."""
    if not (request.content_type or "").lower().startswith("multipart/form-data"):
        raise UnsupportedMediaType(_("Send the body as multipart/form-data."))
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal() or int(length) > conf().voice_upload_limit + MOST_FORM:
        raise RequestDataTooBig


def _engine_body(status: EngineStatus) -> dict[str, Any]:
    card, row = status.card, status.row
    speed = card.speed if card else None
    return {
        "name": row.name,
        "status": status.state,
        "available": status.state == "available",
        "problem": row.problem,
        "model_version": row.model_version,
        "languages": list(card.languages) if card else [],
        "scripts": list(card.scripts) if card else [],
        "sample_rate": card.sample_rate if card else None,
        "speed": {"minimum": speed.minimum, "maximum": speed.maximum} if speed else None,
        "controls": sorted(card.controls) if card else [],
        "emotions": list(card.emotions) if card else [],
        "emotion_ways": list(card.emotion_ways) if card else [],
        "emotion_values": card.emotion_values if card else 0,
        "pronunciation_kinds": list(card.pronunciation_kinds) if card else [],
        "cloning": _cloning_body(card.cloning) if card and card.cloning else None,
        "deterministic": bool(card and card.deterministic),
        "voices": len(card.voices) if card else 0,
        "real_time_factor": round(status.real_time_factor, 3) if status.real_time_factor else None,
        "seen_at": utc(row.seen_at) if row.seen_at else None,
    }


def _cloning_body(cloning: Cloning) -> dict[str, Any]:
    return {
        "languages": list(cloning.languages),
        "minimum": cloning.minimum,
        "maximum": cloning.maximum,
        "needs_transcript": cloning.needs_transcript,
    }
