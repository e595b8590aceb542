"""The tenant's lexicon: how it wants words to be said."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from synth import selectors, service
from synth.api.idempotent import IDEMPOTENCY, carried_out_once, digest_of_body
from synth.api.paging import ByOffset
from synth.api.serializers import Body, PronunciationSerializer, refusals
from synth.codec import utc
from synth.controls import KINDS, pronunciation_of
from synth.fields import Fields
from synth.lexicon import Word
from synth.models import LexiconWord
from tenants.authentication import caller_of
from tenants.errors import NotFound
from tenants.ids import parse_id
from tenants.scopes import VOICES_READ, VOICES_WRITE


class WordRequestSerializer(PronunciationSerializer):
    """Text and exactly one of pinyin, ipa and alias; without a language it is for all."""

    language = serializers.CharField(required=False, help_text="BCP 47.")


class WordSerializer(Body):
    id = serializers.CharField()
    object = serializers.ChoiceField(["word"])
    text = serializers.CharField()
    language = serializers.CharField(allow_blank=True)
    kind = serializers.CharField(help_text="pinyin, ipa or alias.")
    value = serializers.CharField()
    created_at = serializers.DateTimeField()


class Lexicon(APIView):
    required_scopes = {"GET": VOICES_READ, "POST": VOICES_WRITE}
    serializer_class = WordSerializer
    pagination_class = ByOffset

    @extend_schema(operation_id="listWords", responses={200: WordSerializer(many=True), **refusals(401, 403)})
    def get(self, request: Request) -> Response:
        """List the words of your lexicon, by their texts."""
        pages = ByOffset()
        page: Any = pages.paginate_queryset(selectors.lexicon(caller_of(request).tenant), request)
        return pages.get_paginated_response([_word_body(row) for row in page])

    @extend_schema(
        operation_id="saveWord",
        parameters=IDEMPOTENCY,
        request=WordRequestSerializer,
        responses={200: WordSerializer, 201: WordSerializer, **refusals(400, 401, 403, 409, 413, 415, 422)},
    )
    def post(self, request: Request) -> Response:
        """Say how a word is to be said from now on; what you said of the same text and language before is forgotten."""

        def save(_id: UUID | None) -> Response:
            row, is_new = service.save_word(caller_of(request).tenant, _word_of(request.data))
            return Response(_word_body(row), status=201 if is_new else 200)

        return carried_out_once(request, save, digest=lambda: digest_of_body(request))


class LexiconWordDetail(APIView):
    required_scopes = {"DELETE": VOICES_WRITE}

    @extend_schema(operation_id="deleteWord", responses={204: None, **refusals(401, 403, 404)})
    def delete(self, request: Request, word_id: str) -> Response:
        """Take a word out of your lexicon."""
        found = parse_id("lex", word_id)
        if found is None:
            raise NotFound
        service.delete_word(caller_of(request).tenant, found)
        return Response(status=204)


def _word_of(payload: Any) -> Word:
    """Raises InvalidSpeech with every field that is wrong."""
    fields = Fields(payload)
    fields.refuse_unknown({"text", "language", *KINDS})
    language = fields.text("language", default="", maximum=35)
    said = pronunciation_of(fields, "")
    fields.raise_if_wrong()
    assert said is not None  # noqa: S101 - otherwise something was wrong
    return Word(said.text, said.kind, said.value, language.partition("-")[0].lower())


def _word_body(row: LexiconWord) -> dict[str, Any]:
    return {
        "id": row.public_id,
        "object": "word",
        "text": row.text,
        "language": row.language,
        "kind": row.kind,
        "value": row.value,
        "created_at": utc(row.created_at),
    }
