"""The answers to `POST /v1/speech` as headers and bytes; its two doors, `express.py` and `speech.py`, give the same."""

from typing import Any, NamedTuple

import orjson

from synth.api.presenting import RETRY_AFTER, job_path, pending_body, speech_body
from synth.service import Speech, Visit
from synth.spec import SpeechRequest
from synth.types import Delivery
from tenants.limits import header_fields


class Answer(NamedTuple):
    headers: dict[str, str]
    body: bytes


def finished_answer(spoken: Speech, visit: Visit, asked: SpeechRequest) -> Answer:
    """JSON with a URL or inline audio, or the audio itself."""
    if asked.delivery is Delivery.BINARY:
        return _binary(spoken, visit, asked)
    body = speech_body(
        spoken, visit.snapshot.tenant, spec=asked.spec, delivery=asked.delivery, request_id=visit.request_id
    )
    return _json(body, visit)


def pending_answer(spoken: Speech, visit: Visit) -> Answer:
    assert spoken.job is not None  # noqa: S101 - what is not stored is a job
    answer = _json(pending_body(spoken.job, visit.request_id), visit)
    answer.headers.update({"Location": job_path(spoken.job), "Retry-After": str(RETRY_AFTER)})
    return answer


def _binary(spoken: Speech, visit: Visit, asked: SpeechRequest) -> Answer:
    stored, audio = spoken.stored, spoken.audio
    assert stored is not None  # noqa: S101
    assert audio is not None  # noqa: S101
    headers = {
        "Content-Type": stored.media_type,
        "ETag": f'"{stored.digest}"',
        "X-Speech-Id": spoken.id,
        "X-Characters": str(asked.characters),
        "X-Cache": spoken.cache_status,
        "X-Audio-Duration": f"{stored.duration:.3f}",
        "Age": str(int(spoken.age)),
    }
    if asked.spec.output.duration is not None:
        headers["X-Time-Stretched"] = "true"
    return Answer(headers | header_fields(visit.admission.allowances), audio)


def _json(body: dict[str, Any], visit: Visit) -> Answer:
    headers = {"Content-Type": "application/json"} | header_fields(visit.admission.allowances)
    return Answer(headers, orjson.dumps(body))
