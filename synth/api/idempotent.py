"""`Idempotency-Key`: read from the header, and the way of REST framework's views to carry a request out once."""

import re
from collections.abc import Callable
from datetime import timedelta
from hashlib import sha256
from uuid import UUID

from django.http import HttpRequest
from django.utils.translation import get_language
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from synth import service
from synth.errors import BadIdempotencyKey
from synth.service import KeptAnswer, Repeatable
from tenants.authentication import caller_of
from tenants.errors import FieldProblem
from tenants.types import TenantRef

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
MOST_CHARACTERS = 255
# A string of RFC 8941, or the same characters without its quotation marks.
QUOTED = re.compile(r'"((?:[\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"')
BARE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")
# What a voice's file takes to be stored, or a long list to be read.
LEASE = timedelta(seconds=60)
KEPT_HEADERS = ("Location", "Retry-After")
IDEMPOTENCY = [
    OpenApiParameter(
        HEADER,
        str,
        OpenApiParameter.HEADER,
        description="The same key with the same request gets the first answer again, for 24 hours.",
    ),
    OpenApiParameter(
        REPLAYED,
        str,
        OpenApiParameter.HEADER,
        response=[200, 201, 202],
        description="`true` where this answer was given before.",
    ),
]


def read_key(header: str) -> str:
    """The key that a header holds; quoted and bare it is the same. Raises BadIdempotencyKey."""
    text = header.strip(" \t")
    quoted = QUOTED.fullmatch(text)
    key = re.sub(r"\\(.)", r"\1", quoted[1]) if quoted else text
    if not 1 <= len(key) <= MOST_CHARACTERS or not (quoted or BARE.fullmatch(text)):
        raise _bad_key()
    return key


def repeatable(request: HttpRequest, tenant: TenantRef, *, digest: bytes) -> Repeatable:
    """A request that has a key. `digest` is of what its body says. Raises BadIdempotencyKey."""
    key = read_key(request.META["HTTP_IDEMPOTENCY_KEY"])
    # Without parameters: the boundary of a form is another one each time that it is sent.
    content_type = request.META.get("CONTENT_TYPE", "").partition(";")[0].strip().lower()
    said = "\0".join([str(request.method), request.path, request.META.get("QUERY_STRING", ""), content_type])
    fingerprint = sha256(said.encode(errors="surrogatepass") + b"\0" + digest).hexdigest()
    return Repeatable(tenant=tenant, key=key, fingerprint=fingerprint)


def carried_out_once(
    request: Request,
    carry_out: Callable[[UUID | None], Response],
    *,
    digest: Callable[[], bytes],
    lease: timedelta = LEASE,
) -> Response:
    """The answer of `carry_out`, or the one that an equal request had. `digest` is asked where there is a key.

    Nothing but success is kept: whatever is raised lets the key go. `lease` is what carrying it out may take. It is
    given an id that is the same when it is tried again, as its process died; what is made may bear it. None: no key.
    """
    if HEADER not in request.headers:
        return carry_out(None)
    plain = request._request  # noqa: SLF001 - shared with the plain view of speech
    wanted = repeatable(plain, caller_of(request).tenant, digest=digest())
    begun = service.undertake(wanted, lease=lease)
    if isinstance(begun, KeptAnswer):
        return Response(begun.body, status=begun.status, headers={**begun.headers, REPLAYED: "true"})
    try:
        response = carry_out(begun.id)
    except Exception as error:
        service.let_go(begun, error)
        raise
    service.keep(begun, KeptAnswer(status=response.status_code, headers=_kept_headers(response), body=response.data))
    return response


def digest_of_body(request: Request) -> bytes:
    return sha256(request.body).digest()


def _kept_headers(response: Response) -> dict[str, str]:
    told = {name: response[name] for name in KEPT_HEADERS if response.has_header(name)}
    return told | {"Content-Language": get_language() or "en"}


def _bad_key() -> BadIdempotencyKey:
    params, allowed = {"maximum": MOST_CHARACTERS}, {"minimum": 1, "maximum": MOST_CHARACTERS}
    problem = FieldProblem(HEADER, BadIdempotencyKey.code, BadIdempotencyKey.detail, params, allowed)
    return BadIdempotencyKey(params=params, fields=(problem,))
