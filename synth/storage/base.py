"""The object store protocol: one file in this folder is one store, with a module-level `open_store(options)`.

A store over a network also says `REMOTE = True`: a circuit breaker is put in front of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """Size in bytes and media type of a stored object."""

    size: int
    media_type: str


@dataclass(frozen=True, slots=True)
class ListedObject:
    """An object as a listing tells of it; `modified` is when it was put, by the store's clock."""

    name: str
    size: int
    modified: datetime


class ObjectStore(Protocol):
    """Bytes under names. Names come from `synth.keys.object_name`, so they are scoped to a tenant.

    Every method raises StorageUnavailable when the store cannot be reached in time.
    """

    def put(self, name: str, data: bytes, media_type: str) -> None:
        """Store whole or not at all. Putting the same name again is harmless."""
        ...

    def get(self, name: str) -> bytes:
        """The whole object. Raises ObjectMissing."""
        ...

    def stream(self, name: str, start: int, end: int) -> Iterator[bytes]:
        """Bytes `start` to `end`, both included, in chunks. Raises ObjectMissing before the first chunk."""
        ...

    def head(self, name: str) -> ObjectInfo:
        """Raises ObjectMissing."""
        ...

    def delete(self, name: str) -> None:
        """Deleting what is not there is harmless."""
        ...

    def url(self, name: str, *, expires_in: int) -> str:
        """A signed GET address that works without a key from the clients' network, for `expires_in` seconds."""
        ...

    def walk(self, folder: str = "") -> Iterator[ListedObject]:
        """Every object below this folder, or of the whole store, in no order; a folder that is not there has none.

        What is put or deleted meanwhile may be told or not. Raises while it is read, too.
        """
        ...
