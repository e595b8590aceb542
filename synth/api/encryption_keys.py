"""The tenant's own encryption keys: registered by their ids, never kept. Each has to be before it is used."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from synth.api.idempotent import IDEMPOTENCY, carried_out_once, digest_of_body
from synth.api.paging import ByOffset
from synth.api.serializers import Body, refusals
from synth.codec import utc
from synth.fields import Fields
from tenants.authentication import caller_of
from tenants.encryption import EncryptionKeyRefused, SealingKey, read_own_key
from tenants.errors import untranslated as _
from tenants.models import OwnKey
from tenants.scopes import ENCRYPTION_READ, ENCRYPTION_WRITE
from tenants.sealing import forget_own_key, own_keys, register_own_key
from tenants.types import TenantRef


class EncryptionKeyRequestSerializer(serializers.Serializer[Any]):
    key = serializers.CharField(help_text="The base64 of 32 random bytes. Only an id that is made of it is kept.")
    name = serializers.CharField(required=False, max_length=200)


class EncryptionKeySerializer(Body):
    id = serializers.CharField(help_text="An HMAC by the key itself.")
    object = serializers.ChoiceField(["encryption_key"])
    name = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()


class EncryptionKeys(APIView):
    required_scopes = {"GET": ENCRYPTION_READ, "POST": ENCRYPTION_WRITE}
    serializer_class = EncryptionKeySerializer
    pagination_class = ByOffset

    @extend_schema(
        operation_id="listEncryptionKeys", responses={200: EncryptionKeySerializer(many=True), **refusals(401, 403)}
    )
    def get(self, request: Request) -> Response:
        """List your own encryption keys that may be used, by their ids."""
        pages = ByOffset()
        page: Any = pages.paginate_queryset(own_keys(caller_of(request).tenant), request)
        return pages.get_paginated_response([_body(row) for row in page])

    @extend_schema(
        operation_id="registerEncryptionKey",
        parameters=IDEMPOTENCY,
        request=EncryptionKeyRequestSerializer,
        responses={
            200: EncryptionKeySerializer,
            201: EncryptionKeySerializer,
            **refusals(400, 401, 403, 409, 413, 415, 422),
        },
    )
    def post(self, request: Request) -> Response:
        """Let a key of your own be used from now on; 200 where it could be before."""
        tenant = caller_of(request).tenant

        def register(_id: UUID | None) -> Response:
            key, name = _read(tenant, request.data)
            row, is_new = register_own_key(tenant, key, name=name)
            return Response(_body(row), status=201 if is_new else 200)

        return carried_out_once(request, register, digest=lambda: digest_of_body(request))


class EncryptionKeyDetail(APIView):
    required_scopes = {"DELETE": ENCRYPTION_WRITE}

    @extend_schema(operation_id="forgetEncryptionKey", responses={204: None, **refusals(401, 403, 404)})
    def delete(self, request: Request, key_id: str) -> Response:
        """Refuse a key of your own from now on. What it has sealed can be heard again once it is registered again."""
        forget_own_key(caller_of(request).tenant, key_id)
        return Response(status=204)


def _read(tenant: TenantRef, payload: Any) -> tuple[SealingKey, str]:
    """Raises InvalidSpeech with every field that is wrong; a key is never told back."""
    fields = Fields(payload)
    fields.refuse_unknown({"key", "name"})
    text, name = fields.text("key", maximum=64), fields.text("name", default="", maximum=200)
    fields.raise_if_wrong()
    try:
        return read_own_key(tenant.id, text), name
    except EncryptionKeyRefused:
        fields.refuse("key", "not_a_key", _("This must be the base64 of 32 bytes."))
        fields.raise_if_wrong()
        raise


def _body(row: OwnKey) -> dict[str, Any]:
    return {"id": row.key_id, "object": "encryption_key", "name": row.name, "created_at": utc(row.created_at)}
