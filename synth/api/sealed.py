"""Serves sealed sounds at the addresses that `synth.service.links` gives out (`/sealed/<ticket>`), in clear.

The ticket is the only permission: an audio player sends neither an API key nor an encryption key.
"""

from pathlib import PurePosixPath

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from synth import wiring
from synth.api.files import READABLE_HEADERS, RETRY_AFTER
from synth.api.ranges import stream_object
from synth.errors import ObjectMissing, ServiceUnavailable, StorageUnavailable
from synth.sealing.tickets import BadTicket, Ticket
from synth.service import SealedObject, opening
from synth.storage.files import UrlExpired, UrlInvalid
from tenants.errors import NotFound
from tenants.types import TenantRef


@csrf_exempt  # so that other methods hear of the method, not of a missing cookie
@require_safe
def serve_sealed(request: HttpRequest, ticket: str) -> HttpResponseBase:
    """GET and HEAD. Raises UrlInvalid, UrlExpired, EncryptionKeyRefused, NotFound and ServiceUnavailable."""
    try:
        read = wiring.ticket_office().read(ticket)
    except BadTicket as error:
        raise UrlInvalid from error
    if not read.seconds_left:
        raise UrlExpired
    response = _answer(request, read)
    # A web page of any origin may play what its user holds the address of.
    response["Access-Control-Allow-Origin"] = "*"
    response["Access-Control-Expose-Headers"] = READABLE_HEADERS
    # The address holds the ticket: no other site is told of it.
    response["Referrer-Policy"] = "no-referrer"
    return response


def _answer(request: HttpRequest, ticket: Ticket) -> HttpResponseBase:
    label = ticket.label
    path = PurePosixPath(label.name)
    try:
        key = ticket.key or opening(TenantRef(label.tenant), label.name, label.media_type, key_id=ticket.key_id)
        sound = SealedObject(label.name, key)
        return stream_object(
            request,
            sound,
            label.name,
            info=sound.info,
            etag=f'"{path.stem}"',
            filename=path.name,
            # No browser keeps in clear what is sealed here.
            cache_control="private, no-store",
        )
    except ObjectMissing as error:
        raise NotFound from error
    except StorageUnavailable as error:
        raise ServiceUnavailable(retry_after=RETRY_AFTER) from error
