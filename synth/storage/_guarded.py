"""A store over a network, behind a circuit breaker; `synth.wiring` puts it around those that say REMOTE."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TypeVar

from synth.breaker import Breaker
from synth.errors import ObjectMissing, Permanent, StorageUnavailable
from synth.storage.base import ListedObject, ObjectInfo, ObjectStore

Answer = TypeVar("Answer")

PROBED = "probe"


class GuardedStore:
    """See `ObjectStore`. While the store is away, reads are refused at once: somebody waits for each of them.

    Writes always try. They are a worker's, have few attempts, and should not spend them on a breaker.
    """

    def __init__(self, store: ObjectStore, *, pause: float = 2.0) -> None:
        self._store = store
        self._breaker = Breaker("the object store", pause=pause, probe=self._look)

    def put(self, name: str, data: bytes, media_type: str) -> None:
        self._told(lambda: self._store.put(name, data, media_type))

    def get(self, name: str) -> bytes:
        return self._read(lambda: self._store.get(name))

    def stream(self, name: str, start: int, end: int) -> Iterator[bytes]:
        return self._read(lambda: self._store.stream(name, start, end))

    def head(self, name: str) -> ObjectInfo:
        return self._read(lambda: self._store.head(name))

    def delete(self, name: str) -> None:
        self._told(lambda: self._store.delete(name))

    def url(self, name: str, *, expires_in: int) -> str:
        """Signing asks nobody."""
        return self._store.url(name, expires_in=expires_in)

    def walk(self, folder: str = "") -> Iterator[ListedObject]:
        """Nobody waits for a listing, so each of its pages may try."""
        listed = self._store.walk(folder)
        while (item := self._told(lambda: next(listed, None))) is not None:
            yield item

    def _look(self) -> None:
        """Whether it is back. An object that is not there, or may not be asked for, is an answer, too."""
        with suppress(ObjectMissing, Permanent):
            self._store.head(PROBED)

    def _read(self, call: Callable[[], Answer]) -> Answer:
        if not self._breaker.allows():
            raise StorageUnavailable("the object store was away a moment ago")
        return self._told(call)

    def _told(self, call: Callable[[], Answer]) -> Answer:
        try:
            answer = call()
        except StorageUnavailable as error:
            self._breaker.failed(error)
            raise
        except ObjectMissing:
            self._breaker.succeeded()
            raise
        self._breaker.succeeded()
        return answer
