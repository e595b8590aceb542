"""Readers of environment variables that hold lists: what they take, and the sentence that names what they do not."""

from ipaddress import ip_network

import pytest
from django.core.exceptions import ImproperlyConfigured

from ttsproject import env


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("", {}),
        ("1.8", {"": 1.8}),
        ("1.8, kokoro=0.04 ,gpt=0", {"": 1.8, "kokoro": 0.04, "gpt": 0.0}),
        ("kokoro=2", {"kokoro": 2.0}),
    ],
)
def test_numbers_by_engine(monkeypatch, text: str, numbers: dict[str, float]) -> None:
    monkeypatch.setenv("A_PRICE", text)
    assert env.by_engine("A_PRICE") == numbers


@pytest.mark.parametrize("text", ["cheap", "kokoro=", "-1", "kokoro=nan", "inf", "1e9", "kokoro"])
def test_what_is_no_number_by_engine_stops_the_start(monkeypatch, text: str) -> None:
    monkeypatch.setenv("A_PRICE", text)
    with pytest.raises(ImproperlyConfigured, match="A_PRICE"):
        env.by_engine("A_PRICE")


def test_networks(monkeypatch) -> None:
    monkeypatch.setenv("NETS", "10.0.0.0/8, ::1")
    assert env.networks("NETS", "127.0.0.0/8") == [ip_network("10.0.0.0/8"), ip_network("::1/128")]
    monkeypatch.setenv("NETS", "")
    assert env.networks("NETS", "127.0.0.0/8") == [ip_network("127.0.0.0/8")]


@pytest.mark.parametrize("text", ["10.0.0.1/8", "localhost", "10.0.0.0/33"])
def test_what_is_no_network_stops_the_start(monkeypatch, text: str) -> None:
    monkeypatch.setenv("NETS", text)
    with pytest.raises(ImproperlyConfigured, match="NETS"):
        env.networks("NETS", "")


def test_lists_of_numbers(monkeypatch) -> None:
    monkeypatch.setenv("PAUSES", " 5, 0.5 ,30")
    assert env.numbers("PAUSES", "1") == [5.0, 0.5, 30.0]
    monkeypatch.setenv("PORTS", "443,8443")
    assert env.integers("PORTS", "1") == [443, 8443]
    monkeypatch.setenv("PORTS", "")
    assert env.integers("PORTS", "443") == [443]


@pytest.mark.parametrize("text", ["5;6", "five", "-1", "nan", "70000"])
def test_what_is_no_list_of_numbers_stops_the_start(monkeypatch, text: str) -> None:
    monkeypatch.setenv("PORTS", text)
    with pytest.raises(ImproperlyConfigured, match="PORTS"):
        env.integers("PORTS", "443", maximum=65535)


def test_encryption_keys_are_read_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYS", f"b:{'A' * 43}=, a:{'B' * 42}A=")
    assert list(env.encryption_keys("KEYS")) == ["b", "a"]
    assert env.encryption_keys("KEYS")["b"] == bytes(32)
    monkeypatch.delenv("KEYS")
    assert env.encryption_keys("KEYS") == {}


@pytest.mark.parametrize("text", ["AAAA", "a:AAAA", f":{'A' * 43}=", f"a:{'A' * 43}=,a:{'A' * 43}=", "a:not base64"])
def test_what_is_no_encryption_key_is_refused_and_not_shown(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("KEYS", text)
    with pytest.raises(ImproperlyConfigured, match="KEYS: key") as caught:
        env.encryption_keys("KEYS")
    assert "AAAA" not in str(caught.value)
