"""Serves the objects of the file store at the signed addresses that it hands out (`ttsproject.urls`: /files/<name>).

The signature is the only permission: an audio player sends no API key.
"""

import time
from pathlib import PurePosixPath

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from synth import wiring
from synth.api.ranges import stream_object
from synth.errors import ObjectMissing, ServiceUnavailable, StorageUnavailable
from synth.storage.files import FileStore
from tenants.errors import NotFound

RETRY_AFTER = 2.0
READABLE_HEADERS = "Accept-Ranges, Content-Length, Content-Range, ETag"


@csrf_exempt  # so that other methods hear of the method, not of a missing cookie
@require_safe
def serve_file(request: HttpRequest, name: str) -> HttpResponseBase:
    """GET and HEAD. Raises UrlInvalid, UrlExpired, NotFound and ServiceUnavailable."""
    store = wiring.object_store()
    if not isinstance(store, FileStore):
        raise NotFound
    expires = store.signer.verify(
        name, expires=request.GET.get("expires", ""), signature=request.GET.get("signature", "")
    )
    response = _answer(request, store, name, expires=expires)
    # A web page of any origin may play what its user holds the signed address of.
    response["Access-Control-Allow-Origin"] = "*"
    response["Access-Control-Expose-Headers"] = READABLE_HEADERS
    return response


def _answer(request: HttpRequest, store: FileStore, name: str, *, expires: int) -> HttpResponseBase:
    path = PurePosixPath(name)
    seconds_left = max(0, expires - int(time.time()))
    try:
        return stream_object(
            request,
            store,
            name,
            info=store.head(name),
            etag=f'"{path.stem}"',  # objects are named by the digest of their bytes
            filename=path.name,
            cache_control=f"private, max-age={seconds_left}",
        )
    except ObjectMissing as error:
        raise NotFound from error
    except StorageUnavailable as error:
        raise ServiceUnavailable(retry_after=RETRY_AFTER) from error
