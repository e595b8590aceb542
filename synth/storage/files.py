"""Objects as files under one folder, handed out by signed URLs that `synth.api.files` serves.

The embedded default: one machine, or several that share a file system. Opened by `synth.wiring`.
"""

import hmac
import os
import stat
import tempfile
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Self

from synth.errors import ObjectMissing, Permanent, StorageUnavailable
from synth.storage._limits import check_expiry, check_name, check_range
from synth.storage.base import ListedObject, ObjectInfo, ObjectStore
from tenants.errors import Problem
from tenants.errors import untranslated as _

OPTIONS = frozenset({"root", "base_url", "signing_key", "previous_signing_key"})
CHUNK = 64 * 1024
SHORTEST_KEY = 16
STALE_SECONDS = 3600.0

# A fixed table, not `mimetypes`: that one reads the machine's own files, so two machines may disagree. An object
# whose type differs from its extension's (raw PCM carries its rate in it) gets a sidecar file with the type.
MEDIA_TYPES = {
    "mp3": "audio/mpeg",
    "opus": "audio/ogg;codecs=opus",
    "ogg": "audio/ogg",
    "wav": "audio/wav",
    "flac": "audio/flac",
    "aac": "audio/aac",
    "m4a": "audio/mp4",
    "json": "application/json",
}
UNKNOWN_TYPE = "application/octet-stream"


class UrlInvalid(Problem):
    """The address was altered, or was signed with a key that is no longer ours."""

    status = 403
    code = "url_invalid"
    title = _("Invalid URL")
    detail = _("This address was not signed by us or was altered. Ask for a fresh one.")


class UrlExpired(Problem):
    status = 403
    code = "url_expired"
    title = _("Expired URL")
    detail = _("This address has expired. Ask for a fresh one.")


class UrlSigner:
    """Signs object names with an expiry, and verifies them. A previous key still verifies, so keys can be rotated."""

    def __init__(self, key: str, *, previous_key: str = "") -> None:
        for candidate in filter(None, (key, previous_key)):
            if len(candidate) < SHORTEST_KEY:
                raise ValueError(f"a signing key of the file store has at least {SHORTEST_KEY} characters")
        if not key:
            raise ValueError("the file store needs the option signing_key")
        self._keys = tuple(part.encode() for part in (key, previous_key) if part)

    def sign(self, name: str, expires: int) -> str:
        """The signature of a name that is valid until `expires` (Unix seconds)."""
        return _signature(self._keys[0], name, str(expires))

    def verify(self, name: str, *, expires: str, signature: str) -> int:
        """The Unix second until which this signature holds; raises UrlInvalid or UrlExpired.

        `expires` is signed as the text it came as, so that no second spelling of a number passes.
        """
        given = signature.encode()
        matches = [hmac.compare_digest(_signature(key, name, expires).encode(), given) for key in self._keys]
        if not any(matches):
            raise UrlInvalid
        if int(expires) <= time.time():
            raise UrlExpired
        return int(expires)


def _signature(key: bytes, name: str, expires: str) -> str:
    message = f"refrain-file-url-1\n{expires}\n{name}".encode()
    return urlsafe_b64encode(hmac.digest(key, message, "sha256")).rstrip(b"=").decode()


