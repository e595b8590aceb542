"""The answers to `POST /v1/speech` as headers and bytes; its two doors, `express.py` and `speech.py`, give the same."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from synth.api.presenting import RETRY_AFTER, job_path, pending_body, speech_body
from synth.service import Speech, Visit
from synth.spec import SpeechRequest
from synth.types import Delivery, StoredAudio
from tenants.limits import header_fields


class Answer(NamedTuple):
    headers: dict[str, str]
    body: bytes


def finished_answer(spoken: Speech, visit: Visit, asked: SpeechRequest) -> Answer:
    """JSON with a URL or inline audio, or the audio itself."""
    if asked.delivery is Delivery.BINARY:
        assert spoken.stored is not None  # noqa: S101
        assert spoken.audio is not None  # noqa: S101
        members = {
            "id": spoken.id,
            "characters": asked.characters,
            "cache": spoken.cache_status,
            "age": spoken.age,
            "time_stretched": asked.spec.output.duration is not None,
        }
        return binary_answer(members, spoken.stored, spoken.audio, visit)
    body = speech_body(
        spoken, visit.snapshot.tenant, spec=asked.spec, delivery=asked.delivery, request_id=visit.request_id
    )
    return json_answer(body, visit)


def pending_answer(spoken: Speech, visit: Visit) -> Answer:
    assert spoken.job is not None  # noqa: S101 - what is not stored is a job
    answer = json_answer(pending_body(spoken.job, visit.request_id), visit)
    answer.headers.update({"Location": job_path(spoken.job), "Retry-After": str(RETRY_AFTER)})
    return answer


def binary_answer(members: Mapping[str, Any], stored: StoredAudio, audio: bytes, visit: Visit) -> Answer:
    """`members` are those of the JSON of a speech."""
    headers = {
        "Content-Type": stored.media_type,
        "ETag": f'"{stored.digest}"',
        "X-Speech-Id": members["id"],
        "X-Characters": str(members["characters"]),
        "X-Cache": members["cache"],
        "X-Audio-Duration": f"{stored.duration:.3f}",
        "Age": str(int(members["age"])),
    }
    if members["time_stretched"]:
        headers["X-Time-Stretched"] = "true"
    return Answer(headers | header_fields(visit.admission.allowances), audio)


def json_answer(body: Mapping[str, Any], visit: Visit) -> Answer:
    headers = {"Content-Type": "application/json"} | header_fields(visit.admission.allowances)
    return Answer(headers, orjson.dumps(body))
