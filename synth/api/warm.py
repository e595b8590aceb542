"""`POST /v1/cache/warmings`: lists of what is to be spoken before anybody asks for it, as JSON or CSV."""

import csv
import io
import json
from hashlib import sha256
from typing import Any

import orjson
from django.core.exceptions import RequestDataTooBig
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from synth import service
from synth.api.cache import action_response, actor_of
from synth.api.csv_lines import NOT_IN_CELLS, line_of, read_columns
from synth.api.curation_serializers import ActionSerializer, WarmRequestSerializer
from synth.api.idempotent import IDEMPOTENCY, carried_out_once
from synth.api.serializers import refusals
from synth.fields import Fields, refusal, without_nul
from synth.service.making import LINE_FIELDS
from synth.service.warming import MOST_LINES
from tenants.authentication import caller_of
from tenants.errors import untranslated as _
from tenants.scopes import CACHE_WRITE

MOST_BYTES = 32 * 2**20
CSV_FIELDS = LINE_FIELDS - NOT_IN_CELLS


class _List(BaseParser):
    """Reads the whole body, up to what a list may have."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:  # noqa: ARG002
        data: bytes = stream.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise RequestDataTooBig
        return self.lines(data)

    def lines(self, data: bytes) -> list[Any]:
        raise NotImplementedError


class JsonList(_List):
    media_type = "application/json"

    def lines(self, data: bytes) -> list[Any]:
        try:
            payload = orjson.loads(data)
        except orjson.JSONDecodeError as error:
            raise refusal(
                "", "bad_json", _("The body is not valid JSON in UTF-8: %(reason)s."), reason=str(error)
            ) from error
        fields = Fields(payload)
        fields.refuse_unknown({"lines"})
        lines = fields.value("lines")
        if not isinstance(lines, list):
            fields.refuse("lines", "not_a_list", _("This must be a list of lines."))
        fields.raise_if_wrong()
        return [without_nul(line) for line in lines] if b"\\u0000" in data else lines


class CsvList(_List):
    """The first line names the columns; an empty cell counts as absent."""

    media_type = "text/csv"

    def lines(self, data: bytes) -> list[Any]:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise refusal("", "not_utf8", _("The list is not in UTF-8: see byte %(at)s."), at=error.start) from error
        rows = csv.reader(io.StringIO(text, newline=""), strict=True)
        try:
            columns = read_columns(next(rows, []), CSV_FIELDS)
            return [line_of(columns, row) for row in rows if row]
        except csv.Error as error:
            message = _("The list cannot be read as CSV: line %(line)s, %(reason)s.")
            raise refusal("", "bad_csv", message, line=rows.line_num, reason=str(error)) from error


class Warmings(APIView):
    required_scopes = {"POST": CACHE_WRITE}
    parser_classes = [JsonList, CsvList]

    @extend_schema(
        operation_id="warm",
        parameters=IDEMPOTENCY,
        request={"application/json": WarmRequestSerializer, "text/csv": OpenApiTypes.STR},
        responses={202: ActionSerializer, **refusals(400, 401, 403, 409, 413, 415, 422)},
    )
    def post(self, request: Request) -> Response:
        """Have a list spoken below all other work. Lines that are wrong are told of, and do not stop the others."""
        lines: Any = request.data
        if not isinstance(lines, list):  # no body at all
            raise refusal("lines", "required", _("This field is required."))
        if not 1 <= len(lines) <= MOST_LINES:
            message = _("A list has 1 to %(maximum)s lines; this one has %(length)s.")
            raise refusal("lines", "out_of_range", message, maximum=MOST_LINES, length=len(lines))
        tenant, actor = caller_of(request).tenant, actor_of(request)
        return carried_out_once(
            request,
            lambda action_id: action_response(service.warm(tenant, lines, actor=actor, action_id=action_id)),
            digest=lambda: _digest_of(lines),
        )


def _digest_of(lines: list[Any]) -> bytes:
    """Not by orjson, which reads a depth, and takes from a cell a number, that it does not write."""
    digest = sha256()
    for line in lines:
        digest.update(json.dumps(line).encode() + b"\n")
    return digest.digest()
