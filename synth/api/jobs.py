"""Speech that was asked for: list, look at, hear, cancel. `POST` on the collection is in `speech.py`."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from synth import selectors, service, wiring
from synth.api.presenting import audio_members, pending_body, url_members, utc
from synth.api.ranges import stream_object
from synth.audio.formats import get_format
from synth.errors import ObjectMissing, StorageUnavailable
from synth.keys import object_name
from synth.models import Entry, Job
from synth.models.states import State
from synth.service.stored import of_entry, of_rendering
from tenants.context import request_id
from tenants.errors import NotFound
from tenants.ids import parse_id
from tenants.scopes import SPEECH_READ, SPEECH_WRITE


class SpeechCollection(APIView):
    """The tenant's speech jobs."""

    required_scopes = {"GET": SPEECH_READ, "POST": SPEECH_WRITE}

    def get(self, request: Request) -> Response:
        rows = selectors.jobs(request.auth.tenant)[:50]
        return Response({"items": [job_body(row) for row in rows]})


class SpeechDetail(APIView):
    """One speech job, or one entry of the cache."""

    required_scopes = {"GET": SPEECH_READ, "DELETE": SPEECH_WRITE}

    def get(self, request: Request, speech_id: str) -> Response:
        job = selectors.job(request.auth.tenant, speech_id)
        if job is not None:
            return Response(job_body(job))
        entry = selectors.entry(request.auth.tenant, speech_id)
        if entry is None:
            raise NotFound
        return Response(entry_body(entry))

    def delete(self, request: Request, speech_id: str) -> Response:
        job_id = parse_id("job", speech_id)
        if job_id is None:
            raise NotFound
        return Response(job_body(service.cancel(request.auth.tenant, job_id)))


def job_body(job: Job) -> dict[str, Any]:
    return pending_body(job, request_id() or "")


def entry_body(entry: Entry) -> dict[str, Any]:
    return audio_members(of_entry(entry))
