"""The sounds of a batch and its manifest as one ZIP file, written while it is sent: `batches.py` answers with it."""

import io
import re
import tempfile
from collections.abc import Iterable, Iterator
from typing import IO, Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import orjson

from synth.api.batch_presenting import manifest_body
from synth.audio.formats import get_format
from synth.errors import WorkError
from synth.service import ItemResult, copy_intact
from tenants.types import TenantRef

IN_MEMORY = 8 * 2**20
CHUNK = 2**18
MANIFEST = "manifest.jsonl"
MOST_NAME = 48
_UNSAFE = re.compile(r"[^\w.-]+")


def zipped(results: Iterable[ItemResult], tenant: TenantRef) -> Iterator[bytes]:
    """A sound is read whole before a byte of it is sent: what storage has lost is told in the manifest, and left out.

    Sounds are packed already: they are stored as they are.
    """
    outlet = _Outlet()
    with ZipFile(outlet, "w", ZIP_STORED) as archive, tempfile.SpooledTemporaryFile(IN_MEMORY) as manifest:
        for result in results:
            with tempfile.SpooledTemporaryFile(IN_MEMORY) as sound:
                name = _read(result, tenant, sound)
                if name:
                    yield from _added(archive, outlet, name, sound)
            manifest.write(_told(result, name))
        yield from _added(archive, outlet, MANIFEST, manifest)
    yield outlet.taken()


class _Outlet(io.RawIOBase):
    """What the archive writes, until it is sent."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def taken(self) -> bytes:
        data = b"".join(self._parts)
        self._parts.clear()
        return data


def _read(result: ItemResult, tenant: TenantRef, sound: IO[bytes]) -> str:
    """Its name in the archive; empty where there is no sound."""
    if result.stored is None:
        return ""
    try:
        copy_intact(tenant, result.stored, sound)
    except WorkError:
        return ""
    return name_of(result)


def name_of(result: ItemResult) -> str:
    """Safe on every system, and unique by its line."""
    assert result.stored is not None  # noqa: S101
    said = _UNSAFE.sub("_", result.custom_id or result.speech_id or "")[:MOST_NAME].strip("._")
    return f"{result.line:05d}-{said or 'item'}.{get_format(result.stored.format).extension}"


def _told(result: ItemResult, name: str) -> bytes:
    body = manifest_body(result, None) | {"file": name or None}
    if result.stored is not None and not name:
        body["error"] = {
            "code": "audio_missing",
            "detail": "Storage did not have this audio when the archive was made.",
        }
    return orjson.dumps(body) + b"\n"


def _added(archive: ZipFile, outlet: _Outlet, name: str, content: IO[bytes]) -> Iterator[bytes]:
    info = ZipInfo(name)
    info.file_size = content.seek(0, io.SEEK_END)  # known ahead: above 2 GiB the entry has another form
    info.external_attr = 0o644 << 16
    content.seek(0)
    with archive.open(info, "w") as member:
        while chunk := content.read(CHUNK):
            member.write(chunk)
            yield outlet.taken()
    yield outlet.taken()
