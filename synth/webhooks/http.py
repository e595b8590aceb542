"""Sends webhooks over HTTP, many at once, to addresses that the policy allows; service/webhooks/sending.py calls it.

A name is looked up once for each sending, all its addresses are checked, and one of those is connected to. No redirect
is followed, no proxy asked, no connection used twice, and one deadline holds over all of it.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import Self

import anyio
import anyio.from_thread
import httpcore

from synth.webhooks.addresses import Address, ForbiddenAddress, Policy, Target
from synth.webhooks.names import LookUp, Names, look_up

USER_AGENT = "Refrain-Webhooks/1"
MOST_READ = 1024
# Seconds for one address of several, so that a dead one leaves time for the next.
CONNECT_SECONDS = 5.0
MOST_ADDRESSES = 4

ADDRESS_FORBIDDEN = "address_forbidden"
DNS_FAILED = "dns_failed"
CONNECT_FAILED = "connect_failed"
TLS_FAILED = "tls_failed"
TIMED_OUT = "timed_out"
BAD_ANSWER = "bad_answer"

_NETWORK_ERRORS = (httpcore.NetworkError, httpcore.RemoteProtocolError, httpcore.TimeoutException, ssl.SSLError)


class NotSent(Exception):  # noqa: N818
    """No whole answer came. `code` is one of those above, and stable; `detail` is for the tenant to read."""

    def __init__(self, code: str, detail: str, seconds: float) -> None:
        self.code, self.detail, self.seconds = code, detail, seconds
        super().__init__(f"{code}: {detail}")


@dataclass(frozen=True, slots=True)
class Answer:
    """`body` is the first kilobyte as text; `retry_after` the seconds that the receiver asks for."""

    status: int
    body: str
    retry_after: float | None
    seconds: float


class Sender:
    """Use it as a context manager: it has a thread with an event loop. What is still under way at the end is cancelled.

    `tls` is whom to trust; by default SSL_CERT_FILE, SSL_CERT_DIR or certifi's list, as httpx has it.
    """

    def __init__(
        self, policy: Policy, timeout: float = 15.0, *, look_up: LookUp = look_up, tls: ssl.SSLContext | None = None
    ) -> None:
        self._policy, self._timeout, self._names = policy, timeout, Names(look_up)
        self._tls = tls or _default_trust()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._portal = stack.enter_context(anyio.from_thread.start_blocking_portal(name="webhooks"))
            stack.callback(self._portal.call, self._portal.stop, True)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def start(self, url: str, headers: Mapping[str, str], body: bytes) -> Future[Answer]:
        """Begins to POST. The future ends with the answer, whatever its status, or with NotSent."""
        return self._portal.start_task_soon(self._send, url, headers, body)

    async def _send(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        began = time.monotonic()
        try:
            with anyio.fail_after(self._timeout):
                response, start = await self._exchange(self._policy.target(url), headers, body)
        except ForbiddenAddress as error:
            raise NotSent(ADDRESS_FORBIDDEN, str(error), time.monotonic() - began) from error
        except TimeoutError as error:
            detail = f"no whole answer within {self._timeout:g} seconds"
            raise NotSent(TIMED_OUT, detail, time.monotonic() - began) from error
        except (socket.gaierror, UnicodeError) as error:
            raise NotSent(DNS_FAILED, "the name has no address", time.monotonic() - began) from error
        except _NETWORK_ERRORS as error:
            raise NotSent(_code(error), _detail(error), time.monotonic() - began) from error
        text = start.decode(errors="replace").replace("\0", "")
        return Answer(response.status, text, _retry_after(response.headers), time.monotonic() - began)

    async def _exchange(
        self, target: Target, headers: Mapping[str, str], body: bytes
    ) -> tuple[httpcore.Response, bytes]:
        url = httpcore.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.path)
        async with _CheckedAddresses(self._policy, self._addresses) as backend:
            connection = httpcore.AsyncHTTPConnection(url.origin, self._tls, network_backend=backend)
            async with connection.stream("POST", url, headers=_headers(target, headers), content=body) as response:
                return response, await _first_bytes(response)

    async def _addresses(self, host: str, port: int) -> Sequence[Address]:
        try:
            return [ip_address(host)]
        except ValueError:
            return await self._names.addresses(host, port)


def _default_trust() -> ssl.SSLContext:
    import httpx  # on first use: the API process imports this module, and sends nothing

    return httpx.create_ssl_context()


class _CheckedAddresses(httpcore.AnyIOBackend):
    """The one place where a name becomes a connection. It closes it, too: httpcore forgets a cancelled handshake."""

    def __init__(self, policy: Policy, addresses: Callable[[str, int], Awaitable[Sequence[Address]]]) -> None:
        self._policy, self._addresses = policy, addresses
        self._opened: list[httpcore.AsyncNetworkStream] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        with anyio.CancelScope(shield=True):
            for stream in self._opened:
                await stream.aclose()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the library's interface
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Raises ForbiddenAddress when any address of the name is: an honest one has none that is."""
        addresses = await self._addresses(host, port)
        for address in addresses:
            self._policy.check_address(address)
        failure: Exception = socket.gaierror("no addresses")
        for address in addresses[:MOST_ADDRESSES]:
            try:
                stream = await super().connect_tcp(
                    str(address), port, timeout or CONNECT_SECONDS, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
            else:
                self._opened.append(stream)
                return stream
        raise failure


def _headers(target: Target, headers: Mapping[str, str]) -> list[tuple[str, str]]:
    """Ours for the connection, which the caller's cannot change."""
    given = {name.lower(): value for name, value in headers.items()}
    ours = {"host": target.authority, "connection": "close", "accept-encoding": "identity"}
    return list(({"user-agent": USER_AGENT, "accept": "*/*"} | given | ours).items())


async def _first_bytes(response: httpcore.Response) -> bytes:
    start = b""
    async for chunk in response.aiter_stream():
        start += chunk
        if len(start) >= MOST_READ:
            break
    return start[:MOST_READ]


def _code(error: Exception) -> str:
    if isinstance(_first_cause(error), ssl.SSLError):
        return TLS_FAILED
    if isinstance(error, httpcore.TimeoutException):
        return TIMED_OUT
    return CONNECT_FAILED if isinstance(error, httpcore.ConnectError) else BAD_ANSWER


def _detail(error: Exception) -> str:
    first = _first_cause(error)
    return str(first)[:200] or "no connection in time"


def _first_cause(error: BaseException) -> BaseException:
    while error.__cause__:
        error = error.__cause__
    return error


def _retry_after(headers: Iterable[tuple[bytes, bytes]]) -> float | None:
    """Seconds from a number or a date, None for anything else."""
    value = next((value.decode("latin-1").strip() for name, value in headers if name.lower() == b"retry-after"), "")
    if value.isascii() and value.isdecimal():
        return float(value)
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None
