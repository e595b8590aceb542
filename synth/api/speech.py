"""The hot door, `POST /v1/speech`: a plain Django view, since middleware and serializers are what a hit costs."""

from time import perf_counter
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt

from synth import metrics, service, wiring
from synth.api.jobs import SpeechCollection
from synth.api.presenting import RETRY_AFTER, job_path, pending_body, speech_body
from synth.errors import InvalidSpeech, ServiceUnavailable, SpeechFailed
from synth.metrics import Outcome
from synth.service import Speech, StaleSnapshot, Visit
from synth.snapshot import Snapshot
from synth.spec import SpeechRequest, read_request
from synth.types import Delivery
from tenants import keys, last_used
from tenants.authentication import bearer_token, identify
from tenants.context import request_id
from tenants.errors import Forbidden, Problem, Unauthenticated, UnsupportedMediaType
from tenants.errors import untranslated as _
from tenants.limits import Admission, header_fields
from tenants.permissions import require_scope
from tenants.scopes import SPEECH_WRITE
from tenants.types import Caller

MAX_RELOADS = 4


class NotJson(Problem):
    status = 400
    code = "bad_json"
    title = _("Unreadable body")
    detail = _("The body is not valid JSON in UTF-8: %(reason)s.")


@csrf_exempt
def speech(request: HttpRequest) -> HttpResponseBase:
    """`POST` speaks; the other methods are the collection of speech jobs."""
    if request.method != "POST":
        return _collection(request)
    started = perf_counter()
    try:
        with wiring.turns().taken():
            return _answer(request, started)
    except Exception as error:
        metrics.ended(_outcome_of(error))
        raise


def _answer(request: HttpRequest, started: float) -> HttpResponse:
    """The answer by a snapshot that is the tenant's latest."""
    token = bearer_token(request.headers.get("Authorization"))
    key = keys.parse(token)
    if key is None:
        raise Unauthenticated
    snapshot = wiring.snapshots().of_key(key)
    payload: Any = None
    admission = Admission()
    for _attempt in range(MAX_RELOADS):
        visit = None
        try:
            visit = _visit(snapshot, key, token, admission)
            payload = _payload(request) if payload is None else payload
            return _speak(visit, payload, started=started)
        except StaleSnapshot:
            pass
        except (Unauthenticated, Forbidden, NotJson, UnsupportedMediaType, InvalidSpeech, ServiceUnavailable):
            # A refusal out of memory counts only when the memory is right.
            if snapshot is None or service.is_fresh(snapshot, visit):
                raise
        snapshot = wiring.snapshots().reload(snapshot.tenant.id) if snapshot else None
    raise ServiceUnavailable(retry_after=1)


speech.cls = SpeechCollection  # type: ignore[attr-defined]  # the schema generator looks here
speech.initkwargs = {}  # type: ignore[attr-defined]
_collection = SpeechCollection.as_view()


def _visit(snapshot: Snapshot | None, key: keys.ParsedKey, token: str, admission: Admission) -> Visit:
    caller = identify(snapshot.keys.get(key.lookup) if snapshot else None, token, now=timezone.now())
    require_scope(caller, SPEECH_WRITE)
    last_used.note(caller.key_id)
    assert snapshot is not None  # noqa: S101 - without one nobody is identified
    return Visit(caller=caller, snapshot=snapshot, admission=admission, request_id=request_id() or "")


def _payload(request: HttpRequest) -> Any:
    if request.content_type not in {"application/json", ""}:
        raise UnsupportedMediaType
    try:
        return orjson.loads(request.body)
    except orjson.JSONDecodeError as error:
        raise NotJson(params={"reason": str(error)}) from error


def _speak(visit: Visit, payload: Any, *, started: float) -> HttpResponse:
    request = read_request(payload, visit.snapshot, house=wiring.house())
    spoken = service.speak(visit, request)
    response = _respond(spoken, visit.caller, request)
    for name, value in header_fields(visit.admission.allowances).items():
        response[name] = value
    _count(spoken, request, perf_counter() - started)
    return response


def _respond(spoken: Speech, caller: Caller, request: SpeechRequest) -> HttpResponse:
    if spoken.stored is None:
        return _pending(spoken)
    if request.delivery is Delivery.BINARY:
        return _binary(spoken, request)
    return _finished(spoken, caller, request)


def _count(spoken: Speech, request: SpeechRequest, seconds: float) -> None:
    if spoken.from_cache:
        engine, characters = request.spec.manner.engine, request.characters
        return metrics.hit(spoken.tier, engine=engine, characters=characters, seconds=seconds)
    if spoken.stored is None:
        return metrics.ended(Outcome.PENDING)
    return metrics.made(seconds=seconds)


def _outcome_of(error: Exception) -> Outcome:
    refused = isinstance(error, Problem) and error.status < 500 and not isinstance(error, SpeechFailed)
    return Outcome.REFUSED if refused else Outcome.FAILED


def _finished(spoken: Speech, caller: Caller, request: SpeechRequest) -> HttpResponse:
    body = speech_body(
        spoken, caller.tenant, spec=request.spec, delivery=request.delivery, request_id=request_id() or ""
    )
    return _json(body, 200)


def _pending(spoken: Speech) -> HttpResponse:
    assert spoken.job is not None  # noqa: S101 - what is not stored is a job
    response = _json(pending_body(spoken.job, request_id() or ""), 202)
    response["Location"] = job_path(spoken.job)
    response["Retry-After"] = str(RETRY_AFTER)
    return response


def _binary(spoken: Speech, request: SpeechRequest) -> HttpResponse:
    stored = spoken.stored
    assert stored is not None  # noqa: S101
    response = HttpResponse(spoken.audio, content_type=stored.media_type)
    response["ETag"] = f'"{stored.digest}"'
    response["X-Speech-Id"] = spoken.id
    response["X-Characters"] = str(request.characters)
    response["X-Cache"] = spoken.cache_status
    response["X-Audio-Duration"] = f"{stored.duration:.3f}"
    response["Age"] = str(int(spoken.age))
    return response


def _json(body: dict[str, Any], status: int) -> HttpResponse:
    return HttpResponse(orjson.dumps(body), content_type="application/json", status=status)
