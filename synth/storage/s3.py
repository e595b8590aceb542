"""Objects in a bucket of any S3-compatible server, through boto3. Opened by `synth.wiring`."""

import os
import threading
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, fields
from hashlib import md5
from io import BytesIO
from typing import Any, Self
from urllib.parse import urlsplit

from synth.errors import ObjectMissing, Permanent, StorageUnavailable, WorkError
from synth.storage._limits import check_expiry, check_name, check_range
from synth.storage.base import ListedObject, ObjectInfo, ObjectStore

REMOTE = True  # over a network: to be guarded by a breaker
CHUNK = 64 * 1024
SENT_AT_ONCE = 2**20
ADDRESSING_STYLES = ("auto", "path", "virtual")
MISSING = frozenset({"NoSuchKey", "404", "NotFound"})
# The server's ways to say "try again" with a 4xx status; every other one is for an operator to put right.
PASSING = frozenset(
    {"BadDigest", "IncompleteBody", "OperationAborted", "RequestTimeout", "SlowDown", "XAmzContentSHA256Mismatch"}
)
PASSING_STATUS = frozenset({408, 409, 425, 429})
BEYOND_THE_END = frozenset({"InvalidRange", "416"})


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Settings:
    """`endpoint` is the server as Refrain reaches it, `public_endpoint` as clients do; empty means Amazon's own.

    Without `access_key` boto's own chain of sources is asked. Time-outs are seconds.
    """

    bucket: str
    region: str = "us-east-1"
    endpoint: str = ""
    public_endpoint: str = ""
    access_key: str = field(default="", repr=False)
    secret_key: str = field(default="", repr=False)
    addressing_style: str = "auto"
    prefix: str = ""
    connect_timeout: float = 1.0
    read_timeout: float = 5.0
    attempts: int = 2
    pool_size: int = 32

    def __post_init__(self) -> None:
        if bool(self.access_key) != bool(self.secret_key):
            raise ValueError("the S3 store needs access_key and secret_key together, or neither")
        if self.addressing_style not in ADDRESSING_STYLES:
            raise ValueError(f"the S3 store's addressing_style is one of {', '.join(ADDRESSING_STYLES)}")
        if self.prefix:
            check_name(self.prefix)
        for name, url in (("endpoint", self.endpoint), ("public_endpoint", self.public_endpoint)):
            if url and (urlsplit(url).scheme not in {"http", "https"} or "@" in url):
                raise ValueError(f"the S3 store's {name} is an http or https address without credentials in it")

    @classmethod
    def from_options(cls, options: Mapping[str, str]) -> Self:
        """An empty option counts as absent."""
        if unknown := set(options) - {item.name for item in fields(cls)}:
            raise ValueError(f"the S3 store has no option {', '.join(sorted(unknown))}")
        given: dict[str, Any] = {name: value for name, value in options.items() if value}
        if "bucket" not in given:
            raise ValueError("the S3 store needs the option bucket")
        given["prefix"] = given.get("prefix", "").strip("/")
        for name, kind in (("connect_timeout", float), ("read_timeout", float), ("attempts", int), ("pool_size", int)):
            if name in given:
                given[name] = _positive(name, given[name], kind=kind)
        return cls(**given)


