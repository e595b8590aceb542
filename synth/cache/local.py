"""L1: audio bytes and signed URLs of hot renditions in one API process. Never asked before L2, while Redis is up."""

import time
from dataclasses import dataclass
from threading import Lock

from cachetools import LRUCache

MAX_URLS = 20_000


@dataclass(frozen=True, slots=True)
class SignedUrl:
    """`expires_at` is Unix seconds."""

    url: str
    expires_at: float


class LocalCache:
    """Bounded by bytes. Named by scoped rendition key and digest, so that one tenant never sees another's."""

    def __init__(self, *, max_bytes: int) -> None:
        self._lock = Lock()
        self._audio: LRUCache[str, tuple[str, bytes]] = LRUCache(max(1, max_bytes), getsizeof=lambda item: len(item[1]))
        self._urls: LRUCache[str, SignedUrl] = LRUCache(MAX_URLS)

    @property
    def size(self) -> int:
        """Bytes of audio that are held."""
        return int(self._audio.currsize)

    def digest(self, key: str) -> str:
        """The digest of the audio held under this key, or ''."""
        with self._lock:
            held = self._audio.get(key)
        return held[0] if held else ""

    def audio(self, key: str, digest: str) -> bytes | None:
        with self._lock:
            held = self._audio.get(key)
        return held[1] if held and held[0] == digest else None

    def keep_audio(self, key: str, digest: str, data: bytes) -> None:
        with self._lock:
            if len(data) <= self._audio.maxsize // 4:
                self._audio[key] = (digest, data)

    def url(self, name: str, *, ttl: float) -> SignedUrl | None:
        """A URL of this object that has more than half of its time left: signing costs more than the whole hit."""
        with self._lock:
            held = self._urls.get(name)
        return held if held and held.expires_at - time.time() > ttl / 2 else None

    def keep_url(self, name: str, signed: SignedUrl) -> None:
        with self._lock:
            self._urls[name] = signed