class FileStore:
    """See `ObjectStore`. An object is written beside, synced, and moved into place: it is there whole or not at all."""

    def __init__(self, root: Path, *, base_url: str, signer: UrlSigner) -> None:
        self._root = root
        # Also the sign that the volume is mounted: without it nothing is missing, the whole store is away.
        self._incoming = root / ".incoming"
        self._base_url = base_url.rstrip("/")
        self.signer = signer

    def put(self, name: str, data: bytes, media_type: str) -> None:
        path = self._path(name)
        sidecar = _sidecar(path)
        with self._errors_told(reading=False):
            _make_folder(path.parent, top=self._root)
            if media_type != _type_by_extension(path):
                self._write(sidecar, media_type.encode())
                self._write(path, data)
            else:
                self._write(path, data)
                sidecar.unlink(missing_ok=True)

    def get(self, name: str) -> bytes:
        with self._errors_told(reading=True):
            return self._path(name).read_bytes()

    def stream(self, name: str, start: int, end: int) -> Iterator[bytes]:
        check_range(start, end)
        path = self._path(name)
        with self._errors_told(reading=True):
            file = path.open("rb")
            size = os.fstat(file.fileno()).st_size
        if start >= size:
            file.close()
            raise ValueError(f"the object has {size} bytes; there is nothing at {start}")
        file.seek(start)
        return _FileChunks(file, min(end, size - 1) - start + 1)

    def head(self, name: str) -> ObjectInfo:
        path = self._path(name)
        with self._errors_told(reading=True):
            status = path.stat()
            if not stat.S_ISREG(status.st_mode):
                raise IsADirectoryError
            return ObjectInfo(size=status.st_size, media_type=_media_type(path))

    def delete(self, name: str) -> None:
        path = self._path(name)
        with self._errors_told(reading=False):
            path.unlink(missing_ok=True)
            _sidecar(path).unlink(missing_ok=True)

    def url(self, name: str, *, expires_in: int) -> str:
        expires = int(time.time()) + check_expiry(expires_in)
        signature = self.signer.sign(check_name(name), expires)
        return f"{self._base_url}/files/{name}?expires={expires}&signature={signature}"

    def walk(self, folder: str = "") -> Iterator[ListedObject]:
        for path in self._below(self._path(folder) if folder else self._root):
            with suppress(FileNotFoundError):  # deleted meanwhile
                status = path.stat()
                modified = datetime.fromtimestamp(status.st_mtime, UTC)
                yield ListedObject(path.relative_to(self._root).as_posix(), status.st_size, modified)

    def _below(self, folder: Path) -> Iterator[Path]:
        try:
            with self._errors_told(reading=True), os.scandir(folder) as listing:
                # Those with a dot are the store's own.
                found = [(entry.name, entry.is_dir()) for entry in listing if not entry.name.startswith(".")]
        except ObjectMissing:
            return
        for name, is_folder in found:
            if is_folder:
                yield from self._below(folder / name)
            else:
                yield folder / name

    def _path(self, name: str) -> Path:
        return self._root / check_name(name)

    def _write(self, path: Path, data: bytes) -> None:
        handle, temporary = tempfile.mkstemp(dir=self._incoming)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)

    @contextmanager
    def _errors_told(self, *, reading: bool) -> Iterator[None]:
        try:
            yield
        except PermissionError as error:
            raise Permanent("the storage folder may not be used", code="storage_misconfigured") from error
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
            if reading and self._incoming.is_dir():
                raise ObjectMissing from error
            raise StorageUnavailable("the storage folder is away") from error
        except OSError as error:
            raise StorageUnavailable(f"the storage folder failed: {error.strerror}") from error


class _FileChunks(Iterator[bytes]):
    """A byte range of an open file. Closes it at the end, or when the response is given up."""

    def __init__(self, file: BinaryIO, remaining: int) -> None:
        self._file = file
        self._remaining = remaining

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> bytes:
        if not self._remaining:
            self.close()
            raise StopIteration
        try:
            chunk = self._file.read(min(CHUNK, self._remaining))
        except OSError as error:
            raise StorageUnavailable(f"reading was cut: {error.strerror}") from error
        if not chunk:
            raise StorageUnavailable(f"the object ended {self._remaining} bytes early")
        self._remaining -= len(chunk)
        return chunk

    def close(self) -> None:
        self._file.close()


def open_store(options: Mapping[str, str]) -> ObjectStore:
    """Options: root, base_url (where clients reach the API), signing_key, previous_signing_key (optional)."""
    if unknown := set(options) - OPTIONS:
        raise ValueError(f"the file store has no option {', '.join(sorted(unknown))}")
    if absent := [name for name in ("root", "base_url", "signing_key") if not options.get(name)]:
        raise ValueError(f"the file store needs the option {', '.join(absent)}")
    signer = UrlSigner(options["signing_key"], previous_key=options.get("previous_signing_key", ""))
    root = Path(options["root"]).absolute()
    store = FileStore(root, base_url=options["base_url"], signer=signer)
    try:
        _prepare_incoming(root / ".incoming")
    except OSError as error:
        raise ValueError(f"the storage folder {root} cannot be used: {error.strerror}") from error
    return store


def _prepare_incoming(incoming: Path) -> None:
    """Make the folder, and clear what writers that were killed left in it."""
    incoming.mkdir(mode=0o700, parents=True, exist_ok=True)
    for leftover in incoming.iterdir():
        try:
            if time.time() - leftover.stat().st_mtime > STALE_SECONDS:
                leftover.unlink()
        except FileNotFoundError:
            continue  # its writer, or another process that opens the store, was faster


def _type_by_extension(path: Path) -> str:
    return MEDIA_TYPES.get(path.suffix.removeprefix("."), UNKNOWN_TYPE)


def _media_type(path: Path) -> str:
    try:
        return _sidecar(path).read_text()
    except FileNotFoundError:
        return _type_by_extension(path)


def _sidecar(path: Path) -> Path:
    # The dot in front keeps it apart from every object: no part of a name may start with one.
    return path.with_name(f".{path.name}.type")


def _make_folder(folder: Path, *, top: Path) -> None:
    """Make the folders below `top` that are missing, and sync each one's parent so that a power cut keeps them."""
    if folder == top or folder.is_dir():
        return
    _make_folder(folder.parent, top=top)
    folder.mkdir(mode=0o700, exist_ok=True)
    _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
