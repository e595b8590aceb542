"""Batches and what came of their items as JSON and CSV: what `batches.py` answers with."""

import csv
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson

from synth.codec import utc
from synth.models import CurationAction
from synth.service import ItemResult, counts_of, url_members
from synth.stored import audio_members
from tenants.ids import public_id
from tenants.types import TenantRef

COLUMNS = (
    "line", "custom_id", "status", "speech_id", "error_code", "error_detail", "url", "url_expires_at", "format",
    "media_type", "sample_rate", "duration", "size", "sha256", "sentences",
)  # fmt: skip


def batch_path(batch: CurationAction) -> str:
    return f"/v1/batches/{batch.public_id}"


def batch_body(batch: CurationAction, unfinished: Mapping[str, int]) -> dict[str, Any]:
    """A batch and how far it is; `unfinished` as `service.unfinished_of` tells of it."""
    path = batch_path(batch)
    return {
        "id": batch.public_id,
        "object": "batch",
        "status": batch.state,
        "href": path,
        "counts": counts_of(batch, unfinished),
        "metadata": batch.metadata or {},
        "callback": batch.callback_url or (public_id("whk", batch.callback_id) if batch.callback_id else None),
        "request_id": batch.request_id,
        "created_at": utc(batch.created_at),
        "ended_at": utc(batch.ended_at) if batch.ended_at else None,
        "results": {"items": f"{path}/items", "manifest": f"{path}/manifest", "audio": f"{path}/audio.zip"},
    }


def item_body(result: ItemResult, tenant: TenantRef | None) -> dict[str, Any]:
    """One item; with a tenant its audio has a temporary URL."""
    stored = result.stored
    audio = audio_members(stored) | (url_members(tenant, stored) if tenant else {}) if stored else None
    return {
        "line": result.line,
        "custom_id": result.custom_id or None,
        "status": result.status,
        "speech_id": result.speech_id,
        "error": _error(result),
        "audio": audio,
    }


def manifest_body(result: ItemResult, tenant: TenantRef | None) -> dict[str, Any]:
    """The same with the times of its sentences, null where nobody can tell them."""
    sentences = None
    if result.sentences is not None:
        sentences = [{"text": said.text, "start": said.start, "end": said.end} for said in result.sentences]
    return item_body(result, tenant) | {"sentences": sentences}


def json_manifest(results: Iterable[ItemResult], tenant: TenantRef) -> Iterator[bytes]:
    for result in results:
        yield orjson.dumps(manifest_body(result, tenant)) + b"\n"


def csv_manifest(results: Iterable[ItemResult], tenant: TenantRef) -> Iterator[bytes]:
    """With a byte order mark, without which spreadsheets take UTF-8 for something else."""
    writer = csv.writer(_Echo())
    yield "\ufeff".encode() + writer.writerow(COLUMNS)
    for result in results:
        yield writer.writerow(_cells(manifest_body(result, tenant)))


class _Echo:
    """Hands on what the CSV writer writes: `writerow` returns what `write` does."""

    def write(self, row: str) -> bytes:
        return row.encode()


def _cells(body: dict[str, Any]) -> list[Any]:
    error, audio = body["error"] or {}, body["audio"] or {}
    sentences = orjson.dumps(body["sentences"]).decode() if body["sentences"] else None
    flat = {**body, **audio, "error_code": error.get("code"), "error_detail": error.get("detail")}
    return [{**flat, "sentences": sentences}.get(column) for column in COLUMNS]


def _error(result: ItemResult) -> dict[str, Any] | None:
    if not result.error_code:
        return None
    error = {"code": result.error_code, "detail": result.error_detail}
    return error | {"fields": list(result.problems)} if result.problems else error