class S3Store:
    """See `ObjectStore`. Clients are made on first use, once a process: a socket shared across a fork mixes answers."""

    def __init__(self, settings: S3Settings, session: Any) -> None:
        self._settings = settings
        self._session = session
        self._clients: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._process = os.getpid()

    def put(self, name: str, data: bytes, media_type: str) -> None:
        # Every S3-compatible server checks Content-MD5; the newer checksum headers are not known to all.
        digest = b64encode(md5(data, usedforsecurity=False).digest()).decode()
        with self._errors_told("PutObject"):
            self._client().put_object(**self._address(name), Body=data, ContentType=media_type, ContentMD5=digest)

    def get(self, name: str) -> bytes:
        with self._errors_told("GetObject"):
            answer = self._client().get_object(**self._address(name))
            with closing(answer["Body"]) as body:
                data: bytes = body.read()
        if len(data) != answer["ContentLength"]:
            raise StorageUnavailable(f"GetObject gave {len(data)} of {answer['ContentLength']} bytes")
        return data

    def stream(self, name: str, start: int, end: int) -> Iterator[bytes]:
        check_range(start, end)
        with self._errors_told("GetObject"):
            answer = self._client().get_object(**self._address(name), Range=f"bytes={start}-{end}")
        if not answer.get("ContentRange", "").startswith(f"bytes {start}-"):
            answer["Body"].close()
            raise StorageUnavailable("GetObject answered another range than the one asked for")
        return _BodyChunks(self, answer["Body"], answer["ContentLength"])

    def head(self, name: str) -> ObjectInfo:
        with self._errors_told("HeadObject"):
            answer = self._client().head_object(**self._address(name))
        return ObjectInfo(size=answer["ContentLength"], media_type=answer["ContentType"])

    def delete(self, name: str) -> None:
        try:
            with self._errors_told("DeleteObject"):
                self._client().delete_object(**self._address(name))
        except ObjectMissing:
            pass  # S3 itself answers 204; some servers say 404

    def url(self, name: str, *, expires_in: int) -> str:
        # The Host is part of the signature, so the client that signs is the one of the public address.
        client = self._client(self._settings.public_endpoint or self._settings.endpoint)
        with self._errors_told("presigning"):
            signed: str = client.generate_presigned_url(
                "get_object", Params=self._address(name), ExpiresIn=check_expiry(expires_in)
            )
        return signed

    def walk(self, folder: str = "") -> Iterator[ListedObject]:
        own = f"{self._settings.prefix}/" if self._settings.prefix else ""
        below = f"{own}{check_name(folder)}/" if folder else own
        with self._errors_told("ListObjectsV2"):
            pages = self._client().get_paginator("list_objects_v2").paginate(Bucket=self._settings.bucket, Prefix=below)
            for page in pages:
                for item in page.get("Contents", ()):
                    yield ListedObject(item["Key"].removeprefix(own), item["Size"], item["LastModified"])

    def make_bucket(self) -> bool:
        """False where it is there already."""
        bucket, region = {"Bucket": self._settings.bucket}, self._settings.region
        try:
            with self._errors_told("HeadBucket"):
                self._client().head_bucket(**bucket)
        except ObjectMissing:
            elsewhere = {"CreateBucketConfiguration": {"LocationConstraint": region}} if region != "us-east-1" else {}
            with self._errors_told("CreateBucket"):
                self._client().create_bucket(**bucket, **elsewhere)
            return True
        return False

    def _address(self, name: str) -> dict[str, str]:
        key = "/".join(filter(None, (self._settings.prefix, check_name(name))))
        return {"Bucket": self._settings.bucket, "Key": key}

    def _client(self, endpoint: str | None = None) -> Any:
        endpoint = self._settings.endpoint if endpoint is None else endpoint
        if self._process != os.getpid():
            # The lock is made anew as well: another thread may have held it when the parent forked.
            self._clients, self._lock, self._process = {}, threading.Lock(), os.getpid()
        client = self._clients.get(endpoint)
        if client is None:
            with self._lock:  # making one is not thread-safe, using it is
                client = self._clients.get(endpoint) or _make_client(self._session, self._settings, endpoint)
                self._clients[endpoint] = client
        return client

    @contextmanager
    def _errors_told(self, operation: str) -> Iterator[None]:
        """Turn boto's errors into ours. boto's own words stay out of ours: they may quote keys."""
        from botocore.exceptions import BotoCoreError, ClientError
        from urllib3.exceptions import HTTPError

        try:
            yield
        except ClientError as error:
            raise _refusal(error.response, f"{operation} in bucket {self._settings.bucket}") from error
        except (BotoCoreError, HTTPError, OSError) as error:
            raise _failure(error, f"{operation} in bucket {self._settings.bucket}") from error


