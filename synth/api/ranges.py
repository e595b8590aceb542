"""One stored object as an HTTP answer: GET, HEAD, a byte range, conditions (RFC 9110).

Called by the views that hand out audio: `synth.api.files` and `/v1/speech/{id}/audio`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.http import content_disposition_header

from synth.storage.base import ObjectInfo

# One range only: a list of them is answered whole, as RFC 9110 section 14.2 allows. Eighteen digits bound the number.
_RANGE = re.compile(r"bytes=[ \t]*(?:([0-9]{1,18})-([0-9]{1,18})?|-([0-9]{1,18}))[ \t]*", re.IGNORECASE)


class Source(Protocol):
    """An object store, or one object of it that is opened on the way."""

    def stream(self, name: str, start: int, end: int) -> Iterator[bytes]: ...


@dataclass(frozen=True, slots=True)
class ByteRange:
    """Bytes `start` to `end`, both included. An unsatisfiable one has `end` before `start`."""

    start: int
    end: int

    @property
    def length(self) -> int:
        return self.end - self.start + 1


def parse_range(header: str, size: int) -> ByteRange | None:
    """The one range that a Range header asks for, or None where the header is to be ignored."""
    match = _RANGE.fullmatch(header)
    if match is None:
        return None
    first, last, suffix = match.groups()
    if suffix is not None:
        return ByteRange(max(0, size - int(suffix)), size - 1)
    start = int(first)
    end = int(last) if last else max(start, size - 1)
    if end < start:
        return None
    return ByteRange(start, min(end, size - 1))


def stream_object(
    request: HttpRequest,
    store: Source,
    name: str,
    *,
    info: ObjectInfo,
    etag: str,
    filename: str,
    cache_control: str,
) -> HttpResponseBase:
    """Answer with an object of any store: 200, 206, 304, 412 or 416.

    `etag` is the strong one, with its quotes. Raises ObjectMissing and StorageUnavailable before the first byte.
    """
    headers = {
        "Accept-Ranges": "bytes",
        "Cache-Control": cache_control,
        "Content-Disposition": str(content_disposition_header(as_attachment=False, filename=filename)),
        "ETag": etag,
        "X-Content-Type-Options": "nosniff",
    }
    bare = HttpResponse(headers=headers, content_type=info.media_type)
    answer = get_conditional_response(request, etag=etag, response=bare)
    if answer is not None and answer is not bare:
        if answer.status_code == 304:
            # Django would say 0, and some caches then believe that of what they hold.
            answer["Content-Length"] = str(info.size)
        return answer
    wanted = _wanted(request, info.size, etag)
    if wanted is not None and wanted.length <= 0:
        return HttpResponse(status=416, headers=headers | {"Content-Range": f"bytes */{info.size}"})
    return _send(request, store, name, info=info, headers=headers, wanted=wanted)


def _wanted(request: HttpRequest, size: int, etag: str) -> ByteRange | None:
    # RFC 9110 section 14.2: Range has a meaning with GET only; If-Range compares strongly.
    if request.method != "GET" or request.headers.get("If-Range", etag) != etag:
        return None
    return parse_range(request.headers.get("Range", ""), size)


def _send(
    request: HttpRequest,
    store: Source,
    name: str,
    *,
    info: ObjectInfo,
    headers: dict[str, str],
    wanted: ByteRange | None,
) -> HttpResponseBase:
    part = wanted or ByteRange(0, info.size - 1)
    headers = headers | {"Content-Length": str(part.length)}
    if wanted is not None:
        headers["Content-Range"] = f"bytes {part.start}-{part.end}/{info.size}"
    status = 206 if wanted is not None else 200
    if request.method == "HEAD" or part.length == 0:
        return HttpResponse(status=status, headers=headers, content_type=info.media_type)
    chunks = store.stream(name, part.start, part.end)
    return StreamingHttpResponse(chunks, status=status, headers=headers, content_type=info.media_type)
