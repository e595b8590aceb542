"""`POST /v1/speech` with an `Idempotency-Key`. What is kept of a finished speech is what tells of its sound, never the
sound: that is read again from storage, or has a new URL.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from typing import Any, NamedTuple

import orjson
from django.http import HttpRequest, HttpResponse

from synth import codec, service
from synth.api.answers import Answer, binary_answer, json_answer
from synth.api.idempotent import REPLAYED, repeatable
from synth.api.presenting import sound_members, speech_members
from synth.errors import Replayed
from synth.service import KeptAnswer, Speech, StaleSnapshot, Visit
from synth.service.idempotency import GRACE
from synth.spec import DEFAULT_WAIT, MAX_WAIT, SpeechRequest
from synth.stored import audio_members
from synth.types import Delivery, StoredAudio
from tenants.errors import Problem

# What is kept of a problem, beside its status.
FAILURE = ("title", "code", "detail", "params", "retry_after", "members")


class Told(NamedTuple):
    """An answer, and what it was made of."""

    answer: Answer
    spoken: Speech
    asked: SpeechRequest

    @property
    def status(self) -> int:
        return 200 if self.spoken.stored else 202

    @property
    def response(self) -> HttpResponse:
        return HttpResponse(self.answer.body, headers=self.answer.headers, status=self.status)


def speak_once(visit: Visit, request: HttpRequest, payload: Any, speak: Callable[[Visit], Told]) -> HttpResponse:
    """The answer of `speak`, or the one that an equal request had.

    It counts for the rate limit before the key is looked up. Raises as `speak` does, StaleSnapshot, RateLimited, the
    problems of keys, and Replayed for a failure that is told again.
    """
    if not service.is_fresh(visit.snapshot, visit):
        raise StaleSnapshot
    wanted = repeatable(request, visit.snapshot.tenant, digest=sha256(request.body).digest())
    begun = service.undertake(wanted, lease=GRACE + timedelta(seconds=_wait_of(payload)))
    if isinstance(begun, KeptAnswer):
        return _again(begun, visit)
    try:
        told = speak(replace(visit, job_id=begun.id))
    except Exception as error:
        if isinstance(error, Problem) and "job_id" in error.members:
            service.keep(begun, _kept_failure(error))
        else:
            service.let_go(begun, error)
        raise
    service.keep(begun, _kept(told, visit))
    return told.response


def _wait_of(payload: Any) -> float:
    """As the body has it, before that is judged."""
    wait = payload.get("wait") if isinstance(payload, dict) else None
    return wait if isinstance(wait, int | float) and 0 <= wait <= MAX_WAIT else DEFAULT_WAIT


def _kept(told: Told, visit: Visit) -> KeptAnswer:
    stored, asked = told.spoken.stored, told.asked
    if stored is None:
        headers = {name: told.answer.headers[name] for name in ("Location", "Retry-After")}
        return KeptAnswer(status=told.status, headers=headers, body={"pending": orjson.loads(told.answer.body)})
    form = Delivery.URL if told.spoken.audio is None else asked.delivery
    members = speech_members(told.spoken, stored, spec=asked.spec, request_id=visit.request_id)
    sound = {"members": members, "stored": codec.to_json(stored), "form": form}
    return KeptAnswer(status=told.status, body={"finished": sound})


def _kept_failure(problem: Problem) -> KeptAnswer:
    """As values, so that each caller is told in its own language."""
    return KeptAnswer(status=problem.status, body={"failed": {name: getattr(problem, name) for name in FAILURE}})


def _again(kept: KeptAnswer, visit: Visit) -> HttpResponse:
    if "failed" in kept.body:
        raise _failure_again(kept)
    if "pending" in kept.body:
        answer = json_answer(kept.body["pending"], visit)
    else:
        answer = _finished_again(kept.body["finished"], visit)
    headers = {**answer.headers, **kept.headers, REPLAYED: "true"}
    return HttpResponse(answer.body, headers=headers, status=kept.status)


def _finished_again(sound: dict[str, Any], visit: Visit) -> Answer:
    stored, form = codec.from_json(StoredAudio, sound["stored"]), sound["form"]
    stored, audio = service.heard_again(visit.caller, stored, with_bytes=form != Delivery.URL)
    members = sound["members"] | audio_members(stored)
    if form == Delivery.BINARY:
        assert audio is not None  # noqa: S101
        return binary_answer(members, stored, audio, visit)
    return json_answer(members | sound_members(visit.snapshot.tenant, stored, audio), visit)


def _failure_again(kept: KeptAnswer) -> Replayed:
    told = kept.body["failed"]
    problem = Replayed(
        told["detail"],
        code=told["code"],
        params=told["params"],
        retry_after=told["retry_after"],
        members=told["members"],
    )
    problem.status, problem.title = kept.status, told["title"]
    return problem
