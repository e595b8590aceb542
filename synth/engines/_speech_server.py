"""Asks an OpenAI-compatible server over HTTP, with a limit on everything: time, tries, bytes, hosts. For openai_http.

One event loop a process, which runs only while somebody waits for it: so a deadline holds over name look-ups,
handshakes and answers that drip, too. What is raised here holds neither text nor key.
"""

from __future__ import annotations

import asyncio
import email.utils
import json
import random
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Any, NoReturn, TypeVar

import httpx

from synth.breaker import Breaker
from synth.engines._speech_bodies import BadBody, TooLong
from synth.errors import Permanent, Retryable

SPEECH, VOICES, MODELS = "/v1/audio/speech", "/v1/audio/voices", "/v1/models"

UNREACHABLE = "engine_unreachable"
TIMEOUT = "engine_timeout"
BUSY = "engine_busy"
FAILED = "engine_failed"
BAD_ANSWER = "engine_bad_answer"
TOO_LARGE = "engine_answer_too_large"
NO_ACCESS = "engine_access_refused"
MISCONFIGURED = "engine_misconfigured"
REFUSED = "engine_refused"

_REFUSES_THE_TEXT = frozenset({400, 413, 422})
_REFUSES_THE_KEY = frozenset({401, 402, 403, 407})
_MAY_PASS = frozenset({408, 425, 429})
_BUSY = frozenset({429, 503})
_AWAY = frozenset({502, 504})
# What a server answers that lacks a page, keeps it from this key, or wants to be asked otherwise.
_NO_SUCH_PAGE = frozenset({400, 403, 404, 405, 422, 501})
FIRST_PAUSE = 0.25
MOST_REDIRECTS = 3
CLOSING_SECONDS = 1.0
MOST_JSON = 2**20