class _BodyChunks(Iterator[bytes]):
    """A response body that must hold exactly `remaining` bytes. Closed at its end, or when it is given up."""

    def __init__(self, store: S3Store, body: Any, remaining: int) -> None:
        self._store = store
        self._body = body
        self._remaining = remaining

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> bytes:
        with self._store._errors_told("GetObject"):  # noqa: SLF001 - two halves of one thing
            chunk: bytes = self._body.read(CHUNK)
        self._remaining -= len(chunk)
        if chunk:
            return chunk
        self.close()
        if self._remaining:
            raise StorageUnavailable(f"GetObject was cut {self._remaining} bytes early")
        raise StopIteration

    def close(self) -> None:
        self._body.close()


def open_store(options: Mapping[str, str]) -> ObjectStore:
    """Options: the fields of S3Settings. Wrong ones, and no credentials anywhere, are a ValueError that says which."""
    from boto3.session import Session
    from botocore.exceptions import BotoCoreError

    settings = S3Settings.from_options(options)
    session = Session(
        aws_access_key_id=settings.access_key or None,
        aws_secret_access_key=settings.secret_key or None,
        region_name=settings.region,
    )
    # Asked now and once: where there are none, boto's chain ends at a cloud's metadata address that may not answer,
    # and each client would wait for it again.
    try:
        credentials = session.get_credentials()
    except BotoCoreError as error:
        raise ValueError(f"the S3 store's credentials cannot be read: {type(error).__name__}") from error
    if credentials is None:
        raise ValueError("the S3 store has no credentials: set access_key and secret_key, or one of boto's own sources")
    return S3Store(settings, session)


def make_bucket(options: Mapping[str, str]) -> bool:
    """Make the bucket of these options; False where it is there already. For whoever sets a server of their own up."""
    store = open_store(options)
    assert isinstance(store, S3Store)  # noqa: S101 - by the line above
    return store.make_bucket()


def _make_client(session: Any, settings: S3Settings, endpoint: str) -> Any:
    from botocore.config import Config

    config = Config(
        signature_version="s3v4",
        s3={"addressing_style": settings.addressing_style},
        connect_timeout=settings.connect_timeout,
        read_timeout=settings.read_timeout,
        retries={"mode": "standard", "total_max_attempts": settings.attempts},
        max_pool_connections=settings.pool_size,
        tcp_keepalive=True,
        # Swift, radosgw and others refuse or ignore the checksums that boto adds by default.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    client = session.client("s3", endpoint_url=endpoint or None, config=config)
    client.meta.events.register_last("before-call.s3", _send_at_once)
    return client


def _send_at_once(params: dict[str, Any], **_: object) -> None:
    """Not ask the server first (Expect: 100-continue), as boto does for any body: that is a round trip more."""
    body = params["body"]
    if isinstance(body, BytesIO) and body.getbuffer().nbytes <= SENT_AT_ONCE:
        params["headers"].pop("Expect", None)
        params["body"] = body.getvalue()


def _refusal(response: Mapping[str, Any], where: str) -> WorkError | ValueError:
    """The error that an answer of the server stands for."""
    code = str(response.get("Error", {}).get("Code", ""))
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    if code in MISSING:
        return ObjectMissing()
    if code in BEYOND_THE_END:
        return ValueError("the range starts beyond the end of the object")
    if status >= 500 or status in PASSING_STATUS or code in PASSING:
        return StorageUnavailable(f"{where} failed: {code} ({status})")
    return Permanent(f"{where} was refused: {code} ({status})", code="storage_misconfigured")


def _failure(error: Exception, where: str) -> WorkError:
    """The error that no answer, or half of one, stands for."""
    from botocore.exceptions import NoCredentialsError, ParamValidationError, PartialCredentialsError

    if isinstance(error, NoCredentialsError | ParamValidationError | PartialCredentialsError):
        return Permanent(f"{where} was not sent: {type(error).__name__}", code="storage_misconfigured")
    return StorageUnavailable(f"{where} had no whole answer: {type(error).__name__}")


def _positive(name: str, text: str, *, kind: type[int] | type[float]) -> float:
    try:
        number = kind(text)
    except ValueError:
        number = 0
    if not 0 < number < float("inf"):
        raise ValueError(f"the S3 store's {name} is a number above 0, not {text!r}")
    return number
