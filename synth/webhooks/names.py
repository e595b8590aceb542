"""Looks host names up, each in a thread of its own: one that hangs holds up no other, nor the end of the process."""

import asyncio
import socket
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from ipaddress import ip_address

import anyio

from synth.webhooks.addresses import Address

LookUp = Callable[[str, int], Sequence[Address]]

# One that hangs keeps its thread for half a minute.
MOST_AT_ONCE = 256


def look_up(host: str, port: int) -> list[Address]:
    """All addresses of a name, in the order in which the system prefers them."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return list(dict.fromkeys(ip_address(endpoint[0]) for *_, endpoint in found))


class Names:
    """Bounds how many look-ups are under way, those that nobody waits for any more included."""

    def __init__(self, look_up: LookUp) -> None:
        self._look_up = look_up
        self._places = anyio.CapacityLimiter(MOST_AT_ONCE)

    async def addresses(self, host: str, port: int) -> Sequence[Address]:
        """Called in an event loop of asyncio. Who is cancelled leaves the look-up to itself."""
        loop, place = asyncio.get_running_loop(), object()
        found: Future[Sequence[Address]] = Future()
        found.set_running_or_notify_cancel()

        def run() -> None:
            try:
                found.set_result(self._look_up(host, port))
            except Exception as error:  # noqa: BLE001 - it is raised where it is waited for
                found.set_exception(error)
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(self._places.release_on_behalf_of, place)

        await self._places.acquire_on_behalf_of(place)
        # Not anyio's own threads, for which the interpreter waits at its end.
        threading.Thread(target=run, name="look-up", daemon=True).start()
        return await asyncio.wrap_future(found)