T = TypeVar("T")
Decode = Callable[[Iterator[bytes], str], Iterator[T]]


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds to connect, between two pieces of an answer, and for one sentence in all, tries and pauses included."""

    connect: float
    read: float
    whole: float
    tries: int
    most_bytes: int
    breaker_pause: float = 5.0


class _Passing(Exception):  # noqa: N818
    """A try that failed for now. `after` is how long the server asks to wait; `away` says that it may be gone."""

    def __init__(self, code: str, detail: str, *, after: float = 0.0, away: bool = False) -> None:
        super().__init__(detail)
        self.code, self.detail, self.after, self.away = code, detail, after, away


class SpeechServer:
    """One server, asked once at a time."""

    def __init__(self, base: str, *, key: str, patience: Patience) -> None:
        self._base, self._patience = httpx.URL(base), patience
        self._loop = asyncio.new_event_loop()
        headers = {"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {key}"} if key else {})
        timeout = httpx.Timeout(patience.read, connect=patience.connect)
        self._client = httpx.AsyncClient(headers=headers, timeout=timeout, follow_redirects=False)
        self._breaker = Breaker("the speech server", pause=patience.breaker_pause, probe=self._ask_whether_it_is_back)

    def close(self) -> None:
        self._loop.run_until_complete(self._client.aclose())
        self._loop.close()

    def speak(self, body: Mapping[str, Any], decode: Decode[T], *, whole: bool) -> Iterator[T]:
        """What the answer holds, tried again while that may help; with `whole`, nothing before all is there.

        Raises Retryable or Permanent with one of the codes above. Once a piece was given, there is no second try.
        """
        if not self._breaker.allows():
            raise Retryable("the speech server is away", code=UNREACHABLE)
        deadline = time.monotonic() + self._patience.whole
        for tries in count(1):
            given = False
            try:
                pieces = self._try(body, decode, deadline)
                for piece in list(pieces) if whole else pieces:
                    given = True
                    yield piece
            except _Passing as error:
                pause = max(error.after, _backoff(tries))
                if given or tries == self._patience.tries or time.monotonic() + pause >= deadline:
                    self._give_up(error)
            else:
                return
            time.sleep(pause)

    def look(self, path: str) -> Any:
        """A JSON page of the server, None where it has none that can be read. Raises Retryable, with the reason."""
        deadline = time.monotonic() + self._patience.read
        try:
            with self._answer(self._request("GET", path), deadline) as response:
                if response.status_code in _NO_SUCH_PAGE:
                    return None
                _check(response)
                page = b"".join(self._chunks(response, deadline, most=MOST_JSON))
            return json.loads(page)
        except _Passing as error:
            raise Retryable(error.detail, code=error.code) from error
        except (ValueError, BadBody):
            return None

    def _ask_whether_it_is_back(self) -> None:
        """In a thread of the breaker's, and so not over the loop. Whatever a server answers itself, it is back."""
        if self._loop.is_closed():
            return
        timeout = httpx.Timeout(self._patience.read, connect=self._patience.connect)
        with httpx.stream("GET", self._url(MODELS), headers=self._client.headers, timeout=timeout) as answer:
            if answer.status_code in _AWAY:
                raise ConnectionError("a gateway answers in its place")

    def _url(self, path: str) -> str:
        return str(self._base).rstrip("/") + path

    def _request(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> httpx.Request:
        return self._client.build_request(method, self._url(path), json=body)

    def _try(self, body: Mapping[str, Any], decode: Decode[T], deadline: float) -> Iterator[T]:
        with self._answer(self._request("POST", SPEECH, body), deadline) as response:
            if response.status_code not in _AWAY:
                self._breaker.succeeded()
            _check(response)
            chunks = self._chunks(response, deadline, most=self._patience.most_bytes)
            try:
                yield from decode(chunks, response.headers.get("Content-Type", ""))
            except TooLong as error:
                raise Retryable(str(error), code=TOO_LARGE) from error
            except BadBody as error:
                raise _Passing(BAD_ANSWER, str(error)) from error

    def _give_up(self, error: _Passing) -> NoReturn:
        if error.away:
            self._breaker.failed(error)
        raise Retryable(error.detail, code=error.code) from error

    @contextmanager
    def _answer(self, request: httpx.Request, deadline: float) -> Iterator[httpx.Response]:
        """The answer without its body; redirects are followed on this server only."""
        for _ in range(MOST_REDIRECTS):
            response: httpx.Response = self._until(deadline, self._client.send(request, stream=True))
            try:
                if response.next_request is None:
                    yield response
                    return
                request = self._redirected(request, response.next_request)
            finally:
                with suppress(_Passing):
                    self._until(time.monotonic() + CLOSING_SECONDS, response.aclose())
        raise Retryable("the speech server redirects in a circle", code=MISCONFIGURED)

    def _redirected(self, request: httpx.Request, onward: httpx.Request) -> httpx.Request:
        """Text and key go nowhere but to the configured host, and never from https to http."""
        here, there = self._base, onward.url
        upgraded = (here.scheme, there.scheme) == ("http", "https")
        same = here.host == there.host and (upgraded or _origin(here) == _origin(there))
        if not same or onward.method != request.method:
            raise Retryable("the speech server redirects elsewhere", code=MISCONFIGURED)
        return onward

    def _chunks(self, response: httpx.Response, deadline: float, *, most: int) -> Iterator[bytes]:
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise BadBody("the answer is compressed, which was not asked for")
        source, got = response.aiter_raw(), 0
        while True:
            chunk: bytes | None = self._until(deadline, anext(source, None))
            if chunk is None:
                return
            got += len(chunk)
            if got > most:
                raise TooLong(f"more than {most} bytes")
            yield chunk

    def _until(self, deadline: float, step: Awaitable[Any]) -> Any:
        """One step over the network; every way in which a network fails is told as passing."""
        try:
            return self._loop.run_until_complete(_bounded(deadline, step))
        except httpx.ConnectTimeout as error:
            raise _Passing(UNREACHABLE, "the speech server does not answer", away=True) from error
        except (TimeoutError, httpx.TimeoutException) as error:
            raise _Passing(TIMEOUT, "the speech server took too long", away=True) from error
        except httpx.HTTPError as error:
            detail = f"the connection to the speech server failed ({type(error).__name__})"
            raise _Passing(UNREACHABLE, detail, away=True) from error


async def _bounded(deadline: float, step: Awaitable[T]) -> T:
    async with asyncio.timeout_at(deadline):
        return await step


def _check(response: httpx.Response) -> None:
    """By status. What is wrong with key or address is nobody's text: it is told as ours, not the caller's."""
    status, detail = response.status_code, f"the speech server answered {response.status_code}"
    if status == httpx.codes.OK:
        return
    if status in _REFUSES_THE_TEXT:
        raise Permanent(detail, code=REFUSED)
    if status in _REFUSES_THE_KEY:
        raise Retryable(detail, code=NO_ACCESS)
    if status in _MAY_PASS or status >= 500:
        after = _retry_after(response.headers.get("Retry-After", ""))
        raise _Passing(BUSY if status in _BUSY else FAILED, detail, after=after, away=status in _AWAY)
    raise Retryable(detail, code=MISCONFIGURED)


def _retry_after(value: str) -> float:
    """Seconds, from a number or a date; 0 for anything else."""
    if value.strip().isdecimal():
        return float(value)
    try:
        return max(0.0, (email.utils.parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return 0.0


def _backoff(tries: int) -> float:
    """Longer each time, and never the same for two workers."""
    return FIRST_PAUSE * float(2 ** (tries - 1)) * (0.75 + random.random() / 2)  # noqa: S311 - no secret


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port
