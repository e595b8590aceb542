"""The view behind a signed file URL: who may read, what a browser needs, what it says when it cannot."""

from __future__ import annotations

import hashlib
import re
import shutil

import pytest
from django.test import Client, RequestFactory

from synth import wiring
from synth.api.files import serve_file
from synth.errors import ServiceUnavailable
from synth.storage import files, s3
from synth.storage.files import UrlExpired, UrlInvalid
from tenants.errors import NotFound

DATA = b"ID3" + bytes(5000)
DIGEST = hashlib.sha256(DATA).hexdigest()
NAME = f"{'ab' * 16}/{DIGEST[:2]}/{DIGEST}.mp3"


@pytest.fixture
def store(tmp_path, monkeypatch):
    options = {"root": str(tmp_path / "audio"), "base_url": "http://testserver", "signing_key": "file-view-suite-key"}
    opened = files.open_store(options)
    opened.put(NAME, DATA, "audio/mpeg")
    monkeypatch.setattr(wiring, "object_store", lambda: opened)
    return opened


def visit(url: str, *, name: str = NAME, method: str = "get", **headers: str):
    return serve_file(getattr(RequestFactory(), method)(url, headers=headers), name=name)


def test_it_serves_with_the_digest_as_tag(store):
    response = visit(store.url(NAME, expires_in=60))
    assert (response.status_code, b"".join(response)) == (200, DATA)
    assert response["ETag"] == f'"{DIGEST}"'
    assert response["Content-Disposition"] == f'inline; filename="{DIGEST}.mp3"'


def test_a_web_page_of_any_origin_may_play_it(store):
    for headers in ({}, {"Range": "bytes=0-1"}, {"If-None-Match": f'"{DIGEST}"'}):
        response = visit(store.url(NAME, expires_in=60), **headers)
        assert response["Access-Control-Allow-Origin"] == "*"
        assert "Content-Range" in response["Access-Control-Expose-Headers"]


def test_a_cache_keeps_it_no_longer_than_the_address_lives(store):
    response = visit(store.url(NAME, expires_in=60))
    seconds = int(re.fullmatch(r"private, max-age=(\d+)", response["Cache-Control"])[1])
    assert 0 < seconds <= 60


def test_head_and_get_are_all_it_takes(store):
    url = store.url(NAME, expires_in=60)
    assert visit(url, method="head")["Content-Length"] == str(len(DATA))
    for method in ("post", "put", "delete"):
        assert visit(url, method=method).status_code == 405
        through_all_layers = getattr(Client(enforce_csrf_checks=True), method)(url)
        assert (through_all_layers.status_code, through_all_layers["Allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize("query", ["", "?expires=9999999999", "?signature=x", "?expires=9999999999&signature=x"])
def test_without_a_true_signature_it_is_refused(store, query):
    with pytest.raises(UrlInvalid) as caught:
        visit(f"/files/{NAME}{query}")
    assert (caught.value.status, caught.value.code) == (403, "url_invalid")


def test_the_signature_of_one_object_opens_no_other(store):
    with pytest.raises(UrlInvalid):
        visit(store.url(NAME, expires_in=60), name="another/object.mp3")


def test_an_address_that_expired_says_so(store):
    signature = store.signer.sign(NAME, 1_000_000_000)
    with pytest.raises(UrlExpired) as caught:
        visit(f"/files/{NAME}?expires=1000000000&signature={signature}")
    assert (caught.value.status, caught.value.code) == (403, "url_expired")


def test_a_deleted_object_is_not_found(store):
    url = store.url(NAME, expires_in=60)
    store.delete(NAME)
    with pytest.raises(NotFound):
        visit(url)


def test_a_volume_that_went_away_is_a_503_that_says_when_to_ask_again(store, tmp_path):
    url = store.url(NAME, expires_in=60)
    shutil.rmtree(tmp_path / "audio")
    with pytest.raises(ServiceUnavailable) as caught:
        visit(url)
    assert caught.value.retry_after


def test_it_serves_nothing_when_objects_live_in_a_bucket(store, monkeypatch):
    url = store.url(NAME, expires_in=60)
    bucket = s3.open_store({"bucket": "audio", "access_key": "a", "secret_key": "b"})
    monkeypatch.setattr(wiring, "object_store", lambda: bucket)
    with pytest.raises(NotFound):
        visit(url)
