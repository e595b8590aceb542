"""The hot door, `POST /v1/speech`: a plain Django view, since middleware and serializers are what a hit costs.

What was answered here once is answered by `express.py` the next time.
"""

from functools import partial
from time import perf_counter
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt

from synth import metrics, observed, service, wiring
from synth.api.answers import finished_answer, pending_answer
from synth.api.encryption import key_of_speech
from synth.api.express import Known, Passage, count_hit, passage_of
from synth.api.jobs import SpeechCollection
from synth.api.speech_once import Told, speak_once
from synth.errors import InvalidSpeech, Replayed, ServiceUnavailable, SpeechFailed
from synth.metrics import Outcome
from synth.service import Inquiry, StaleSnapshot, Visit
from synth.snapshot import Snapshot
from synth.spec import read_request
from tenants import keys, last_used
from tenants.addresses import client_address
from tenants.audit.events import KEY
from tenants.authentication import bearer_token, identify
from tenants.context import deed, request_id
from tenants.encryption import EncryptionKeyRefused, EncryptionKeyRequired, EncryptionKeyUnexpected, SealingKey
from tenants.errors import Forbidden, Problem, Unauthenticated, UnsupportedMediaType
from tenants.errors import untranslated as _
from tenants.limits import Admission
from tenants.permissions import require_scope
from tenants.scopes import SPEECH_WRITE

MAX_RELOADS = 4


class NotJson(Problem):
    status = 400
    code = "bad_json"
    title = _("Unreadable body")
    detail = _("The body is not valid JSON in UTF-8: %(reason)s.")


REFUSALS = (
    Unauthenticated,
    Forbidden,
    NotJson,
    UnsupportedMediaType,
    InvalidSpeech,
    ServiceUnavailable,
    EncryptionKeyRequired,
    EncryptionKeyRefused,
    EncryptionKeyUnexpected,
)


@csrf_exempt
def speech(request: HttpRequest) -> HttpResponseBase:
    """`POST` speaks; the other methods are the collection of speech jobs."""
    if request.method != "POST":
        return _collection(request)
    started = perf_counter()
    try:
        return _answer(request, started)
    except Replayed:  # counted when it was told first
        raise
    except Exception as error:
        metrics.ended(_outcome_of(error))
        if isinstance(error, Problem) and error.status == 429:
            metrics.limited(error.code)
        raise


def _answer(request: HttpRequest, started: float) -> HttpResponse:
    """The answer by a snapshot that is the tenant's latest."""
    passage = passage_of(request.META)
    if passage.refusal is not None:
        _tell_audit(passage.known)
        raise passage.refusal
    token = bearer_token(request.META.get("HTTP_AUTHORIZATION"))
    key = keys.parse(token)
    if key is None:
        raise Unauthenticated
    snapshot = wiring.snapshots().of_key(key)
    payload: Any = None
    address = client_address(request.META)
    for _attempt in range(MAX_RELOADS):
        visit = None
        try:
            visit = _visit(snapshot, key, token, admission=passage.admission, address=address)
            own_key = key_of_speech(request.META, visit.snapshot)
            payload = _payload(request) if payload is None else payload
            speak = partial(_speak, payload=payload, passage=passage, own_key=own_key, started=started)
            with service.presented(own_key):
                if "HTTP_IDEMPOTENCY_KEY" in request.META:
                    return speak_once(visit, request, payload, speak)
                return speak(visit).response
        except StaleSnapshot:
            pass
        except REFUSALS:
            if snapshot is None or _is_right(snapshot, visit):
                raise
        snapshot = wiring.snapshots().reload(snapshot.tenant.id) if snapshot else None
    raise ServiceUnavailable(retry_after=1)


def _is_right(snapshot: Snapshot, visit: Visit | None) -> bool:
    """A refusal out of memory counts only when the memory is right; to somebody who is known, by the database, too."""
    return service.is_fresh(snapshot, visit) and (visit is None or service.is_latest(snapshot))


speech.cls = SpeechCollection  # type: ignore[attr-defined]  # the schema generator looks here
speech.initkwargs = {}  # type: ignore[attr-defined]
_collection = SpeechCollection.as_view()


def _tell_audit(known: Known | None) -> None:
    """Whose request was refused before it came to the view."""
    if known is not None:
        said, request = deed(), known.inquiry.request
        said.tenant_id, said.actor_kind, said.actor_id = known.caller.tenant.id, KEY, str(known.caller.key_id)
        said.characters, said.text = request.characters, known.inquiry.kept_text


def _visit(snapshot: Snapshot | None, key: keys.ParsedKey, token: str, *, admission: Admission, address: str) -> Visit:
    caller = identify(snapshot.keys.get(key.lookup) if snapshot else None, token, now=timezone.now())
    require_scope(caller, SPEECH_WRITE)
    last_used.note(caller.key_id)
    assert snapshot is not None  # noqa: S101 - without one nobody is identified
    return Visit(caller=caller, snapshot=snapshot, admission=admission, request_id=request_id() or "", address=address)


def _payload(request: HttpRequest) -> Any:
    if request.content_type not in {"application/json", ""}:
        raise UnsupportedMediaType
    try:
        return orjson.loads(request.body)
    except orjson.JSONDecodeError as error:
        raise NotJson(params={"reason": str(error)}) from error


def _speak(visit: Visit, *, payload: Any, passage: Passage, own_key: SealingKey | None, started: float) -> Told:
    asked = read_request(payload, visit.snapshot, house=wiring.house(), own_key=own_key.id if own_key else None)
    inquiry = Inquiry.of(asked, visit.snapshot)
    said = deed()
    said.characters, said.text = asked.characters, inquiry.kept_text
    spoken = service.speak(visit, inquiry)
    said.object, said.cache = spoken.id, spoken.cache_status
    said.recorded = visit.admission.recorded and spoken.from_cache
    if spoken.stored is None:
        metrics.ended(Outcome.PENDING)
        return Told(pending_answer(spoken, visit), spoken, asked)
    answer = finished_answer(spoken, visit, asked)
    if inquiry.uses_cache:
        passage.answered = visit, inquiry, answer
    observed.note(visit.snapshot.tenant, inquiry.key)
    seconds = perf_counter() - started
    if spoken.from_cache:
        count_hit(spoken, asked, seconds=seconds)
    else:
        metrics.made(seconds=seconds)
    return Told(answer, spoken, asked)


def _outcome_of(error: Exception) -> Outcome:
    refused = isinstance(error, Problem) and error.status < 500 and not isinstance(error, SpeechFailed)
    return Outcome.REFUSED if refused else Outcome.FAILED
