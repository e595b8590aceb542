"""Who can speak: voices and engines, as the engine cards tell."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from synth import selectors
from synth.api.paging import ByOffset
from synth.api.presenting import utc
from synth.api.serializers import EngineSerializer, VoiceSerializer, refusals
from synth.selectors import EngineStatus
from synth.types import EngineCard, Voice
from tenants.scopes import VOICES_READ


class Voices(APIView):
    required_scopes = {"GET": VOICES_READ}
    serializer_class = VoiceSerializer
    pagination_class = ByOffset

    @extend_schema(operation_id="listVoices", responses={200: VoiceSerializer(many=True), **refusals(401, 403)})
    def get(self, request: Request) -> Response:
        """List the voices of every engine."""
        voices = [(card, voice) for card in selectors.cards() for voice in card.voices]
        pages = ByOffset()
        page: Any = pages.paginate_queryset(voices, request)
        return pages.get_paginated_response([_voice_body(card, voice) for card, voice in page])


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


def _voice_body(card: EngineCard, voice: Voice) -> dict[str, Any]:
    return {
        "id": f"{card.name}/{voice.name}",
        "name": voice.name,
        "engine": card.name,
        "label": voice.label,
        "gender": voice.gender,
        "languages": list(voice.languages),
        "default_for": [language for language, name in card.default_voices.items() if name == voice.name],
    }


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
        "deterministic": bool(card and card.deterministic),
        "voices": len(card.voices) if card else 0,
        "real_time_factor": round(status.real_time_factor, 3) if status.real_time_factor else None,
        "seen_at": utc(row.seen_at) if row.seen_at else None,
    }
