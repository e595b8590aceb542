"""The file store keeps an object whole or not at all, whatever happens to the process that writes it."""

from __future__ import annotations

import hashlib
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from synth.errors import ObjectMissing, StorageUnavailable
from synth.storage import files

OPTIONS = {"base_url": "http://127.0.0.1:8000", "signing_key": "durability-suite-key"}
WRITER = """
import hashlib, os, sys
from synth.storage import files
store = files.open_store({"root": sys.argv[1], "base_url": "http://x", "signing_key": "durability-suite-key"})
while True:
    data = os.urandom(3_000_000)
    digest = hashlib.sha256(data).hexdigest()
    store.put(f"t/{digest[:2]}/{digest}.wav", data, "audio/wav")
"""


@pytest.fixture
def store(tmp_path):
    return files.open_store({"root": str(tmp_path / "audio"), **OPTIONS})


def objects(root: Path) -> list[Path]:
    return [path for path in root.glob("t/*/*") if path.is_file()]


def test_a_writer_killed_at_any_moment_leaves_only_whole_objects(tmp_path):
    root = tmp_path / "audio"
    for _ in range(3):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(root)])
        try:
            before, deadline = len(objects(root)), time.monotonic() + 30
            while len(objects(root)) < before + 2:
                assert time.monotonic() < deadline
                assert writer.poll() is None
        finally:
            writer.kill()
            writer.wait()
    for path in objects(root):
        assert hashlib.sha256(path.read_bytes()).hexdigest() == path.stem


def test_what_a_killed_writer_left_is_cleared_but_not_what_is_being_written(tmp_path):
    incoming = tmp_path / ".incoming"
    incoming.mkdir()
    (incoming / "old").write_bytes(b"x")
    (incoming / "fresh").write_bytes(b"x")
    os.utime(incoming / "old", (1_000_000_000, 1_000_000_000))
    files.open_store({"root": str(tmp_path), **OPTIONS})
    assert [path.name for path in incoming.iterdir()] == ["fresh"]


def test_a_write_that_fails_half_way_leaves_the_old_object_and_no_rest(store, tmp_path):
    store.put("t/aa/a.wav", b"old", "audio/wav")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))  # as a full disk: the write fails in the middle
    try:
        with pytest.raises(StorageUnavailable):
            store.put("t/aa/a.wav", b"n" * 5000, "audio/wav")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert store.get("t/aa/a.wav") == b"old"
    assert list((tmp_path / "audio" / ".incoming").iterdir()) == []


def test_a_volume_that_went_away_is_unavailable_not_missing(store, tmp_path):
    with pytest.raises(ObjectMissing):
        store.get("t/aa/a.wav")
    shutil.rmtree(tmp_path / "audio")
    with pytest.raises(StorageUnavailable):
        store.get("t/aa/a.wav")
    with pytest.raises(StorageUnavailable):
        store.put("t/aa/a.wav", b"x", "audio/wav")


def test_a_folder_is_not_an_object(store):
    store.put("t/aa/a.wav", b"x", "audio/wav")
    for call in (store.get, store.head):
        with pytest.raises(ObjectMissing):
            call("t/aa")


def test_a_reader_keeps_its_bytes_while_the_object_is_replaced_or_deleted(store):
    old = b"o" * 500_000
    store.put("t/aa/a.wav", old, "audio/wav")
    chunks = store.stream("t/aa/a.wav", 0, len(old) - 1)
    first = next(chunks)
    store.put("t/aa/a.wav", b"n" * 500_000, "audio/wav")
    store.delete("t/aa/a.wav")
    assert first + b"".join(chunks) == old


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"root": ""}, "root"),
        ({"base_url": ""}, "base_url"),
        ({"signing_key": ""}, "signing_key"),
        ({"signing_key": "short"}, "at least"),
        ({"root": "/dev/null/x"}, "cannot be used"),
        ({"colour": "blue"}, "colour"),
    ],
)
def test_a_wrong_option_is_named(change, sentence, tmp_path):
    with pytest.raises(ValueError, match=sentence):
        files.open_store({"root": str(tmp_path), **OPTIONS} | change)
