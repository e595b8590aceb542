"""The way of a hit: a WSGI application before Django's, for requests that Django has answered here once already.

The very same request by the same key is not read, judged and routed again, since that costs more than its look-up. What
can change meanwhile is asked anew each time: Redis says in one round trip whether the snapshot is the tenant's latest,
so that a revoked key or a changed rule acts at the next request; the clock says whether the key has expired. Whatever
is not a plain hit goes on to Django, together with what was found out.
"""

import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from io import BytesIO
from threading import Lock
from time import perf_counter
from typing import Any
from weakref import ReferenceType, ref

from cachetools import LRUCache
from django.utils import timezone

from synth import metrics, observed, service, wiring
from synth.api.answers import Answer, finished_answer
from synth.service import Inquiry, Speech, Visit
from synth.snapshot import Snapshot
from synth.spec import SpeechRequest
from tenants import last_used
from tenants.addresses import client_address
from tenants.context import new_request_id
from tenants.keys import KeyRecord
from tenants.limits import Admission
from tenants.types import Caller

Environ = dict[str, Any]
Headers = list[tuple[str, str]]
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]

PATH = "/v1/speech"
PASSAGE = "refrain.passage"
ENCRYPTION_KEY = "HTTP_REFRAIN_ENCRYPTION_KEY"
MAX_BODY = 4_096  # bytes; hits are short sentences
MAX_REMEMBERED = 4_000
# All that Django's answer depends on, but for the body.
SAID_BY = (
    "HTTP_AUTHORIZATION",
    "HTTP_HOST",
    "HTTP_X_FORWARDED_HOST",
    "HTTP_X_FORWARDED_PROTO",
    "HTTP_ACCEPT_LANGUAGE",
    "HTTP_COOKIE",
    "CONTENT_TYPE",
    "SCRIPT_NAME",
    "QUERY_STRING",
    "wsgi.url_scheme",
)
OF_EACH_ANSWER = frozenset({"Content-Length", "X-Request-Id"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A request that was answered. `headers` are those that every such answer has, whatever the speech is.

    The snapshot lives as long as the process uses it; not longer because of what was asked once.
    """

    snapshot: ReferenceType[Snapshot]
    caller: Caller
    record: KeyRecord
    inquiry: Inquiry
    headers: Headers


@dataclass(slots=True)
class Passage:
    """A request on its way to the view: what was found out so far, and what the view says when it has answered.

    A refusal is for the view to raise, where it becomes an answer; `known` is what it was a refusal of.
    """

    admission: Admission = field(default_factory=Admission)
    refusal: Exception | None = None
    known: Known | None = None
    answered: tuple[Visit, Inquiry, Answer] | None = None


def passage_of(environ: Environ) -> Passage:
    """An empty one where the request came another way."""
    return environ.get(PASSAGE) or Passage()


class Express:
    """One a process. It keeps neither bodies nor API keys, but a digest of both, keyed by a secret of this process."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._lock = Lock()
        self._known: LRUCache[bytes, Known] = LRUCache(MAX_REMEMBERED)
        self._secret = secrets.token_bytes(32)

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        if environ["PATH_INFO"] != PATH or environ["REQUEST_METHOD"] != "POST":
            return self._application(environ, start_response)
        body = _small_body(environ)
        if body is None:
            with wiring.turns().taken():
                return self._application(environ, start_response)
        mark = self._mark(environ, body)
        known = self._knows(mark)
        # Hits of one phrase need not let the first of them go ahead: each is done as soon as it can be.
        with wiring.turns().taken(None if known else mark):
            # Who has followed another finds known by now what that one was answered.
            return self._answered(environ, start_response, body, mark=mark, known=known or self._knows(mark))

    def _answered(
        self, environ: Environ, start_response: StartResponse, body: bytes, *, mark: bytes, known: Known | None
    ) -> Iterable[bytes]:
        passage = Passage()
        answer = _hit(known, passage, client_address(environ)) if known else None
        if answer is not None:
            start_response("200 OK", [*answer.headers.items()])
            return (answer.body,)
        environ["wsgi.input"], environ[PASSAGE] = BytesIO(body), passage

        def started(status: str, headers: Headers, *more: Any) -> Any:
            if passage.answered is not None:
                self._remember(mark, *passage.answered, headers)
            return start_response(status, headers, *more)

        return self._application(environ, started)

    def _knows(self, mark: bytes) -> Known | None:
        with self._lock:
            return self._known.get(mark)

    def _mark(self, environ: Environ, body: bytes) -> bytes:
        said = "\0".join([environ.get(name, "") for name in SAID_BY])  # no header holds a NUL
        return blake2b(said.encode(errors="surrogatepass") + b"\0" + body, key=self._secret, digest_size=32).digest()

    def _remember(self, mark: bytes, visit: Visit, inquiry: Inquiry, answer: Answer, headers: Headers) -> None:
        own = OF_EACH_ANSWER | answer.headers.keys()
        records = visit.snapshot.keys.values()
        known = Known(
            snapshot=ref(visit.snapshot),
            caller=visit.caller,
            record=next(record for record in records if record.id == visit.caller.key_id),
            inquiry=inquiry,
            headers=[(name, value) for name, value in headers if name not in own],
        )
        with self._lock:
            self._known[mark] = known


def _small_body(environ: Environ) -> bytes | None:
    """The body of what may be a hit; None, with nothing read, for all else."""
    if "HTTP_IDEMPOTENCY_KEY" in environ or ENCRYPTION_KEY in environ:
        return None
    length = environ.get("CONTENT_LENGTH", "")
    if not length.isdecimal() or int(length) > MAX_BODY:
        return None
    body: bytes = environ["wsgi.input"].read(int(length))
    return body


def _hit(known: Known, passage: Passage, address: str) -> Answer | None:
    """The answer, if this is a hit again. Else the passage holds what the cache and its limits said."""
    started = perf_counter()
    snapshot = known.snapshot()
    if snapshot is None or not wiring.snapshots().holds(snapshot) or not known.record.usable_at(timezone.now()):
        return None
    last_used.note(known.caller.key_id)
    visit = Visit(
        caller=known.caller,
        snapshot=snapshot,
        admission=passage.admission,
        request_id=new_request_id(),
        address=address,
    )
    try:
        spoken = service.recall(visit, known.inquiry)
    except Exception as error:  # noqa: BLE001 - the view raises it, where problems become answers
        passage.refusal, passage.known = error, known
        return None
    if spoken is None:
        return None
    answer = finished_answer(spoken, visit, known.inquiry.request)
    count_hit(spoken, known.inquiry.request, seconds=perf_counter() - started)
    observed.note(known.caller.tenant, known.inquiry.key)
    answer.headers.update(known.headers)
    answer.headers.update({"Content-Length": str(len(answer.body)), "X-Request-Id": visit.request_id})
    return answer


def count_hit(spoken: Speech, asked: SpeechRequest, *, seconds: float) -> None:
    metrics.hit(spoken.tier, engine=asked.spec.manner.engine, characters=asked.characters, seconds=seconds)
