"""Wrong options of the S3 store stop the start with a sentence that says which."""

from __future__ import annotations

import pytest

from synth.storage import s3

GOOD = {"bucket": "audio", "access_key": "key-id", "secret_key": "very-secret"}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"bucket": ""}, "bucket"),
        ({"secret_key": ""}, "together"),
        ({"access_key": ""}, "together"),
        ({"addressing_style": "sideways"}, "addressing_style"),
        ({"endpoint": "localhost:9000"}, "endpoint"),
        ({"public_endpoint": "https://key:secret@s3.example"}, "public_endpoint"),
        ({"prefix": "../elsewhere"}, "object name"),
        ({"read_timeout": "soon"}, "read_timeout"),
        ({"attempts": "0"}, "attempts"),
        ({"colour": "blue"}, "colour"),
    ],
)
def test_a_wrong_option_is_named(change, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        s3.open_store(GOOD | change)
    assert "very-secret" not in str(caught.value)


def test_no_credentials_anywhere_are_said_at_once(monkeypatch, tmp_path):
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ValueError, match="no credentials"):
        s3.open_store({"bucket": "audio"})


def test_credentials_may_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "from-environment")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    assert "from-environment" in s3.open_store({"bucket": "audio"}).url("a/b.mp3", expires_in=60)


def test_empty_options_count_as_absent():
    store = s3.open_store(GOOD | {"region": "", "endpoint": "", "prefix": "", "pool_size": ""})
    assert store.url("a/b.mp3", expires_in=60).startswith("https://audio.s3.amazonaws.com/a/b.mp3?")


def test_the_prefix_goes_in_front_of_every_name():
    store = s3.open_store(
        GOOD | {"prefix": "/speech/live/", "endpoint": "http://s3.example", "addressing_style": "path"}
    )
    assert store.url("a/b.mp3", expires_in=60).startswith("http://s3.example/audio/speech/live/a/b.mp3?")


def test_settings_do_not_show_their_secrets():
    assert "very-secret" not in repr(s3.S3Settings.from_options(GOOD))
